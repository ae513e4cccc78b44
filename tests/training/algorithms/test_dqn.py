"""DQN: the Q-values of a table, the same bytes twice, resumed as if unbroken, stopped by a NaN."""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from tests.training.small_runs import StopAfter, content

from nbyt.envs import tabular
from nbyt.errors import EnvError, RunInterruptedError, StoreError
from nbyt.policy.files import read_stage
from nbyt.store.files import CHECKPOINT, METRICS
from nbyt.store.run import Folder, open_run, verify
from nbyt.training import loop
from nbyt.training.algorithms.dqn import DQNAlgorithm
from nbyt.training.dqn import DQNPlan, DQNSettings, ReplayLayout
from nbyt.training.plan import stage_updates

LAYOUT = ReplayLayout(envs=2, steps=4, minibatch=16, buffer=400, warm_up=100)
SETTINGS = DQNSettings(network="8", anneal=True, double=True, target_every=60)


def plan(env: str = "gymnax:CartPole-v1", updates: int = 400, **changes: object) -> DQNPlan:
    settings = changes.pop("settings", SETTINGS)
    layout = changes.pop("layout", LAYOUT)
    stages = stage_updates(updates)
    return DQNPlan(env, layout, updates * layout.fresh, 3, settings, stages, **changes)


def run(wanted: DQNPlan, folder: Path, *listeners: object) -> loop.Result:
    return loop.train(wanted, open_run(folder, wanted.identity()), listeners)


def chain() -> tabular.TabularEnv:
    """Four states in a row: right leads on and pays 1 at the end, left ends with nothing."""
    transition = np.zeros((4, 2, 4))
    reward, terminated = np.zeros((4, 2, 4)), np.zeros((4, 2, 4), bool)
    for state in range(4):
        transition[state, 0, state], terminated[state, 0, state] = 1, True
        ahead = min(state + 1, 3)
        transition[state, 1, ahead] = 1
    reward[3, 1, 3], terminated[3, 1, 3] = 1.0, True
    return tabular.from_arrays(transition, reward, terminated, np.eye(4)[0], id="tabular:chain")


@pytest.mark.learns
@pytest.mark.parametrize("double", [False, True])
@pytest.mark.parametrize("optimizer", ["adam", "rmsprop", "sgd"])
def test_q_values_of_a_table_are_found(double: bool, optimizer: str) -> None:
    rate = {"adam": 0.02, "rmsprop": 0.02, "sgd": 2.0}[optimizer]
    settings = DQNSettings(
        gamma=0.5, learning_rate=rate, double=double, optimizer=optimizer, target_every=20,
        epsilon_end=1.0, anneal=True,
    )  # fmt: skip
    layout = ReplayLayout(envs=4, steps=2, minibatch=32, gradient_steps=4, buffer=800)
    algorithm = DQNAlgorithm(DQNPlan("tabular:chain", layout, 6_000, 0, settings, (1,)), chain())
    for made in algorithm.updates(1):
        algorithm.row(made)
    wanted = np.array([[0, 0.125], [0, 0.25], [0, 0.5], [0, 1.0]])
    assert np.abs(np.asarray(algorithm.params.actor["logits"]) - wanted).max() < 0.01


@pytest.mark.learns
def test_a_time_limit_is_no_death() -> None:
    """One state that pays 1 for ever, cut after 5 steps: worth 1 / (1 - gamma), not 5."""
    sure = np.ones((1, 1, 1))
    env = tabular.from_arrays(sure, sure, sure == 0, [1.0], time_limit=5, id="tabular:forever")
    settings = DQNSettings(gamma=0.5, learning_rate=0.05, target_every=10)
    layout = ReplayLayout(minibatch=16, buffer=400, warm_up=16)
    algorithm = DQNAlgorithm(DQNPlan("tabular:forever", layout, 4_000, 0, settings, (1,)), env)
    for made in algorithm.updates(1):
        row = algorithm.row(made)
    assert abs(float(algorithm.params.actor["logits"][0, 0]) - 2.0) < 0.02
    assert row["mean_return"] == 5.0


def test_the_same_run_gives_the_same_bytes_and_stages_do_not_change_it(tmp_path: Path) -> None:
    for name in ("one", "two"):
        run(plan(), tmp_path / name)
    assert content(tmp_path / "one") == content(tmp_path / "two")
    assert verify(tmp_path / "one") == []
    wanted = plan()
    other = DQNPlan(wanted.env, LAYOUT, wanted.total, 3, SETTINGS, (77, 400))
    run(other, tmp_path / "other")
    same = [
        read_stage(tmp_path / name / f"stage-{n}", "dqn") for name, n in (("one", 3), ("other", 2))
    ]
    for one, two in zip(*(jax.tree.leaves(stage.params) for stage in same), strict=True):
        assert np.array_equal(one, two)


@pytest.mark.parametrize("env", ["gymnax:CartPole-v1", "gym:CartPole-v1"])
def test_an_interrupted_run_resumes(tmp_path: Path, env: str) -> None:
    with pytest.raises(RunInterruptedError):
        run(plan(env), tmp_path / "broken", StopAfter(125))
    saved = Folder(tmp_path / "broken").read(CHECKPOINT)
    assert saved is not None and saved[1].updates < 400
    run(plan(env), tmp_path / "broken")
    run(plan(env), tmp_path / "whole")
    if env.startswith("gymnax"):  # a simulator on the host cannot be saved, and starts anew
        assert content(tmp_path / "whole") == content(tmp_path / "broken")
    rows = [Folder(tmp_path / name).read(METRICS) for name in ("whole", "broken")]
    assert [row["update"] for row in rows[0]] == [row["update"] for row in rows[1]]


def test_a_stage_is_read_back_and_not_taken_for_another(tmp_path: Path) -> None:
    result = run(plan(), tmp_path)
    stage = read_stage(Path(result.stages[-1]), "dqn")
    assert stage.facts["algo"] == "dqn" and float(stage.params.actor["epsilon"]) == 0
    assert stage.policy.values(stage.params, jnp.zeros((5, 4))).shape == (5, 2)
    with pytest.raises(StoreError, match="a stage of 'dqn'"):
        read_stage(Path(result.stages[-1]))


@pytest.mark.parametrize(
    ("env", "where"),
    [
        ("tests.training.lying_envs:NaNReward", "env 0, step 7, seed 3, action "),
        ("tests.training.lying_envs:nan_observation", "env "),
    ],
)
def test_a_nan_stops_the_run_or_is_left_out(tmp_path: Path, env: str, where: str) -> None:
    with pytest.raises(EnvError, match="not finite") as error:
        run(plan(env), tmp_path / "stops")
    assert error.value.where.startswith(where)
    lenient = DQNSettings(network="8", on_nonfinite="drop")
    run(plan(env, settings=lenient), tmp_path / "goes-on")
    rows = Folder(tmp_path / "goes-on").read(METRICS)
    assert sum(row["dropped"] for row in rows) > 0
    assert rows[-1]["loss"] is not None


@pytest.mark.parametrize(
    ("env", "network"),
    [
        ("tests.training.toy_envs:Pictures", "auto"),
        ("envpool:CartPole-v1", "8"),
        ("tabular:CliffWalking-v1", "auto"),
    ],
)
def test_it_learns_from_every_kind_of_observation(tmp_path: Path, env: str, network: str) -> None:
    """Bytes of large pictures stay bytes on the host; filler rows after a reset do not count."""
    if env.startswith("envpool:"):
        pytest.importorskip("envpool")
    layout = ReplayLayout(envs=2, steps=2, minibatch=8, buffer=64, warm_up=16)
    settings = DQNSettings(network=network, learning_rate=0.01)
    run(plan(env, updates=6, layout=layout, settings=settings), tmp_path)
    stages = [read_stage(tmp_path / f"stage-{number}", "dqn") for number in (1, 3)]
    before, after = (jax.tree.leaves(stage.params) for stage in stages)
    assert any(not np.array_equal(*pair) for pair in zip(before, after, strict=True))
    assert Folder(tmp_path).read(METRICS)[-1]["loss"] is not None
