"""Options that several commands share, and how their values are read."""

from dataclasses import dataclass
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


@dataclass(frozen=True)
class Learning(PPOSettings):
    """The settings of PPO; lambda is read as a list, by `nbyt advise`.

    It remembers which were `given`, as those win over the user's own in another library.
    """

    lam: Annotated[float, Parameter(parse=False)] = 0.95

    def __new__(cls, **given: Any) -> "Learning":
        made = super().__new__(cls)
        object.__setattr__(made, "_given", frozenset(given))
        return made

    @property
    def given(self) -> frozenset[str]:
        """The settings that are not there by default."""
        return self.__dict__["_given"]
