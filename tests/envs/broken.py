"""Small envs that each break one promise, with the fault code that must name it.

`HOST` holds factories of Gymnasium envs, `DEVICE` instances of device envs.
"""

import numpy as np
from corridor import Corridor
from gymnasium import Env
from gymnasium.spaces import Box, Dict, Discrete, Graph, MultiBinary, Text, Tuple
from gymnasium.wrappers import TransformAction, TransformObservation


class Sound(Corridor):
    """A corridor with vectors that keeps every promise."""

    def __init__(self) -> None:
        super().__init__(box=True)


def said(first: int = 0, **changes):
    """A sound env some of whose five step values are replaced by functions of the value.

    first: the step of its life, over all episodes, from which on they are.
    """
    names = ("observation", "reward", "terminated", "truncated", "info")

    class Changed(Sound):
        taken = 0

        def step(self, action):
            answer = super().step(action)
            self.taken += 1
            if self.taken <= first:
                return answer
            named = zip(names, answer, strict=True)
            return tuple(changes.get(name, lambda value: value)(value) for name, value in named)

    return Changed


def method(name, function):
    """A sound env with one method replaced."""
    return type("Replaced", (Sound,), {name: function})


def attribute(name, value):
    """A sound env with one attribute replaced after construction."""

    class Replaced(Sound):
        def __init__(self) -> None:
            super().__init__()
            setattr(self, name, value)

    return Replaced


class Constructor(Sound):
    """Cannot be built."""

    def __init__(self) -> None:
        raise FileNotFoundError("track.xml")


class NotAnEnv:
    """Has no part of the interface."""


class Unseeded(Sound):
    """Draws from NumPy's global generator."""

    def observe(self):
        return np.random.default_rng().uniform(0, 1, 2).astype(np.float32)


class Aliased(Sound):
    """Hands out one array and writes into it."""

    def __init__(self) -> None:
        super().__init__()
        self.shared = np.zeros(2, np.float32)

    def observe(self):
        self.shared[:] = super().observe()
        return self.shared


class GreedyAction(Sound):
    """Writes into its action."""

    def __init__(self) -> None:
        super().__init__()
        self.action_space = Box(-1, 1, (2,), np.float32)

    def step(self, action):
        action *= 2
        return super().step(1)


class LateRaise(Sound):
    """Raises on its third step."""

    def step(self, action):
        if self.steps == 2:
            raise ZeroDivisionError("late")
        return super().step(action)


def fails(value):
    """Any value's undoing."""
    raise ZeroDivisionError("late")


LATE_STEP = 60  # later than a trial run goes
LATE = [
    (said(LATE_STEP, observation=lambda seen: seen * np.float32(np.nan)), "observation_nonfinite"),
    (said(LATE_STEP, observation=lambda seen: seen + 99), "observation_bounds"),
    (said(LATE_STEP, observation=lambda seen: seen[:1]), "step_raises"),
    (said(LATE_STEP, reward=lambda reward: float("inf")), "reward_nonfinite"),
    (said(LATE_STEP, reward=fails), "step_raises"),
]


class OwnSpaces(Sound):
    """Every env of this make has another space."""

    made = 0

    def __init__(self) -> None:
        super().__init__()
        OwnSpaces.made += 1
        high = np.full(2, 10.0 + OwnSpaces.made, np.float32)
        self.observation_space = Box(-high, high)


def old_reset(self, *, seed=None, options=None):
    """The reset of old Gym, which returned the observation alone."""
    return Sound.reset(self, seed=seed)[0]


def reset_without_seed(self):
    """A reset that takes nothing."""
    return Sound.reset(self)


def reset_raises(self, *, seed=None, options=None):
    """A reset that fails."""
    raise RuntimeError("no world")


def second_reset_raises(self, *, seed=None, options=None):
    """A reset that works once, with a seed."""
    if seed is None:
        raise RuntimeError("no second world")
    return Sound.reset(self, seed=seed)


def old_step(self, action):
    """The step of old Gym, with four values."""
    observation, reward, terminated, _, info = Sound.step(self, action)
    return observation, reward, terminated, info


def rejects(self, action):
    """A step that wants other actions than its space says."""
    raise AssertionError(f"invalid action {action}")


def close_raises(self):
    """A close that fails."""
    raise OSError("no window")


def dict_observation():
    """A corridor seen as a dictionary."""
    space = Dict({"cell": Box(-99, 99, (2,), np.float32)})
    return TransformObservation(Sound(), lambda seen: {"cell": seen}, space)


def tuple_observation():
    """A corridor seen as a tuple."""
    space = Tuple((Box(-99, 99, (2,), np.float32), Discrete(2)))
    return TransformObservation(Sound(), lambda seen: (seen, 0), space)


def binary_action():
    """A corridor moved by switches."""
    return TransformAction(Sound(), lambda action: int(action[0]), MultiBinary(2))


HOST = [
    (Constructor, "constructor"),
    (NotAnEnv, "constructor"),
    (lambda: None, "constructor"),
    (dict_observation, "observation_space"),
    (tuple_observation, "observation_space"),
    (attribute("observation_space", Text(5)), "observation_space"),
    (attribute("observation_space", Graph(Discrete(3), None)), "observation_space"),
    (attribute("observation_space", None), "observation_space"),
    (binary_action, "action_space"),
    (attribute("action_space", None), "action_space"),
    (attribute("action_space", Box(0, 3, (1,), np.int64)), "action_space"),
    (OwnSpaces, "spaces_differ"),
    (method("reset", reset_without_seed), "reset_seed"),
    (method("reset", reset_raises), "reset_raises"),
    (method("reset", second_reset_raises), "reset_raises"),
    (method("reset", old_reset), "reset_result"),
    (method("step", old_step), "step_result"),
    (method("step", rejects), "action_rejected"),
    (LateRaise, "step_raises"),
    (method("close", close_raises), "close_raises"),
    (said(observation=lambda seen: seen.tolist()), "observation_type"),
    (said(observation=lambda seen: None), "observation_type"),
    (said(observation=lambda seen: seen[:1]), "observation_shape"),
    (said(observation=lambda seen: seen.astype(np.float64)), "observation_dtype"),
    (said(observation=lambda seen: seen * np.float32(np.nan)), "observation_nonfinite"),
    (said(observation=lambda seen: seen + 5), "observation_bounds"),
    (Aliased, "observation_aliased"),
    (said(reward=lambda reward: None), "reward_type"),
    (said(reward=lambda reward: np.array([reward])), "reward_type"),
    (said(reward=lambda reward: "much"), "reward_type"),
    (said(reward=lambda reward: float("inf")), "reward_nonfinite"),
    (said(terminated=lambda flag: int(flag)), "terminated_type"),
    (said(truncated=lambda flag: None), "truncated_type"),
    (said(info=lambda info: []), "info_type"),
    (Unseeded, "seeding"),
    (GreedyAction, "action_changed"),
]


class Liar(Env):
    """Breaks many promises at once."""

    observation_space = Box(0, 1, (2,), np.float32)
    action_space = MultiBinary(2)

    def reset(self, *, seed=None, options=None):
        return np.full(3, np.nan)

    def step(self, action):
        return np.full(3, 7.0), None, 0, False, {}
