"""Which licence a package has, by its metadata, and whether it is permissive."""

import re
from importlib.metadata import Distribution

# By their SPDX names.
PERMISSIVE = {
    *("0BSD", "AFL-2.1", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "BSD-2-Clause"),
    *("BSD-3-Clause", "BSL-1.0", "CC0-1.0", "HPND", "ISC", "MIT", "MIT-CMU", "PSF-2.0"),
    *("Python-2.0", "Unlicense", "Zlib"),
}
# What packages without an SPDX expression say, in a line or as a classifier.
_SPOKEN = {
    "3-clause bsd license": "BSD-3-Clause",
    "apache 2.0": "Apache-2.0",
    "apache license": "Apache-2.0",
    "apache license, version 2.0": "Apache-2.0",
    "apache software license": "Apache-2.0",
    "bsd": "BSD-3-Clause",
    "bsd license": "BSD-3-Clause",
    "bsd 3-clause license": "BSD-3-Clause",
    "isc license (iscl)": "ISC",
    "mit license": "MIT",
    "mozilla public license 2.0 (mpl 2.0)": "MPL-2.0",
    "python software foundation license": "PSF-2.0",
}
_CLASSIFIER = "License :: "
UNKNOWN = "unknown"


def licence_of(package: Distribution) -> str:
    """Return a package's licence as an SPDX expression, or `unknown`."""
    facts = package.metadata
    lines = [line for key in ("License-Expression", "License") for line in facts.get_all(key) or []]
    classifiers = [line for line in facts.get_all("Classifier") or [] if line.startswith("License")]
    lines.append(" AND ".join(sorted({_spdx(one.split(" :: ")[-1]) for one in classifiers})))
    # A whole text in place of a name says no name: then the classifier does.
    named = (_spdx(line) for line in lines if line and "\n" not in line.strip() and len(line) < 200)
    return next((one for one in named if UNKNOWN not in one), UNKNOWN)


def _spdx(line: str) -> str:
    """Return the SPDX expression that a line is or stands for, or `unknown`."""
    spoken = _SPOKEN.get(line.strip().lower())
    parts = re.split(r"\s+(?:AND|OR)\s+", line.strip().strip("()"))
    known = {*PERMISSIVE, "MPL-2.0"}
    is_expression = all(part in known or re.fullmatch(r"[A-Z]+-[\d.]+\S*", part) for part in parts)
    return spoken or (line.strip() if is_expression else UNKNOWN)


def is_permissive(expression: str) -> bool:
    """Return True if all parts of an expression are permissive, or one of its alternatives is."""
    if "(" in expression:
        return False
    ways = expression.split(" OR ")
    return any(all(part.strip() in PERMISSIVE for part in way.split(" AND ")) for way in ways)
