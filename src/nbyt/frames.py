"""Results as tables of pandas. The only file that imports pandas."""

from collections.abc import Iterable, Mapping
from typing import Any

from nbyt.errors import MissingExtraError, remade


def frame(rows: Iterable[Mapping[str, Any]]) -> Any:
    """Return a DataFrame with a column for each number, nested names joined by dots."""
    try:
        import pandas
    except ImportError as error:
        message = "a table needs the package 'pandas', which is not installed"
        raise remade(MissingExtraError, message, where="to_frame", fix="pip install pandas") from (
            error
        )
    return pandas.DataFrame([flat(row) for row in rows])


def flat(row: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return nested mappings as one, {"loss": {"low": 0}} as {"loss.low": 0}."""
    found: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, Mapping):
            found |= flat(value, f"{prefix}{name}.")
        else:
            found[prefix + name] = value
    return found
