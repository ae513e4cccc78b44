"""Laws of finding an env: which suite a bare id means, and what a wrong one is told."""

import sys

import gymnasium
import pytest

from nbyt.envs import classic, gymnasium_suite, gymnax_suite, resolve, tabular
from nbyt.envs.protocol import DeviceEnv, HostEnv
from nbyt.errors import EnvUsageError


@pytest.mark.parametrize(
    ("bare", "meant"),
    [
        ("FrozenLake-v1", "tabular:FrozenLake-v1"),
        ("Taxi-v4", "tabular:Taxi-v4"),
        ("CliffWalkingSlippery-v1", "tabular:CliffWalkingSlippery-v1"),
        ("CartPole-v1", "classic:CartPole-v1"),
        ("Breakout-MinAtar", "gymnax:Breakout-MinAtar"),
        ("Blackjack-v1", "gym:Blackjack-v1"),
        ("MountainCarContinuous-v0", "classic:MountainCarContinuous-v0"),
    ],
)
def test_a_bare_id_means_tables_then_classic_then_gymnax_then_gymnasium(bare, meant) -> None:
    assert resolve(bare).id == meant
    assert resolve(meant).id == meant


@pytest.mark.parametrize(
    ("full", "kind"),
    [
        ("gym:FrozenLake-v1", gymnasium_suite.GymnasiumEnv),
        ("gym:CartPole-v1", gymnasium_suite.GymnasiumEnv),
        ("classic:CartPole-v1", classic.ClassicEnv),
        ("gymnax:CartPole-v1", gymnax_suite.GymnaxEnv),
        ("tabular:FrozenLake-v1", tabular.TabularEnv),
    ],
)
def test_a_prefix_decides(full, kind) -> None:
    assert isinstance(resolve(full), kind)


@pytest.mark.parametrize(
    ("typo", "meant"),
    [
        ("CartPol-v1", "CartPole-v1"),
        ("gym:Cartpole-v1", "CartPole-v1"),
        ("gymnax:Breakout-MinAtr", "Breakout-MinAtar"),
        ("FrozenLak-v1", "FrozenLake-v1"),
        ("tabular:CliffWalkin-v1", "CliffWalking-v1"),
    ],
)
def test_a_typo_is_told_what_was_meant(typo, meant) -> None:
    with pytest.raises(EnvUsageError, match="no environment is called") as error:
        resolve(typo)
    assert typo in error.value.message
    assert "did you mean" in error.value.fix and meant in error.value.fix


@pytest.mark.parametrize("name", ["", "qqqqqqqq", "gym:", "gymnax:", "tabular:CartPole-v1"])
def test_what_does_not_exist_is_refused_with_the_kinds_of_ids(name) -> None:
    with pytest.raises(EnvUsageError, match="no environment is called") as error:
        resolve(name)
    assert "package.module:make" in error.value.fix


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("users_one.make", "users_one:make"),
        ("users_pack.inner.make", "users_pack.inner:make"),
        ("users_one.py:make", "users_one:make"),
        ("users_pack/inner.py:make", "users_pack.inner:make"),
    ],
)
def test_a_function_named_another_way_is_told_how(typed, meant, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "users_pack").mkdir()
    for name in ("users_one.py", "users_pack/inner.py"):
        (tmp_path / name).write_text("raise SystemExit('imported')")
    with pytest.raises(EnvUsageError) as error:
        resolve(typed)
    assert f"did you mean {meant}?" in error.value.fix


CODE = """
import gymnasium
from gymnasium.envs.classic_control import CartPoleEnv, PendulumEnv as Pendulum
from nbyt.envs import tabular

def make():
    return gymnasium.make("CartPole-v1")

def make_device():
    return tabular.from_arrays([[[1.0]]], [[[0.0]]], [[[True]]], [1.0], id="tabular:mine")

def make_host():
    from nbyt.envs import resolve
    return resolve("gym:Taxi-v4")

ready = make_device()

def raising():
    raise ZeroDivisionError("the user's own words")

def leaving():
    raise SystemExit(3)

def nothing():
    return None

def needy(size):
    return make()

class Clinging(CartPoleEnv):
    def close(self):
        raise RuntimeError("I stay")

number = 7
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working directory with modules of a user's, forgotten again afterwards."""
    (tmp_path / "users_envs.py").write_text(CODE)
    (tmp_path / "users_broken.py").write_text("def make(:\n")
    (tmp_path / "users_raising.py").write_text("1 / 0\n")
    (tmp_path / "users_leaving.py").write_text("raise SystemExit('bye')\n")
    package = tmp_path / "users_package"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "inner.py").write_text(CODE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [p for p in sys.path if p])
    yield tmp_path
    for name in [n for n in sys.modules if n.startswith("users_")]:
        del sys.modules[name]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("module", ["users_envs", "users_package.inner"])
def test_code_in_the_working_directory_is_found(module) -> None:
    env = resolve(f"{module}:make")
    assert isinstance(env, HostEnv) and env.id == f"{module}:make"
    assert env.observation_space.shape == (4,) and env.time_limit == 500
    running = env.start(2)
    assert running.reset([0, 1]).shape == (2, 4)
    running.close()


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", ["make_device", "ready"])
def test_a_device_env_from_a_users_module_stays_one(name) -> None:
    env = resolve(f"users_envs:{name}")
    assert isinstance(env, DeviceEnv) and not isinstance(env, HostEnv)
    assert env.id == f"users_envs:{name}", "what the user typed finds it again"


@pytest.mark.usefixtures("folder")
def test_a_class_and_a_host_env_and_an_env_that_will_not_close_are_found() -> None:
    assert resolve("users_envs:Pendulum").action_space.shape == (1,)
    assert resolve("users_envs:make_host").id == "users_envs:make_host"
    assert resolve("users_envs:Clinging").observation_space.shape == (4,)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("users_envs:raising", "raised ZeroDivisionError: the user's own words"),
        ("users_envs:leaving", "raised SystemExit: 3"),
        ("users_envs:needy", "raised TypeError: .*size"),
        ("users_envs:nothing", "returned NoneType, not an environment"),
        ("users_envs:number", "is not an environment nor a function"),
        ("users_envs:missing", "cannot be imported: AttributeError: .*missing"),
        ("users_absent:make", "cannot be imported: ModuleNotFoundError: .*users_absent"),
        ("users_broken:make", "cannot be imported: SyntaxError"),
        ("users_raising:make", "cannot be imported: ZeroDivisionError"),
        ("users_leaving:make", "cannot be imported: SystemExit: bye"),
        (":make", "cannot be imported"),
        ("..up:make", "cannot be imported"),
        ("users_envs:make:more", "cannot be imported"),
    ],
)
def test_code_that_makes_no_env_is_refused_in_its_own_words(name, message) -> None:
    with pytest.raises(EnvUsageError, match=message) as error:
        resolve(name)
    assert error.value.where == "env" and error.value.fix


def test_an_environment_passes_through() -> None:
    env = resolve("FrozenLake-v1")
    assert resolve(env) is env
    host = resolve("gym:Taxi-v4")
    assert resolve(host) is host


def test_a_factory_may_be_given_itself() -> None:
    env = resolve(lambda: gymnasium.make("CartPole-v1"))
    assert isinstance(env, HostEnv) and env.time_limit == 500


@pytest.mark.parametrize("thing", [7, None, object(), ["CartPole-v1"]])
def test_a_thing_that_is_no_env_is_refused(thing) -> None:
    with pytest.raises(EnvUsageError, match="is not an environment nor a function"):
        resolve(thing)
