"""Python and what it is compiled to, side by side: programs that print the same."""

import ast
import shutil
import subprocess

import pytest

from nbyt.calculator.bundle import MODULES, compiled, literal, read
from nbyt.calculator.expressions import UnsupportedError
from nbyt.calculator.statements import Compiler

PROGRAMS = {
    "numbers": "show(7 // -2, -7 % 3, 2**70, 1 / 4, 10**15 * 10**15, round(2.5), divmod(-7, 2))",
    "fractions": "show(0.1 + 0.2, 1e16, 1.0, 1e-05, 0.0003, 123456789.0, -2.0)",
    "formats": "show(f'{15.625:.4g} {1234567:,} {0.5:.1%} {1e-7:g} {2.5:.1f} {1e6:,.6g}')",
    "ties": "show(f'{0.03125:.3g} {7.8125:.4g} {62.5:.2g} {0.125:.2f} {2.675:.2f}')",
    "collections": "a = {'x': 1, **{'y': 2}}\nshow(a, {1, 2} - {2}, [*a, 3], a | {'x': 5})",
    "keys": "show({(1, 2), (1, 2), (2, 1)} == {(1, 2), (2, 1)}, {1: 'a'}[1.0], 1 == True)",
    "chains": "x = 3\nshow(1 < x <= 3, x in (1, 2), not x, x and 0, None or 'b', '' or [])",
    "unpacking": "first, *rest = 'a b c'.split()\nshow(first, rest)",
    "loops inside": "show([i * j for i, j in zip([1, 2], [3, 4])], {k: v for k, v in [(1, 2)]})",
    "functions": "show(sorted([3, 1, 2], key=lambda n: -n), max([1, 5], default=0), min(4, 2))",
    "text": "show('a_b'.partition('_'), 'xay'.removesuffix('y'), ', '.join(map(str, [1, 2.0])))",
    "errors": "try:\n    float('x')\nexcept (ValueError, KeyError) as error:\n    show('caught')",
    "while": "n = 0\nwhile True:\n    n += 1\n    if n < 3:\n        continue\n    break\nshow(n)",
    "next": "show(next((i for i in [] if i), 9), next(i for i in [5, 6] if i > 5))",
    "dataclasses": """
from dataclasses import dataclass, field, replace
@dataclass(frozen=True)
class Point:
    x: int
    y: float = 2.0
    seen: dict = field(default_factory=dict)
    @property
    def sum(self):
        return self.x + self.y
    def moved(self, *, by):
        return replace(self, x=self.x + by)
show(Point(1).moved(by=2).sum, Point(1) == Point(x=1), vars(Point(1)))
""",
    "keywords": """
def f(a, b=2, *, c, **rest):
    return [a, b, c, rest]
show(f(1, c=3), f(1, 5, c=3, d=4), f(**{'a': 1, 'c': 2}))
""",
}
node = pytest.mark.skipif(shutil.which("node") is None, reason="needs node")


def in_python(program: str) -> str:
    """What a program shows in Python."""
    lines: list[str] = []
    exec(program, {"show": lambda *values: lines.append("|".join(map(_plain, values)))})
    return "".join(f"{line}\n" for line in lines)


def _plain(value: object) -> str:
    return str(list(value)) if isinstance(value, tuple) else str(value)


@node
@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_a_program_says_the_same_in_both(program: str) -> None:
    body = Compiler().module("program", ast.parse(program))
    library = "\n".join(map(read, ("runtime.js", "library.js", "host.js")))
    library = library.replace('py.modules["nbyt.errors"]', "{}")
    show = "py.b.show = (...all) => console.log(all.map(py.str).join('|'));"
    code = f"{library}\n{show}\n{body}"
    done = subprocess.run(["node", "-"], input=code, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout == in_python(program)


@pytest.mark.parametrize("name", [one for one, _ in MODULES])
def test_every_module_of_rules_stays_within_what_can_be_compiled(name: str) -> None:
    only = dict(MODULES)[name]
    assert f'py.module("{name}"' in compiled(name, only)


@pytest.mark.parametrize("text", ["async def f(): pass", "def f():\n    yield 1", "x = 1 @ 2"])
def test_python_that_is_not_known_is_refused(text: str) -> None:
    with pytest.raises((UnsupportedError, KeyError)):
        Compiler().module("program", ast.parse(text))


def test_whole_numbers_and_fractions_stay_apart() -> None:
    written = literal({"a": [1, 1.0, True, "x"]})
    assert written == 'py.dict([["a", [1n, 1.0, true, "x"]]])'
