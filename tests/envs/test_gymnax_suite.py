"""Laws of gymnax envs: whichever id resolves keeps the promises of a DeviceEnv."""

import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium.spaces import Discrete

from nbyt.envs import gymnax_suite
from nbyt.envs.protocol import DeviceEnv
from nbyt.errors import EnvUsageError

CLASSIC = ["Acrobot-v1", "CartPole-v1", "MountainCar-v0", "MountainCarContinuous-v0", "Pendulum-v1"]
FAMILIES = ("-MinAtar", "-bsuite")
NAMES = CLASSIC + [name for name in gymnax_suite.names() if name.endswith(FAMILIES)]
ENVS = 3


def signature(tree):
    """Shape, dtype and weakness of every array: what a compiled program is chosen by."""
    return jax.tree.map(lambda x: (x.shape, x.dtype, x.weak_type), tree)


def sampled_actions(env) -> jax.Array:
    env.action_space.seed(0)
    return jnp.asarray(np.stack([env.action_space.sample() for _ in range(ENVS)]))


def jitted(function):
    """The function for N envs, compiled in a hurry: these few calls need no fast program."""
    hurry = {"xla_backend_optimization_level": 0, "xla_cpu_use_fusion_emitters": False}
    return jax.jit(jax.vmap(function), compiler_options=hurry)


def test_the_families_are_whole() -> None:
    assert len(NAMES) == 5 + 5 + 7
    assert set(NAMES) <= set(gymnax_suite.names())


def found_or_refused(name):
    """The env, or None for the one that downloads its images where there is no network."""
    try:
        return gymnax_suite.find(name)
    except EnvUsageError as error:
        refused = error
    assert name == "MNISTBandit-bsuite" and "Error: " in refused.message
    assert refused.where == f"gymnax:{name}" and "network" in refused.fix
    return None


@pytest.mark.parametrize("name", NAMES)
def test_an_env_keeps_its_promises_or_is_refused_with_a_reason(name) -> None:
    env = found_or_refused(name)
    if env is None:
        return
    assert isinstance(env, DeviceEnv) and env.id == f"gymnax:{name}"
    assert gymnax_suite.find(name) is env
    keys, actions = jax.random.split(jax.random.key(0), ENVS), sampled_actions(env)
    state, observation = jitted(env.reset)(keys)
    step = jitted(env.step)
    first = step(keys, state, actions)
    second = step(keys, first.state, actions)
    assert step._cache_size() == 1
    check_arrays(env, state, observation, first)
    check_time_limit(env, step, keys, second.state, actions)


def check_arrays(env, state, observation, first) -> None:
    """A step gives the arrays that a reset gives, and those that the spaces announce."""
    assert signature(first.state) == signature(state)
    assert signature(first.observation) == signature(observation)
    assert not any(leaf.weak_type for leaf in jax.tree.leaves((state, observation, first)))
    assert observation.shape == (ENVS, *env.observation_space.shape)
    whole = isinstance(env.observation_space, Discrete)
    assert observation.dtype == (jnp.int32 if whole else jnp.float32)
    assert first.reward.shape == (ENVS,) and first.reward.dtype == jnp.float32
    for end in (first.terminated, first.truncated):
        assert end.shape == (ENVS,) and end.dtype == bool
    assert all(bool(jnp.isfinite(x).all()) for x in (observation, first.observation, first.reward))


def check_time_limit(env, step, keys, state, actions) -> None:
    """The step that reaches the limit ends the episode, in one way; the one before does not."""
    for left, cut in ((1, True), (2, False)):
        clock = jnp.full_like(state.time, env.time_limit - left)
        made = step(keys, state.replace(time=clock), actions)
        assert not (made.terminated & made.truncated).any()
        if cut:
            assert (made.terminated | made.truncated).all()
        else:
            assert not made.truncated.any()
    assert step._cache_size() == 1


def test_a_walk_to_the_limit_is_truncated_there_and_only_there() -> None:
    """MountainCar with its engine off never arrives: the end is the time limit, at step 200."""
    env = gymnax_suite.find("MountainCar-v0")

    def one(state, key):
        made = env.step(key, state, jnp.int32(1))
        return made.state, (made.terminated, made.truncated)

    key = jax.random.key(0)
    ends = jax.jit(lambda: jax.lax.scan(one, env.reset(key)[0], jax.random.split(key, 200))[1])()
    assert not ends[0].any()
    np.testing.assert_array_equal(np.flatnonzero(ends[1]), [199])


def test_a_death_in_the_last_step_is_a_death() -> None:
    """CartPole far off the track, at its last step: terminated, and not truncated too."""
    env = gymnax_suite.find("CartPole-v1")
    state, _ = env.reset(jax.random.key(0))
    made = env.step(jax.random.key(0), state.replace(x=100.0, time=499), jnp.int32(0))
    assert made.terminated and not made.truncated


def test_an_unknown_id_is_none() -> None:
    assert gymnax_suite.find("Nope-v0") is None


def test_importing_the_suite_imports_no_plotting() -> None:
    code = (
        "import sys; from nbyt.envs import gymnax_suite; gymnax_suite.find('CartPole-v1');"
        "print(sorted({name.partition('.')[0] for name in sys.modules}"
        " & {'matplotlib', 'seaborn', 'gymnax'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['gymnax']"


def test_plotting_works_when_it_is_used() -> None:
    """The stand-ins fetch the real packages on first use."""
    code = (
        "from nbyt.envs.gymnax_suite import deferred\n"
        "with deferred():\n"
        "    import matplotlib.pyplot as plt, matplotlib.colors as colors\n"
        "import matplotlib; matplotlib.use('agg')\n"
        "print(type(plt.figure()).__name__, colors.to_rgb('red'))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "Figure (1.0, 0.0, 0.0)"
