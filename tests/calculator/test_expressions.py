"""Expressions have the value in JavaScript that they have in Python."""

import pytest
from tests.calculator.side_by_side import compiled_program, in_javascript, in_python, needs_node

from nbyt.calculator.expressions import UnsupportedError, name_of

PROGRAMS = {
    "numbers": "show(7 // -2, -7 % 3, 2**70, 1 / 4, 10**15 * 10**15, round(2.5), divmod(-7, 2))",
    "fractions": "show(0.1 + 0.2, 1e16, 1.0, 1e-05, 0.0003, 123456789.0, -2.0)",
    "formats": "show(f'{15.625:.4g} {1234567:,} {0.5:.1%} {1e-7:g} {2.5:.1f} {1e6:,.6g}')",
    "ties": "show(f'{0.03125:.3g} {7.8125:.4g} {62.5:.2g} {0.125:.2f} {2.675:.2f}')",
    "collections": "a = {'x': 1, **{'y': 2}}\nshow(a, {1, 2} - {2}, [*a, 3], a | {'x': 5})",
    "keys": "show({(1, 2), (1, 2), (2, 1)} == {(1, 2), (2, 1)}, {1: 'a'}[1.0], 1 == True)",
    "chains": "x = 3\nshow(1 < x <= 3, x in (1, 2), not x, x and 0, None or 'b', '' or [])",
    "loops inside": "show([i * j for i, j in zip([1, 2], [3, 4])], {k: v for k, v in [(1, 2)]})",
    "functions": "show(sorted([3, 1, 2], key=lambda n: -n), max([1, 5], default=0), min(4, 2))",
    "text": "show('a_b'.partition('_'), 'xay'.removesuffix('y'), ', '.join(map(str, [1, 2.0])))",
    "next": "show(next((i for i in [] if i), 9), next(i for i in [5, 6] if i > 5))",
}


@needs_node
@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_a_program_says_the_same_in_both(program: str) -> None:
    assert in_javascript(program) == in_python(program)


@pytest.mark.parametrize(
    "text", ["x = 1 @ 2", "x = (yield)", "x = [1][::2, 3]", "f(**a).b[1:2, 3]"]
)
def test_an_expression_that_is_not_known_is_refused(text: str) -> None:
    with pytest.raises((UnsupportedError, KeyError)):
        compiled_program(text)


def test_words_that_javascript_keeps_are_renamed() -> None:
    assert name_of("default") == "default_" and name_of("envs") == "envs"
