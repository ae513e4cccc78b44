"""A probe in a hand-written JAX loop, held against the probe of the same networks in torch."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import flax.linen as nn
import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch
from gymnasium.vector import AutoresetMode, VectorEnv
from numpy.testing import assert_allclose

from nbyt.errors import UsageError
from nbyt.gradients.engines import jax as function_engine
from nbyt.integrations.jax import GradientProbe
from nbyt.integrations.torch import GradientProbe as TorchProbe
from nbyt.measure.live import BatchMeasurement
from nbyt.results import plain
from nbyt.store.run import read_probes

ENVS, STEPS = 8, 24
LOSS = {"gamma": 0.9, "lam": 0.8, "value_coefficient": 0.7, "entropy_coefficient": 0.1}


class Network(nn.Module):
    """One hidden layer, of Flax's own making."""

    outputs: int

    @nn.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        hidden = nn.tanh(nn.Dense(6)(x))
        return nn.Dense(self.outputs)(hidden)


ACTOR, CRITIC = Network(2), Network(1)


def log_prob(params: Any, obs: jax.Array, actions: jax.Array) -> jax.Array:
    chances = jax.nn.log_softmax(ACTOR.apply(params["actor"], obs))
    return jnp.take_along_axis(chances, actions[:, None], axis=1)[:, 0]


@jax.jit
def value(params: Any, obs: jax.Array) -> jax.Array:
    return CRITIC.apply(params["critic"], obs)[:, 0]


def entropy(params: Any, obs: jax.Array) -> jax.Array:
    chances = jax.nn.log_softmax(ACTOR.apply(params["actor"], obs))
    return -jnp.sum(jnp.exp(chances) * chances, axis=1)


def fresh() -> Any:
    seen = jnp.zeros((1, 4))
    keys = jax.random.split(jax.random.key(0))
    return {"actor": ACTOR.init(keys[0], seen), "critic": CRITIC.init(keys[1], seen)}


@jax.jit
def act(params: Any, obs: jax.Array, key: jax.Array) -> jax.Array:
    return jax.random.categorical(key, ACTOR.apply(params["actor"], obs))


@jax.jit
def improved(params: Any, obs: jax.Array, actions: jax.Array, rewards: jax.Array) -> Any:
    """The parameters after a step of plain policy gradient."""

    def loss(params: Any) -> jax.Array:
        missed = rewards - value(params, obs)
        gain = jax.lax.stop_gradient(missed) * log_prob(params, obs, actions)
        return jnp.mean(0.5 * missed**2 - gain)

    return jax.tree.map(lambda p, g: p - 0.3 * g, params, jax.grad(loss)(params))


def rollout(env: VectorEnv, params: Any, obs: np.ndarray, seed: int) -> tuple[list, np.ndarray]:
    """obs, actions, rewards, terminated, truncated and values [T, N, ...]; the next observation."""
    rows = []
    for key in jax.random.split(jax.random.key(seed), STEPS):
        action = np.asarray(act(params, obs, key))
        following, reward, terminated, truncated, _ = env.step(action)
        rows.append((obs, action, reward, terminated, truncated, value(params, obs)))
        obs = following
    return [np.stack(column) for column in zip(*rows, strict=True)], obs


def training(updates: int) -> Iterator[tuple[Any, list, np.ndarray]]:
    """Each update's parameters, its arrays, and the values after the last step."""
    kwargs = {"autoreset_mode": AutoresetMode.SAME_STEP}
    env = gymnasium.make_vec("CartPole-v1", ENVS, "sync", vector_kwargs=kwargs)
    obs, _ = env.reset(seed=0)
    params = fresh()
    for update in range(updates):
        arrays, obs = rollout(env, params, obs, update)
        yield params, arrays, np.asarray(value(params, obs))
        params = improved(params, *(x.reshape(-1, *x.shape[2:]) for x in arrays[:3]))
    env.close()


def in_torch(params: Any) -> torch.nn.Sequential:
    """A network with these weights."""
    layers = []
    for name in ("Dense_0", "Dense_1"):
        own = params["params"][name]
        layer = torch.nn.Linear(*own["kernel"].shape)
        with torch.no_grad():
            layer.weight.copy_(torch.tensor(np.array(own["kernel"]).T))
            layer.bias.copy_(torch.tensor(np.array(own["bias"])))
        layers.append(layer)
    return torch.nn.Sequential(layers[0], torch.nn.Tanh(), layers[1])


def torch_probe(params: Any) -> TorchProbe:
    actor, critic = in_torch(params["actor"]), in_torch(params["critic"])

    def law(obs: torch.Tensor) -> torch.distributions.Categorical:
        return torch.distributions.Categorical(logits=actor(obs))

    return TorchProbe(
        log_prob=lambda o, a: law(o).log_prob(a),
        value=lambda o: critic(o)[:, 0],
        entropy=lambda o: law(o).entropy(),
        module=torch.nn.ModuleList([actor, critic]),
        **LOSS,
    )


def assert_same(one: BatchMeasurement, other: BatchMeasurement) -> None:
    one_data, other_data = one.as_dict(), other.as_dict()
    assert one_data["units"] == other_data["units"]
    assert one_data["warnings"] == other_data["warnings"]
    for name, estimates in one_data["gradients"].items():
        assert len(estimates) == 7
        for field, estimate in estimates.items():
            theirs = other_data["gradients"][name][field]
            assert estimate.keys() == theirs.keys()
            for key in ("value", "low", "high"):
                ours, wanted = estimate[key], theirs[key]
                assert (ours is None) == (wanted is None)
                if ours is not None:
                    assert_allclose(ours, wanted, rtol=1e-4)


def test_a_loop_is_measured_as_in_torch_and_compiled_once() -> None:
    probe = GradientProbe(log_prob=log_prob, value=value, entropy=entropy, **LOSS)
    before = function_engine.sum_slab._cache_size()
    found = []
    for params, arrays, last in training(3):
        found.append(probe.measure(params, *arrays, last_values=last))
        assert_same(found[-1], torch_probe(params).measure(*arrays, last_values=last))
    assert function_engine.sum_slab._cache_size() == before + 1
    assert (probe.updates, probe.samples) == (3, 3 * ENVS * STEPS)
    assert len({one.total.variance.value for one in found}) == 3
    assert found[0].units == ENVS and found[0].whole


def test_wrong_arrays_are_refused() -> None:
    probe = GradientProbe(log_prob=log_prob, value=value)
    params, arrays, last = next(training(1))
    with pytest.raises(UsageError, match="time first, envs second"):
        probe.measure(params, arrays[0].swapaxes(0, 1), *arrays[1:], last_values=last)
    with pytest.raises(UsageError, match=r"values has the shape \[24, 8, 1\], not \[24, 8\]"):
        probe.measure(params, *arrays[:-1], arrays[-1][..., None], last_values=last)


def test_wrong_functions_are_refused() -> None:
    with pytest.raises(UsageError, match="log_prob is dict, not a function"):
        GradientProbe(log_prob=fresh(), value=value)
    with pytest.raises(UsageError, match="needs the entropy"):
        GradientProbe(log_prob=log_prob, value=value, entropy_coefficient=0.1)
    params, arrays, last = next(training(1))
    probe = GradientProbe(log_prob=log_prob, value=lambda p, o: ACTOR.apply(p["actor"], o))
    with pytest.raises(UsageError, match="the critic gives"):
        probe.measure(params, *arrays, last_values=last)


def test_measurements_are_kept_in_a_folder(tmp_path: Path) -> None:
    probe = GradientProbe(log_prob=log_prob, value=value, out=tmp_path / "kept", title="Poles")
    for params, arrays, last in training(2):
        probe.measure(params, *arrays, last_values=last, mean_return=20.0)
    kept = plain(read_probes(tmp_path / "kept"))
    assert (kept["library"], kept["title"]) == ("jax", "Poles")
    assert [one["samples"] for one in kept["records"]] == [ENVS * STEPS, 2 * ENVS * STEPS]
    assert "Poles" in probe.write_page().read_text()
