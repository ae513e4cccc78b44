"""What an update of a Stable-Baselines3 training costs, timed with throw-away models."""

import copy
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

from nbyt.errors import UsageError
from nbyt.gradients.torch_modes import undisturbed
from nbyt.integrations.sb3.envs import vec_env
from nbyt.layout import Layout
from nbyt.workflow.costs import Costs, Progress, spread_out, time_layouts, updates_of_a_turn

# An update takes long enough to be timed well, and long enough not to be timed often.
_ROUNDS = 3


def measure_costs(
    model: Any, env: Any, layouts: Sequence[Layout], trained: int | None, progress: Progress
) -> Costs:
    """Updates of models like this one, timed at a few of the layouts; what they learn is lost.

    All envs of a model are in one process, in a DummyVecEnv.
    """
    with undisturbed(0):
        chosen, start = spread_out(layouts, trained), partial(_Throwaway, model, env)
        return time_layouts(chosen, start, rounds=_ROUNDS, progress=progress)


class _Throwaway:
    """A fresh model of the same kind at one layout, warmed up."""

    def __init__(self, model: Any, env: Any, layout: Layout) -> None:
        self.layout = layout
        self._envs = vec_env(model, env, layout.envs)
        self._model = _like(model, self._envs, layout)
        self._updates = updates_of_a_turn(self._go(1))

    def seconds(self) -> float:
        """Seconds of one update, over a turn."""
        return self._go(self._updates) / self._updates

    def close(self) -> None:
        """Let the envs go."""
        self._envs.close()

    def _go(self, updates: int) -> float:
        began = time.perf_counter()
        self._model.learn(updates * self.layout.batch, reset_num_timesteps=False)
        return time.perf_counter() - began


def _like(model: Any, envs: Any, layout: Layout) -> Any:
    given: dict[str, Any] = {
        "n_steps": layout.steps,
        "gamma": model.gamma,
        "gae_lambda": model.gae_lambda,
        "policy_kwargs": copy.deepcopy(model.policy_kwargs),
        "device": model.device,
        "verbose": 0,
    }
    if hasattr(model, "n_epochs"):
        given |= {"batch_size": layout.minibatch, "n_epochs": layout.epochs}
    try:
        return type(model)(model.policy_class, envs, **given)
    except TypeError as error:
        raise UsageError(
            f"a second {type(model).__name__} cannot be made to time it: {error}",
            where="model",
            fix='ask per="sample", which times nothing',
        ) from error
