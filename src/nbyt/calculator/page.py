"""Write the calculator as one HTML file that needs no other file and no network.

Its script is the rules of `nbyt.dialects`, compiled, with the data of the libraries.
"""

import ast
import base64
import hashlib
import json
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

from nbyt.calculator.statements import Compiler
from nbyt.dialects import tables
from nbyt.store.atomic import write_text

_PAGE = ("drawing.js", "page.js")
# In the order in which they import each other; a second part names the only definitions taken.
MODULES = (
    ("nbyt.errors", ("NbytError", "UsageError", "LayoutError", "DialectError")),
    ("nbyt.layout", ("isqrt", "nearest_divisors")),
    ("nbyt.dialects.naming", ()),
    ("nbyt.dialects.dialect", ()),
    ("nbyt.dialects.vocabulary", ()),
    ("nbyt.dialects.settings", ()),
    ("nbyt.dialects.missing", ()),
    ("nbyt.dialects.sizes", ()),
    ("nbyt.dialects.reading", ()),
    ("nbyt.dialects.solving", ()),
    ("nbyt.dialects.traps", ()),
    ("nbyt.dialects.describing", ()),
    ("nbyt.dialects.explaining", ()),
    ("nbyt.dialects.learning", ()),
    ("nbyt.dialects.pasting", ()),
    ("nbyt.dialects.differences", ()),
    ("nbyt.dialects.translating", ()),
    ("nbyt.dialects.comparing", ()),
)
_RUNTIME = ("runtime.js", "library.js", "host.js")


def write(path: Path, version: str = "") -> None:
    """Write the page; `path` holds all of it, or what it held before. version: named on it."""
    write_text(path, html(version))


@cache
def html(version: str = "") -> str:
    """Return the page."""
    script = "\n".join([answers_script(), *map(read, _PAGE)])
    if "</script" in script.lower() or "<!--" in script:
        raise RuntimeError("the script would end its own element")
    parts = {"policy": policy(script), "style": _style(), "version": version, "script": script}
    page = read("page.html")
    for name, text in parts.items():
        page = page.replace(f"{{{{{name}}}}}", text, 1)
    return page


def answers_script() -> str:
    """Return the script that answers questions: it defines `py` and `answers`, and nothing else."""
    inside = f"{rules_script()}\n{read('answers.js')}\nreturn {{ py, answers }};"
    return f"const {{ py, answers }} = (() => {{\n{inside}\n}})();"


def policy(script: str) -> str:
    """Return a content security policy that allows this script, inline styles, nothing else."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "base-uri 'none'; form-action 'none'"
    )


def _style() -> str:
    kit = (resources.files("nbyt.report.html") / "style.css").read_text(encoding="utf-8")
    return f"{kit}\n{read('page.css')}"


@cache
def rules_script() -> str:
    """Return the rules and the libraries' data as one script of JavaScript."""
    code = [*map(read, _RUNTIME), _tables()]
    return "\n".join([*code, *(compiled(name, only) for name, only in MODULES)])


def compiled(name: str, only: tuple[str, ...] = ()) -> str:
    """Compile one module of this package to JavaScript."""
    package, _, file = name.rpartition(".")
    source = (resources.files(package) / f"{file}.py").read_text(encoding="utf-8")
    return Compiler().module(name, ast.parse(source), only)


def _tables() -> str:
    rows = ", ".join(f"[{json.dumps(one)}, {literal(tables.table(one))}]" for one in tables.ids())
    return (
        f"const libraries = py.dict([{rows}]);\n"
        'py.modules["nbyt.dialects.tables"] = '
        "{ ids: () => libraries.keys(), table: (name) => libraries.at(name) };\n"
    )


def literal(value: Any) -> str:
    """Write plain data as the runtime holds it: whole numbers stay apart from fractions."""
    if isinstance(value, dict):
        return (
            f"py.dict([{', '.join(f'[{json.dumps(k)}, {literal(v)}]' for k, v in value.items())}])"
        )
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(literal, value))}]"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value}n"
    return json.dumps(value)


def read(name: str) -> str:
    """Read one of the calculator's own files."""
    return (resources.files("nbyt.calculator") / name).read_text(encoding="utf-8")
