"""Gymnasium's five classic-control tasks in plain JAX, on the device.

The equations are Gymnasium's, and tests step them beside Gymnasium's own and beside gymnax's. Time
is counted here and nothing resets by itself. A state holds arrays of no dimension.
"""

import math
from abc import ABC, abstractmethod
from functools import lru_cache
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium.spaces import Box, Discrete, Space

from nbyt.envs.protocol import Transition

# A number of any size, as Gymnasium writes it in its spaces.
_ANY = float(np.finfo(np.float32).max)


class State(NamedTuple):
    """The numbers that the equations move, in the order of the task, and the steps so far."""

    values: tuple[jax.Array, ...]
    time: jax.Array


class Moved(NamedTuple):
    """What the equations of a task make of one action."""

    values: tuple[jax.Array, ...]
    reward: jax.Array | float
    terminated: jax.Array | bool


class ClassicEnv(ABC):
    """A task of classic control as a `DeviceEnv`; each has its own equations."""

    name: ClassVar[str]
    time_limit: ClassVar[int]
    action_space: ClassVar[Space]
    # The largest size of each observed number; the smallest is its negative unless `low` says more.
    high: ClassVar[tuple[float, ...]]
    low: ClassVar[tuple[float, ...] | None] = None

    def __init__(self) -> None:
        self.id = f"classic:{self.name}"
        high = np.array(self.high, np.float32)
        low = -high if self.low is None else np.array(self.low, np.float32)
        self.observation_space = Box(low, high, dtype=np.float32)

    def reset(self, key: jax.Array) -> tuple[State, jax.Array]:
        """Return a start state and its observation."""
        values = self.begin(key)
        return State(values, jnp.int32(0)), self.observed(values)

    def step(self, key: jax.Array, state: State, action: jax.Array) -> Transition:
        """Return the transition that `action` causes; no reset."""
        del key  # nothing here is random after the start
        values, reward, terminated = self.move(state.values, action)
        time = state.time + 1
        terminated = jnp.asarray(terminated)
        return Transition(
            State(values, time),
            self.observed(values),
            jnp.asarray(reward, jnp.float32),
            terminated,
            (time >= self.time_limit) & ~terminated,
        )

    @abstractmethod
    def begin(self, key: jax.Array) -> tuple[jax.Array, ...]:
        """Draw the values of a start state."""

    @abstractmethod
    def move(self, values: tuple[jax.Array, ...], action: jax.Array) -> Moved:
        """Integrate the equations over one step."""

    def observed(self, values: tuple[jax.Array, ...]) -> jax.Array:
        """Return what the policy sees of these values."""
        return jnp.stack(values)


class CartPole(ClassicEnv):
    """A pole on a cart that is pushed to the left or to the right, 1 for every step it stands."""

    name, time_limit = "CartPole-v1", 500
    action_space = Discrete(2)
    track, angle = 2.4, 12 * 2 * math.pi / 360
    high = (2 * track, _ANY, 2 * angle, _ANY)

    def begin(self, key: jax.Array) -> tuple[jax.Array, ...]:
        """Draw all four values near the upright middle."""
        return tuple(jax.random.uniform(key, (4,), minval=-0.05, maxval=0.05))

    def move(self, values: tuple[jax.Array, ...], action: jax.Array) -> Moved:
        """Take an Euler step of 0.02 s; cart 1 kg, pole 0.1 kg and half a metre to its middle."""
        x, speed, angle, spin = values
        cart_and_pole, pole, length, tau = 1.1, 0.1, 0.5, 0.02
        force = 10.0 * action - 10.0 * (1 - action)
        cosine, sine = jnp.cos(angle), jnp.sin(angle)
        pushed = (force + 0.05 * spin**2 * sine) / cart_and_pole
        inertia = length * (4.0 / 3.0 - pole * cosine**2 / cart_and_pole)
        spin_change = (9.8 * sine - cosine * pushed) / inertia
        speed_change = pushed - 0.05 * spin_change * cosine / cart_and_pole
        x, speed = x + tau * speed, speed + tau * speed_change
        angle, spin = angle + tau * spin, spin + tau * spin_change
        off_track = (x < -self.track) | (x > self.track)
        fallen = (angle < -self.angle) | (angle > self.angle)
        return Moved((x, speed, angle, spin), 1.0, off_track | fallen)


class Acrobot(ClassicEnv):
    """Two links of which only the joint between them is driven: swing the tip above a line."""

    name, time_limit = "Acrobot-v1", 500
    action_space = Discrete(3)
    fastest = (4 * math.pi, 9 * math.pi)
    high = (1.0, 1.0, 1.0, 1.0, *fastest)

    def begin(self, key: jax.Array) -> tuple[jax.Array, ...]:
        """Draw both angles and their speeds near hanging still."""
        return tuple(jax.random.uniform(key, (4,), minval=-0.1, maxval=0.1))

    def move(self, values: tuple[jax.Array, ...], action: jax.Array) -> Moved:
        """Take a Runge-Kutta step of 0.2 s."""
        torque = jnp.array([-1.0, 0.0, 1.0])[action]
        first, second, *speeds = _runge_kutta(jnp.stack([*values, torque]), 0.2)[:4]
        first, second = _wrapped(first), _wrapped(second)
        slow = [jnp.clip(s, -most, most) for s, most in zip(speeds, self.fastest, strict=True)]
        above = -jnp.cos(first) - jnp.cos(second + first) > 1.0
        return Moved((first, second, *slow), -1.0 * (1 - above), above)

    def observed(self, values: tuple[jax.Array, ...]) -> jax.Array:
        """Return cosine and sine of both angles, and their speeds."""
        first, second, *speeds = values
        around = (jnp.cos(first), jnp.sin(first), jnp.cos(second), jnp.sin(second))
        return jnp.stack([*around, *speeds])


def _runge_kutta(values: jax.Array, time: float) -> jax.Array:
    half = time / 2.0
    one = _double_pendulum(values)
    two = _double_pendulum(values + half * one)
    three = _double_pendulum(values + half * two)
    four = _double_pendulum(values + time * three)
    return values + time / 6.0 * (one + 2 * two + 2 * three + four)


def _double_pendulum(values: jax.Array) -> jax.Array:
    """Return d/dt of angles, speeds and torque: links of 1 m, 1 kg and 1 kg m², g = 9.8 m/s²."""
    first, second, first_speed, second_speed, torque = values
    to_middle, gravity = 0.5, 9.8
    cosine, sine = jnp.cos(second), jnp.sin(second)
    both = to_middle**2 + (1.0 + to_middle**2 + 2 * to_middle * cosine) + 1.0 + 1.0
    coupled = (to_middle**2 + to_middle * cosine) + 1.0
    pull_second = to_middle * gravity * jnp.cos(first + second - jnp.pi / 2.0)
    pull_first = (
        -to_middle * second_speed**2 * sine
        - 2 * to_middle * second_speed * first_speed * sine
        + (to_middle + 1.0) * gravity * jnp.cos(first - jnp.pi / 2)
        + pull_second
    )
    driven = torque + coupled / both * pull_first - to_middle * first_speed**2 * sine - pull_second
    second_change = driven / (to_middle**2 + 1.0 - coupled**2 / both)
    first_change = -(coupled * second_change + pull_first) / both
    changes = (first_speed, second_speed, first_change, second_change, jnp.zeros_like(torque))
    return jnp.stack(changes)


def _wrapped(angle: jax.Array) -> jax.Array:
    """Return the angle between -pi and pi."""
    low, high = -jnp.pi, jnp.pi
    turn = high - low
    below, above = angle < low, angle >= high
    turns = below * jnp.ceil((low - angle) / turn) + above * jnp.floor((angle - high) / turn + 1)
    return angle - turns * turn * above + turns * turn * below


class _Car(ClassicEnv):
    """A car between two hills, too weak to drive up without a run."""

    left, right, fastest = -1.2, 0.6, 0.07
    goal: ClassVar[float]
    low, high = (left, -fastest), (right, fastest)

    def begin(self, key: jax.Array) -> tuple[jax.Array, ...]:
        """Draw a place in the valley, at rest."""
        return jax.random.uniform(key, (), minval=-0.6, maxval=-0.4), jnp.float32(0.0)

    def roll(self, values: tuple[jax.Array, ...], push: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Move the car; the left end is a wall that stops it."""
        place, speed = values
        speed = speed + push - jnp.cos(3 * place) * 0.0025
        speed = jnp.clip(speed, -self.fastest, self.fastest)
        place = jnp.clip(place + speed, self.left, self.right)
        return place, speed * (1 - (place == self.left) * (speed < 0))


class MountainCar(_Car):
    """The car with an engine that is on, off or reversed; -1 for every step."""

    name, time_limit = "MountainCar-v0", 200
    action_space = Discrete(3)
    goal = 0.5

    def move(self, values: tuple[jax.Array, ...], action: jax.Array) -> Moved:
        """Push by a thousandth, to the left, not at all or to the right."""
        place, speed = self.roll(values, (action - 1) * 0.001)
        return Moved((place, speed), -1.0, (place >= self.goal) & (speed >= 0.0))


class MountainCarContinuous(_Car):
    """The car with a throttle; 100 at the goal, less what the throttle cost."""

    name, time_limit = "MountainCarContinuous-v0", 999
    action_space = Box(-1.0, 1.0, (1,), np.float32)
    goal = 0.45

    def move(self, values: tuple[jax.Array, ...], action: jax.Array) -> Moved:
        """Push by the throttle, which costs a tenth of its square as it was asked for."""
        throttle = action.reshape(())
        place, speed = self.roll(values, jnp.clip(throttle, -1.0, 1.0) * 0.0015)
        arrived = (place >= self.goal) & (speed >= 0.0)
        return Moved((place, speed), -0.1 * throttle**2 + 100 * arrived, arrived)


class Pendulum(ClassicEnv):
    """A pendulum that is to be swung up and held there; it never ends but by its time."""

    name, time_limit = "Pendulum-v1", 200
    action_space = Box(-2.0, 2.0, (1,), np.float32)
    high = (1.0, 1.0, 8.0)

    def begin(self, key: jax.Array) -> tuple[jax.Array, ...]:
        """Draw any angle, and a speed up to 1."""
        most = jnp.array([jnp.pi, 1])
        return tuple(jax.random.uniform(key, (2,), minval=-most, maxval=most))

    def move(self, values: tuple[jax.Array, ...], action: jax.Array) -> Moved:
        """Take a step of 0.05 s; the reward is of the angle and speed before it."""
        angle, speed = values
        torque = jnp.clip(action.reshape(()), -2.0, 2.0)
        upright = ((angle + jnp.pi) % (2 * jnp.pi)) - jnp.pi
        reward = -(upright**2 + 0.1 * speed**2 + 0.001 * torque**2)
        speed = speed + (15.0 * jnp.sin(angle) + 3.0 * torque) * 0.05
        speed = jnp.clip(speed, -8.0, 8.0)
        return Moved((angle + speed * 0.05, speed), reward, False)

    def observed(self, values: tuple[jax.Array, ...]) -> jax.Array:
        """Return cosine and sine of the angle, and its speed."""
        angle, speed = values
        return jnp.stack([jnp.cos(angle), jnp.sin(angle), speed])


_TASKS = {
    task.name: task for task in (CartPole, Acrobot, MountainCar, MountainCarContinuous, Pendulum)
}


def names() -> list[str]:
    """List the ids of the five tasks."""
    return list(_TASKS)


@lru_cache(maxsize=len(_TASKS))
def find(name: str) -> ClassicEnv | None:
    """Find the task of that name, or None; one object a name, so that programs are shared."""
    return _TASKS[name]() if name in _TASKS else None
