"""Laws of a model's envs: copies show what the model's own show, and leave those alone."""

from collections.abc import Callable
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box, Discrete
from gymnasium.wrappers import RescaleAction, TimeLimit, TransformReward
from sb3_toys import Locked, Parts, Picture, Sampled, Stubborn, made, model_in
from stable_baselines3 import PPO
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import (
    DummyVecEnv,
    SubprocVecEnv,
    VecCheckNan,
    VecExtractDictObs,
    VecFrameStack,
    VecMonitor,
    VecNormalize,
)

from nbyt.envs.protocol import HostEnv
from nbyt.errors import UsageError
from nbyt.integrations.sb3.envs import env_name, host_env
from nbyt.integrations.sb3.policy import Packing

STEPS = 30


def wrapped() -> gymnasium.Env:
    """Wrappers outside a Monitor, and one that holds a function."""
    inner = Monitor(RescaleAction(made("Pendulum-v1", 9), np.float32(-1), np.float32(1)))
    return TransformReward(inner, lambda reward: 2 * reward)


def normalised(venv: DummyVecEnv) -> VecNormalize:
    """Moments that matter, from a few steps."""
    venv = VecNormalize(VecMonitor(venv), clip_obs=1.5, clip_reward=0.7, gamma=0.9)
    venv.seed(7)
    venv.reset()
    venv.action_space.seed(7)
    for _ in range(20):
        venv.step(np.stack([venv.action_space.sample()] * venv.num_envs))
    return venv


STACKS: dict[str, tuple[str, Callable[[], gymnasium.Env], Callable[[Any], Any]]] = {
    "CartPole": ("MlpPolicy", partial(made, "CartPole-v1"), lambda venv: venv),
    "FrozenLake": ("MlpPolicy", partial(made, "FrozenLake-v1", 8), lambda venv: venv),
    "wrappers": ("MlpPolicy", wrapped, VecCheckNan),
    "normalised": ("MlpPolicy", partial(made, "Pendulum-v1", 9), normalised),
    "HalfCheetah": ("MlpPolicy", partial(made, "HalfCheetah-v5", 12), normalised),
    "pictures": ("CnnPolicy", Picture, partial(VecFrameStack, n_stack=3)),
    "parts": ("MultiInputPolicy", Parts, lambda venv: venv),
    "one part": ("MlpPolicy", Parts, partial(VecExtractDictObs, key="arm")),
    "stacked parts": (
        "MultiInputPolicy",
        Parts,
        lambda venv: VecNormalize(VecFrameStack(boxes(venv), 2), norm_obs_keys=["arm"]),
    ),
}


def boxes(venv: DummyVecEnv) -> DummyVecEnv:
    """The same with Box parts alone, which is what frames can be stacked of."""
    space = {k: v for k, v in venv.envs[0].observation_space.items() if isinstance(v, Box)}
    venv.envs[0].observation_space = gymnasium.spaces.Dict(space)
    return DummyVecEnv([lambda: venv.envs[0]])


def model_of(name: str) -> PPO:
    policy, make, around = STACKS[name]
    return model_in(around(DummyVecEnv([make])), policy)


def played(venv: Any, seed: int, actions: list[Any]) -> list[Any]:
    """What a VecEnv of one shows: all it gives, infos cut to what tells of ends."""
    venv.seed(seed)
    rows: list[Any] = [copied(venv.reset())]
    for action in actions:
        seen, reward, ended, infos = venv.step(np.asarray(action)[None])
        last = infos[0].get("terminal_observation")
        rows.append((copied(seen), reward[0], ended[0], infos[0]["TimeLimit.truncated"], last))
    return rows


def copied(seen: Any) -> Any:
    return {k: np.array(v) for k, v in seen.items()} if isinstance(seen, dict) else np.array(seen)


def chosen(model: PPO, count: int = STEPS) -> list[Any]:
    model.action_space.seed(0)
    return [model.action_space.sample() for _ in range(count)]


def frozen(model: PPO) -> PPO:
    """The model with moments that learn no more."""
    if model.get_vec_normalize_env() is not None:
        model.get_vec_normalize_env().training = False
    return model


@pytest.mark.parametrize("name", STACKS)
def test_a_copy_shows_what_the_models_own_env_shows(name) -> None:
    """Observations, rewards, ends and last observations, from the same seed and actions."""
    model = frozen(model_of(name))
    packing = Packing(model.observation_space)
    env, actions = host_env(model), chosen(model)
    assert isinstance(env, HostEnv)
    running = env.start(1)
    first, *rows = played(model.get_env(), 3, actions)
    np.testing.assert_array_equal(running.reset([3]), packing.pack(first))
    ends = 0
    for action, (seen, reward, ended, truncated, last) in zip(actions, rows, strict=True):
        step = running.step(np.asarray(action)[None])
        np.testing.assert_array_equal(step.observation, packing.pack(seen))
        assert step.reward[0] == reward
        assert (step.terminated[0], step.truncated[0]) == (ended and not truncated, truncated)
        if ended:
            expected = np.asarray(packing.pack(last), env.observation_space.dtype)
            np.testing.assert_array_equal(step.final_observation[0], expected)
            ends += 1
    running.close()
    assert ends


@pytest.mark.parametrize("name", STACKS)
def test_the_models_env_goes_on_as_if_no_copy_had_been_made(name) -> None:
    """Two models of one kind; the envs of one are copied in the midst of an episode."""
    ours, theirs = model_of(name), model_of(name)
    actions = chosen(ours)
    for model in (ours, theirs):
        played(model.get_env(), 5, actions[:3])
    running = host_env(ours).start(2)
    running.reset([1, 2])
    for action in actions:
        running.step(np.stack([action, action]))
    running.close()
    for action in actions:
        for one, other in zip(*(step(model, action) for model in (ours, theirs)), strict=True):
            np.testing.assert_array_equal(one, other)


def step(model: PPO, action: Any) -> list[np.ndarray]:
    seen, *rest, _ = model.get_env().step(np.asarray(action)[None])
    return [*(seen.values() if isinstance(seen, dict) else [seen]), *rest]


def test_a_reset_takes_the_episode_that_has_begun_unless_it_brings_a_seed() -> None:
    one = host_env(model_of("pictures")).start_one()
    begun, _ = one.reset(seed=1)
    for _ in range(6):
        last, _, terminated, _, _ = one.step(0)
    assert terminated
    seen = one.vec_env.venv.stacked_obs.stacked_obs[0].transpose(2, 0, 1).copy()
    following, _ = one.reset()
    np.testing.assert_array_equal(following, seen)
    assert (following != last).any() and (one.reset()[0] != following).any()
    for _ in range(6):
        one.step(0)
    np.testing.assert_array_equal(one.reset(seed=1)[0], begun)


def test_frozen_moments_stay_as_they_were() -> None:
    model = model_of("normalised")
    normaliser = model.get_vec_normalize_env()
    env, scale = host_env(model), np.sqrt(normaliser.ret_rms.var + normaliser.epsilon)
    normaliser.ret_rms.var *= 100
    normaliser.obs_rms.mean += 5
    one = env.start_one()
    assert not one.vec_env.training and one.vec_env.ret_rms is not normaliser.ret_rms
    one.reset(seed=0)
    _, reward, *_ = one.step(np.zeros(1, np.float32))
    assert 0 > reward == pytest.approx(max(one.vec_env.old_reward[0] / scale, -0.7))


def test_time_limits_and_names_are_known() -> None:
    assert [host_env(model_of(name)).time_limit for name in ("normalised", "pictures")] == [9, None]
    assert env_name(model_of("normalised")) == host_env(model_of("normalised")).id == "Pendulum-v1"
    assert env_name(model_of("pictures")) == "Picture"
    assert not host_env(model_of("CartPole")).copyable


@pytest.mark.parametrize("kind", [Stubborn, Sampled])
def test_copies_of_an_env_that_ignores_seeds_have_luck_of_their_own(kind) -> None:
    model = model_in(DummyVecEnv([kind]))
    running = host_env(model).start(2)
    first = running.reset([1, 2])
    assert (first[0] != first[1]).all()
    np.testing.assert_array_equal(running.reset([1, 2]), first)


def test_a_space_of_the_class_draws_nothing_for_copies() -> None:
    model = model_in(DummyVecEnv([Sampled]))
    Sampled.observation_space.seed(0)
    expected = [Sampled.observation_space.sample() for _ in range(2)]
    Sampled.observation_space.seed(0)
    running = host_env(model).start(2)
    running.reset([1, 2])
    running.step(np.zeros(2, int))
    np.testing.assert_array_equal([model.get_env().reset()[0] for _ in range(2)], expected)


def test_actions_are_sent_as_sb3_sends_them() -> None:
    """It counts from 0 whatever the space says."""
    model = model_in(DummyVecEnv([Stubborn]))
    model.learn(8)
    one = host_env(model).start_one()
    assert one.action_space == Discrete(2)
    one.reset(seed=0)
    one.step(1)
    assert one.unwrapped.actions[-1] == 1 and set(one.unwrapped.actions) <= {0, 1}


# Where the envs come from: a copy, a spec, or the user.


def pole() -> gymnasium.Env:
    return made("CartPole-v1")


class Unrecorded(gymnasium.Wrapper):
    """A wrapper that no spec can tell of."""


def test_an_env_that_cannot_be_copied_is_made_by_its_spec_or_refused() -> None:
    with pytest.raises(UsageError, match=r"Locked.* cannot be copied") as refused:
        host_env(model_in(DummyVecEnv([Locked])))
    assert "pass env=" in refused.value.fix

    def registered() -> gymnasium.Env:
        env = made("CartPole-v1", 8)
        env.unwrapped.held = (step for step in range(3))
        return Monitor(env)

    assert host_env(model_in(DummyVecEnv([registered]))).time_limit == 8
    with pytest.raises(UsageError, match="cannot be copied"):
        host_env(model_in(DummyVecEnv([lambda: Unrecorded(registered())])))


def test_envs_in_other_processes_are_made_by_their_spec() -> None:
    """With the options they were made with; the worker goes on working."""
    vectors = SubprocVecEnv([lambda: Monitor(gymnasium.make("Pendulum-v1", g=2.0))])
    try:
        env = host_env(model_in(VecNormalize(vectors)))
        assert env.id == "Pendulum-v1" and env.time_limit == 200
        one = env.start_one()
        assert one.unwrapped.g == 2.0 and "Monitor" not in str(one)
        vectors.env_method("reset")
    finally:
        vectors.close()


class FromAbroad(SubprocVecEnv):
    """Answers like workers whose env says of itself what it is told to say."""

    def __init__(self, text: str) -> None:
        self.num_envs, self.waiting, self.closed = 1, False, True
        self.observation_space, self.action_space = Box(-1, 1, (2,)), Discrete(2)
        self.reset_infos, self.render_mode, self._text = [{}], None, text

    def env_method(self, method_name: str, *_: Any, **__: Any) -> list[Any]:
        assert method_name == "__str__", "only a text is always safe to ask for"
        return [self._text]

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        raise AssertionError(attr_name)


@pytest.mark.parametrize(
    ("text", "why"),
    [("<Monitor<Own instance>>", "no spec"), ("<Scaled<TimeLimit<Pole<Pole-v1>>>>", "Scaled")],
)
def test_envs_in_other_processes_without_a_spec_are_refused(text, why) -> None:
    model = model_in(DummyVecEnv([pole]))
    model.env = FromAbroad(text)
    with pytest.raises(UsageError, match=why) as refused:
        host_env(model)
    assert "pass env=" in refused.value.fix
    assert env_name(model) in ("Own", "Pole-v1")


def test_a_given_env_is_checked() -> None:
    model = model_in(DummyVecEnv([pole]))
    assert host_env(model, env="CartPole-v1").time_limit == 500
    assert host_env(model, env=lambda: TimeLimit(made("CartPole-v1"), 3)).time_limit == 3
    own, shared = model.get_env().envs[0], made("CartPole-v1")
    for env in (lambda: own, lambda: shared):
        with pytest.raises(UsageError, match="in use"):
            host_env(model, env=env)
    for env, why in (("Pendulum-v1", "policy takes"), (own, "neither"), ("No-v0", "built")):
        with pytest.raises(UsageError, match=why):
            host_env(model, env=env)
    model.env = None
    with pytest.raises(UsageError, match="no env"):
        host_env(model)
    assert host_env(model, env="CartPole-v1").start_one().observation_space.shape == (4,)


def test_observations_that_sb3_cannot_read_are_refused() -> None:
    """Its one-hot code of 1 to 3 in three places fails at 3, and is wrong before."""

    class Shifted(Picture):
        observation_space = Discrete(3, start=1)

    with pytest.raises(UsageError, match="start at 0"):
        host_env(model_in(DummyVecEnv([Shifted])))
