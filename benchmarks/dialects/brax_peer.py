"""Brax: its compiled update calls back to the host for each mini-batch and each update."""

from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
from brax import envs
from brax.training import gradients
from brax.training.acme import running_statistics
from brax.training.agents.ppo import train as ppo

from benchmarks.dialects.counted import Counted

_SEEN: list[int] = []
_BEGUN: list[int] = []
_LOSS_AND_GRADIENT, _STATISTICS = gradients.loss_and_pgrad, running_statistics.update


def brax(settings: Mapping[str, Any]) -> Counted:
    """Brax's PPO on its trivial environment; sizes are unrolls times their length."""
    _SEEN.clear()
    _BEGUN.clear()
    gradients.loss_and_pgrad, running_statistics.update = _counting, _updating
    if not hasattr(jax, "device_put_replicated"):  # gone from JAX, and Brax still asks for it
        jax.device_put_replicated = _replicated
    try:
        ppo.train(environment=envs.get_environment("fast"), episode_length=50, run_evals=False,
                  num_eval_envs=1, **settings)  # fmt: skip
    except AssertionError as error:
        return Counted(refusal=repr(error))
    finally:
        gradients.loss_and_pgrad, running_statistics.update = _LOSS_AND_GRADIENT, _STATISTICS
    jax.effects_barrier()
    each = len(_SEEN) // max(len(_BEGUN), 1)
    updates = [_SEEN[start : start + each] for start in range(0, len(_SEEN), each)]
    return Counted(updates, len(_SEEN))


def _counting(*given: Any, **named: Any) -> Any:
    """The same gradient, and a call for each mini-batch that it is taken of."""
    found = _LOSS_AND_GRADIENT(*given, **named)

    def counted(params: Any, statistics: Any, data: Any, key: Any) -> Any:
        size = data.reward.shape[0] * data.reward.shape[1]
        jax.debug.callback(lambda: _SEEN.append(size))
        return found(params, statistics, data, key)

    return counted


def _updating(*given: Any, **named: Any) -> Any:
    """The same statistics of observations, which every update takes once."""
    jax.debug.callback(lambda: _BEGUN.append(1))
    return _STATISTICS(*given, **named)


def _replicated(tree: Any, devices: list[Any]) -> Any:
    return jax.tree.map(lambda leaf: jnp.stack([leaf] * len(devices)), tree)
