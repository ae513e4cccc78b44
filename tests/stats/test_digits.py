"""Law of rounding: what is not 0 keeps a digit."""

import pytest

from nbyt.stats.estimate import rounded


@pytest.mark.parametrize(
    ("x", "decimals", "text"),
    [
        (0.157, 0, "0.16"),
        (15.9, 0, "16"),
        (0.0, 2, "0.00"),
        (-0.0, 2, "0.00"),
        (-2e-39, 2, "0.00"),
        (-0.004, 2, "-0.004"),
        (1.2e-7, 2, "1.2e-07"),
    ],
)
def test_known_digits(x: float, decimals: int, text: str) -> None:
    assert rounded(x, decimals) == text
