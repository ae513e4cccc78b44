"""Options that several commands share, and how their values are read."""

from typing import Annotated, Any

from cyclopts import Parameter, Token

from nbyt.cli.common import Common as Common
from nbyt.rng import require_seed
from nbyt.train.settings import PPOSettings


def _count(kind: Any, tokens: list[Token]) -> int:
    """A whole number, also written 500_000 or 1e6."""
    del kind
    text = tokens[0].value
    try:
        return int(text)
    except ValueError:
        number = float(text)
        if not number.is_integer():
            raise ValueError(f"'{text}' is not a whole number") from None
        return int(number)


Count = Annotated[int, Parameter(converter=_count)]


def _seed(kind: Any, tokens: list[Token]) -> int:
    return require_seed(_count(kind, tokens))


Seed = Annotated[int, Parameter(converter=_seed)]

Settings = Annotated[PPOSettings, Parameter(group="Learning")]
