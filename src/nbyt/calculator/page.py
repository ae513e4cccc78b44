"""Write the calculator as one HTML file that needs no other file and no network."""

import base64
import hashlib
from functools import cache
from importlib import resources
from pathlib import Path

from nbyt.calculator.bundle import read, rules_script
from nbyt.store.atomic import write_text

_PAGE = ("drawing.js", "page.js")


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
