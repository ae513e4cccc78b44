"""Options that several commands share."""

from dataclasses import asdict, dataclass
from typing import Annotated, Any

from cyclopts import Parameter

from nbyt.envs.lookup import ENV_HELP, SUITES
from nbyt.errors import UsageError
from nbyt.numbers import Probability
from nbyt.policy.actor_critic import Stage
from nbyt.training.plan import PPOSettings


def env_of(stage: Stage, env: str, where: str, *, trust: bool = False) -> str:
    """Return the env to run: the user's, or the stage file's if it names one of a suite."""
    if env:
        return env
    named = str(stage.facts.get("env", ""))
    suite, colon, name = named.partition(":")
    if trust or (suite in SUITES and colon and ":" not in name):
        return named
    message = f"the stage's file names the env '{named}', which is code that would be imported"
    fix = f"give it yourself with --env {named or 'package.module:make_env'}, or --trust-env"
    raise UsageError(message, where=where, fix=fix)


EnvId = Annotated[str, Parameter(help=ENV_HELP)]
Settings = Annotated[PPOSettings, Parameter(group="Learning")]


@dataclass(frozen=True)
class Learning(PPOSettings):
    """The settings of PPO; lambda is read as a list, by `nbyt advise`.

    It remembers which were `given`, as those win over the user's own in another library.
    """

    lam: Annotated[Probability, Parameter(parse=False)] = 0.95

    def __post_init__(self) -> None:
        """Leave the checks to `plain`."""

    def __new__(cls, **given: Any) -> "Learning":
        settings = super().__new__(cls)
        object.__setattr__(settings, "_given", frozenset(given))
        return settings

    @property
    def given(self) -> frozenset[str]:
        """Return the names of the settings that were given."""
        return self.__dict__["_given"]

    def plain(self) -> PPOSettings:
        """Return the same settings as the class that the rest of nbyt compares and hashes."""
        return PPOSettings(**asdict(self))
