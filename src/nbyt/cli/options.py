"""Options that several commands share."""

from dataclasses import dataclass
from typing import Annotated, Any

from cyclopts import Parameter

from nbyt.cli.common import Common as Common
from nbyt.numbers import Probability
from nbyt.train.settings import PPOSettings

Settings = Annotated[PPOSettings, Parameter(group="Learning")]


@dataclass(frozen=True)
class Learning(PPOSettings):
    """The settings of PPO; lambda is read as a list, by `nbyt advise`.

    It remembers which were `given`, as those win over the user's own in another library.
    """

    lam: Annotated[Probability, Parameter(parse=False)] = 0.95

    def __new__(cls, **given: Any) -> "Learning":
        made = super().__new__(cls)
        object.__setattr__(made, "_given", frozenset(given))
        return made

    @property
    def given(self) -> frozenset[str]:
        """The settings that are not there by default."""
        return self.__dict__["_given"]
