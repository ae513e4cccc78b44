"""Build the script of the calculator: the rules of `nbyt.dialects`, compiled, with their data."""

import ast
import json
from functools import cache
from importlib import resources
from typing import Any

from nbyt.calculator.statements import Compiler
from nbyt.dialects import tables

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


@cache
def rules_script() -> str:
    """Return the rules and the libraries' data as one script of JavaScript."""
    code = [read("runtime.js"), read("library.js"), read("host.js"), _tables()]
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
