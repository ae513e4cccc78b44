"""Statements, functions and classes do in JavaScript what they do in Python."""

import pytest
from tests.calculator.side_by_side import compiled_program, in_javascript, in_python, needs_node

from nbyt.calculator.expressions import UnsupportedError

PROGRAMS = {
    "unpacking": "first, *rest = 'a b c'.split()\nshow(first, rest)",
    "errors": "try:\n    float('x')\nexcept (ValueError, KeyError) as error:\n    show('caught')",
    "while": "n = 0\nwhile True:\n    n += 1\n    if n < 3:\n        continue\n    break\nshow(n)",
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


@needs_node
@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_a_program_says_the_same_in_both(program: str) -> None:
    assert in_javascript(program) == in_python(program)


@pytest.mark.parametrize(
    "text", ["async def f(): pass", "with x: pass", "x -= 1", "match x:\n  case 1: pass"]
)
def test_a_statement_that_is_not_known_is_refused(text: str) -> None:
    with pytest.raises(UnsupportedError):
        compiled_program(text)
