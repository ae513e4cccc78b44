"""rejax: its compiled update calls back to the host each time it runs."""

from collections.abc import Mapping
from typing import Any

import gymnax
import jax
from rejax import PPO

from benchmarks.dialects.counted import Counted

_COUNTED = Counted()


class CountedPPO(PPO):
    """rejax's PPO, whose rollouts and mini-batches are counted as they happen."""

    def collect_trajectories(self, ts: Any) -> Any:
        """The same trajectories; each collection begins an update."""
        jax.debug.callback(_begin, ordered=True)
        return super().collect_trajectories(ts)

    def update(self, ts: Any, batch: Any) -> Any:
        """The same gradient step on one mini-batch."""
        size = batch.advantages.shape[0]
        jax.debug.callback(lambda: _COUNTED.see(size), ordered=True)
        return super().update(ts, batch)


def rejax(settings: Mapping[str, Any]) -> Counted:
    """rejax's PPO; gradient steps are those that its actor's state remembers."""
    _COUNTED.updates, _COUNTED.gradient_steps, _COUNTED.refusal = [], 0, ""
    algorithm = CountedPPO.create(env=_five_values(), skip_initial_evaluation=True, **settings)
    algorithm = algorithm.replace(eval_callback=_no_evaluation)
    try:
        state, _ = jax.jit(algorithm.train)(jax.random.key(0))
    except AssertionError as error:
        return Counted(refusal=repr(error))
    jax.effects_barrier()
    return Counted(list(_COUNTED.updates), int(state.actor_ts.step))


def _begin() -> None:
    _COUNTED.begin_update()


def _no_evaluation(algorithm: Any, state: Any, key: Any) -> tuple[()]:
    del algorithm, state, key
    return ()


def _five_values() -> Any:
    """gymnax's CartPole with the five-value step of before 1.0, which rejax expects."""

    class FiveValues(type(gymnax.make("CartPole-v1")[0])):  # type: ignore[misc]
        def step(self, *given: Any) -> tuple[Any, ...]:
            observation, state, reward, terminated, truncated, info = super().step(*given)
            return observation, state, reward, terminated | truncated, info

    return FiveValues()
