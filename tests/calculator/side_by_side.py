"""A program in Python and in the JavaScript it is compiled to."""

import ast
import shutil
import subprocess

import pytest

from nbyt.calculator.page import read
from nbyt.calculator.statements import Compiler

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="needs node")


def in_python(program: str) -> str:
    """What a program shows in Python."""
    lines: list[str] = []
    exec(program, {"show": lambda *values: lines.append("|".join(map(_plain, values)))})
    return "".join(f"{line}\n" for line in lines)


def _plain(value: object) -> str:
    return str(list(value)) if isinstance(value, tuple) else str(value)


def compiled_program(program: str) -> str:
    """The program as a module of JavaScript."""
    return Compiler().module("program", ast.parse(program))


def in_javascript(program: str) -> str:
    """What the compiled program shows."""
    library = "\n".join(map(read, ("runtime.js", "library.js", "host.js")))
    show = "py.b.show = (...all) => console.log(all.map(py.str).join('|'));"
    code = f"{library}\n{show}\n{compiled_program(program)}"
    done = subprocess.run(["node", "-"], input=code, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout
