"""Rollouts of a host env whose state can be copied, and resampled futures of every step.

The same futures as on the device (`collect.clones`), one after the other in one running env.
"""

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium import Env
from jaxtyping import Float

from nbyt.collect.host import parameters_in_numpy
from nbyt.collect.segment import burn_in
from nbyt.envs.copying import HostState, load_state, save_state
from nbyt.envs.protocol import DeviceEnv, HostEnv
from nbyt.gradients.clones import ANSWERS, LATER, OWN, ClonePlan, Clones, Discount, cost
from nbyt.policy.actor_critic import ActorCritic, Params
from nbyt.policy.normalise import CLIP
from nbyt.rng import numpy_stream, seeds, stream


class _Seen(NamedTuple):
    """An observation, and its place among all whose value the critic is asked for."""

    observation: np.ndarray
    place: int


class _Step(NamedTuple):
    """What one action led to, before any reset."""

    reward: float
    terminated: bool
    ended: bool
    after: _Seen


class _Moment(NamedTuple):
    """One step of the rollout, and the env's state before it."""

    state: HostState
    before: _Seen
    action: np.ndarray
    step: _Step


_Path = list[_Step]
_Values = Float[np.ndarray, " seen"]


def why_not(env: DeviceEnv | HostEnv) -> str | None:
    """Return why an env's state cannot be copied; None if it can."""
    if not isinstance(env, HostEnv) or env.copyable:
        return None
    return (
        f"the state of '{env.id}' cannot be copied: that is possible on the device and for "
        "Gymnasium's classic control, toy text and MuJoCo envs in simple wrappers"
    )


def host_clones(
    env: HostEnv, policy: ActorCritic, params: Params, plan: ClonePlan
) -> Iterator[Clones]:
    """Yield blocks of independent rollouts, each started at a random phase of an episode."""
    one = env.start_one()
    assert one is not None, "an env that is copyable can be started alone"
    try:
        player = _Player(one, policy, params, plan, burn_in(env.time_limit))
        for first in range(0, plan.blocks * plan.block, plan.block):
            made = [player.rollout(first + place) for place in range(plan.block)]
            yield Clones(*(jnp.asarray(np.stack(x, axis=1)) for x in zip(*made, strict=True)))
    finally:
        one.close()


class _Player:
    """A running env and the policy that acts in it; `limit` is the longest phase to begin at."""

    def __init__(
        self, env: Env, policy: ActorCritic, params: Params, plan: ClonePlan, limit: int
    ) -> None:
        self._env, self._policy, self._plan, self._limit = env, policy, plan, limit
        self._params, self._in_numpy = params, jax.device_get(params)
        self._key = stream(jax.random.key(plan.seed), "clones")
        self._seeds = seeds(plan.seed, "clones", plan.blocks * plan.block)
        self._seen: list[np.ndarray] = []

    def rollout(self, number: int) -> list[np.ndarray]:
        """Return the fields of `Clones` for rollout `number`, arrays [T, ...]."""
        steps, key = self._plan.steps, stream(self._key, "rollout", number)
        phase = numpy_stream(self._plan.seed, "clones.phase", number)
        before = int(phase.integers(self._limit, 2 * self._limit))
        noise = self._noise(stream(key, "act"), (2 * self._limit + steps,))
        moments = self._record(self._begin(number, noise[:before]), noise[-steps:])
        fresh = self._noise(stream(key, "clone"), (OWN, steps, steps))
        futures: list[list[_Path]] = [[] for _ in LATER]
        for time in range(steps):
            later = [*fresh[:, time, time + 1 :], noise[len(noise) - steps + time + 1 :]]
            for found, kind in zip(futures, zip(ANSWERS, LATER, strict=True), strict=True):
                draw = number * steps + time
                found.append(self._future(moments[time : time + 2], draw, kind, later[kind[1]]))
        return _fields(moments, futures, self._values(), self._plan.discount)

    def _begin(self, number: int, noise: np.ndarray) -> np.ndarray:
        """Return the observation after these steps of a freshly seeded env."""
        observation = np.asarray(self._env.reset(seed=self._seeds[number])[0])
        for drawn in noise:
            observation = self._next(self._step(self._act(observation, drawn)))
        self._seen = []
        return observation

    def _record(self, observation: np.ndarray, noise: np.ndarray) -> list[_Moment]:
        """Record the rollout itself, reset where an episode ends."""
        moments = []
        for drawn in noise:
            state, before = save_state(self._env), self._see(observation)
            action = self._act(observation, drawn)
            moments.append(_Moment(state, before, action, self._step(action)))
            observation = self._next(moments[-1].step)
        return moments

    def _future(
        self, moments: list[_Moment], draw: int, kind: tuple[int, int], noise: np.ndarray
    ) -> _Path:
        """Play the future of the first of two moments, with this answer and later randomness."""
        here, (answer, later) = moments[0], kind
        first = here.step
        if answer != OWN:
            load_state(self._env, here.state)
            self._draw_anew("clones.answer", draw * OWN + answer)
            first = self._step(here.action)
        for after in moments[1:]:  # none where the rollout ends
            if answer == OWN:
                load_state(self._env, after.state)
            if later == OWN:
                self._env.unwrapped.np_random.bit_generator.state = after.state.random
            else:
                self._draw_anew("clones.luck", draw * OWN + later)
        return self._go_on(first, noise)

    def _go_on(self, step: _Step, noise: np.ndarray) -> _Path:
        """Return `step` and those after it, until the noise or the episode ends."""
        path = [step]
        for drawn in noise:
            if path[-1].ended:
                break
            path.append(self._step(self._act(path[-1].after.observation, drawn)))
        return path

    def _draw_anew(self, role: str, draw: int) -> None:
        """Reseed the env: a restored state would repeat its own future."""
        self._env.unwrapped.np_random = numpy_stream(self._plan.seed, role, draw)

    def _act(self, observation: np.ndarray, noise: np.ndarray) -> np.ndarray:
        parameters = parameters_in_numpy(self._policy, self._in_numpy, observation[None])
        return np.asarray(self._policy.head.sample(parameters, noise[None])[0])

    def _step(self, action: np.ndarray) -> _Step:
        taken = self._policy.head.to_env(action[None])[0]
        observation, reward, terminated, truncated, _ = self._env.step(taken)
        after = self._see(observation)
        return _Step(float(reward), bool(terminated), bool(terminated or truncated), after)

    def _next(self, step: _Step) -> np.ndarray:
        return np.asarray(self._env.reset()[0]) if step.ended else step.after.observation

    def _see(self, observation: Any) -> _Seen:
        # Copied, because some envs hand out one array for ever and the next step writes into it.
        self._seen.append(np.array(observation))
        return _Seen(self._seen[-1], len(self._seen) - 1)

    def _values(self) -> _Values:
        """Return the critic's values of all observations; padded, so one program serves all."""
        most = cost(self._plan.steps, 1) + self._plan.steps
        rows = np.stack(self._seen)
        blank = np.zeros((most - len(rows), *rows.shape[1:]), rows.dtype)
        found = _value(self._policy, self._params, np.concatenate([rows, blank]))
        return np.asarray(found, float)

    def _noise(self, key: jax.Array, shape: tuple[int, ...]) -> np.ndarray:
        return np.asarray(_noise(self._policy, key, shape))


@partial(jax.jit, static_argnames=("policy",))
def _value(policy: ActorCritic, params: Params, observation: Any) -> jax.Array:
    return policy.value(params, observation)


@partial(jax.jit, static_argnames=("policy", "shape"))
def _noise(policy: ActorCritic, key: jax.Array, shape: tuple[int, ...]) -> jax.Array:
    return policy.head.noise(key, shape)


def _fields(
    moments: list[_Moment], futures: list[list[_Path]], values: _Values, discount: Discount
) -> list[np.ndarray]:
    """Return the rollout, its advantages and those of its futures, in the order of `Clones`."""
    steps = [moment.step for moment in moments]
    own = [steps[time:] for time in range(len(steps))]
    find = partial(_advantage, values=values, discount=discount)
    before = [moment.before for moment in moments]
    found = [list(map(find, paths, before)) for paths in (own, *futures)]
    return [
        np.stack([moment.before.observation for moment in moments]),
        np.stack([moment.action for moment in moments]),
        np.array([step.ended for step in steps]),
        *np.array(found, np.float32),
    ]


def _advantage(path: _Path, before: _Seen, values: _Values, discount: Discount) -> float:
    """Return the sum of (gamma lam)^k delta_k along a path, up to the end of its first episode."""
    total, weight, value = 0.0, 1.0, values[before.place]
    for step in path:
        following = values[step.after.place]
        delta = _scaled(step.reward, discount) - value
        delta += 0.0 if step.terminated else discount.gamma * following
        total, value = total + weight * delta, following
        weight *= discount.gamma * discount.lam
        if step.ended:
            break
    return float(total)


def _scaled(reward: float, discount: Discount) -> float:
    scale = discount.reward_scale
    return reward if scale is None else float(np.clip(reward / scale, -CLIP, CLIP))
