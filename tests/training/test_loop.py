"""Runs: the same bytes twice, resumed as if unbroken, stopped by a NaN, never half-saved."""

import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file
from tests.training.small_runs import StopAfter, content, plan, run

from nbyt.errors import EnvError, RunInterruptedError, StoreError
from nbyt.policy.files import read_stage
from nbyt.store.files import CHECKPOINT, METRICS, STAGE
from nbyt.store.run import Folder, open_run, verify
from nbyt.training.loop import kept_stages, train
from nbyt.training.plan import PPOSettings


def test_the_same_run_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        run(plan(), tmp_path / name)
    assert content(tmp_path / "one") == content(tmp_path / "two")
    assert verify(tmp_path / "one") == []


@pytest.mark.parametrize("stop", [1, 3])
def test_an_interrupted_run_resumes_bit_for_bit(tmp_path: Path, stop: int) -> None:
    run(plan(), tmp_path / "whole")
    with pytest.raises(RunInterruptedError):
        run(plan(), tmp_path / "broken", StopAfter(stop))
    assert not (tmp_path / "broken" / "result.json").exists()
    assert verify(tmp_path / "broken") == []
    run(plan(), tmp_path / "broken")
    assert content(tmp_path / "whole") == content(tmp_path / "broken")
    assert not list((tmp_path / "broken").glob("checkpoint*"))


KILLED = """
import sys
from pathlib import Path
from nbyt.training import loop
from tests.training.small_runs import plan, run
loop._CHECKPOINT_SECONDS = 0.0
class Die:
    def on_update(self, row):
        if row["update"] == 5:
            import os, signal
            os.kill(os.getpid(), signal.SIGKILL)
run(plan(), Path(sys.argv[1]), Die())
"""


@pytest.mark.own_process
def test_a_killed_run_resumes_bit_for_bit(tmp_path: Path) -> None:
    """kill -9 leaves no chance to save; the run goes on from its last checkpoint."""
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "killed")])
    assert done.returncode == -signal.SIGKILL
    saved = Folder(tmp_path / "killed").read(CHECKPOINT)
    assert saved is not None and 1 <= saved[1].updates < 5
    run(plan(), tmp_path / "killed")
    run(plan(), tmp_path / "whole")
    assert content(tmp_path / "whole") == content(tmp_path / "killed")


def test_a_host_run_resumes_its_weights(tmp_path: Path) -> None:
    wanted = plan("gym:CartPole-v1")
    with pytest.raises(RunInterruptedError):
        run(wanted, tmp_path, StopAfter(2))
    begun = Folder(tmp_path).read(CHECKPOINT)
    assert begun is not None
    result = run(wanted, tmp_path)
    assert len(Folder(tmp_path).read(METRICS)) == 6
    assert result.final_return.replicates >= 20


def test_stages_hold_the_policy_of_their_update(tmp_path: Path) -> None:
    wanted = plan()
    result = run(wanted, tmp_path)
    stages = [read_stage(Path(path)) for path in result.stages]
    assert [stage.facts["updates"] for stage in stages] == list(wanted.stages)
    assert all(stage.facts["env"] == "gymnax:CartPole-v1" for stage in stages)
    first, last = (stage.params.actor["head"]["w"] for stage in (stages[0], stages[-1]))
    assert not np.array_equal(first, last)
    assert stages[0].params.observation is not None


def test_stages_of_tables_are_logits_and_values(tmp_path: Path) -> None:
    wanted = plan("tabular:FrozenLake-v1", settings=PPOSettings())
    stage = Path(run(wanted, tmp_path).stages[-1])
    tensors = load_file(stage / "stage.safetensors")
    assert {name: array.shape for name, array in tensors.items()} == {
        "logits": (16, 4),
        "values": (16,),
    }
    np.testing.assert_array_equal(read_stage(stage).params.actor["logits"], tensors["logits"])


def test_a_nan_from_a_host_env_names_env_step_seed_and_action(tmp_path: Path) -> None:
    wanted = plan("tests.training.lying_envs:NaNReward", settings=PPOSettings(network="8"))
    with pytest.raises(EnvError) as error:
        run(wanted, tmp_path)
    assert error.value.where.startswith("env 0, step 7, seed 3, action ")
    assert "check-env" in error.value.fix
    assert not list(tmp_path.glob("stage-*")) and not (tmp_path / "result.json").exists()


def test_a_nan_from_a_device_env_names_the_env(tmp_path: Path) -> None:
    wanted = plan("tests.training.lying_envs:nan_observation", settings=PPOSettings(network="8"))
    with pytest.raises(EnvError, match="not finite") as error:
        run(wanted, tmp_path)
    assert ", step 5, seed 3" in error.value.where


@pytest.mark.parametrize("name", ["NaNReward", "nan_observation"])
def test_bad_rows_can_be_dropped(tmp_path: Path, name: str) -> None:
    settings = PPOSettings(network="8", on_nonfinite="drop")
    wanted = plan(f"tests.training.lying_envs:{name}", settings=settings)
    run(wanted, tmp_path)
    rows = Folder(tmp_path).read(METRICS)
    assert sum(row["dropped"] for row in rows) > 0
    assert all(row["policy_loss"] is not None for row in rows)
    weights = read_stage(tmp_path / "stage-3").params
    assert all(np.isfinite(layer["w"]).all() for layer in weights.actor["layers"])


def test_weights_to_begin_with(tmp_path: Path) -> None:
    run(plan(), tmp_path / "first")
    weights = read_stage(tmp_path / "first" / "stage-3").params
    wanted = plan(
        settings=PPOSettings(network="8", normalise_observations=True, learning_rate=1e-9)
    )
    train(wanted, open_run(tmp_path / "second", wanted.identity()), weights=weights)
    after = read_stage(tmp_path / "second" / "stage-3").params
    np.testing.assert_allclose(after.actor["head"]["w"], weights.actor["head"]["w"], atol=1e-6)


def test_a_stage_that_is_none_of_the_plan_is_refused(tmp_path: Path) -> None:
    run(plan(), tmp_path)
    folder = Folder(tmp_path)
    assert [one.facts["updates"] for one in kept_stages(plan(), folder)] == list(plan().stages)
    folder.path_of(STAGE, 1).rename(tmp_path / "away")
    with pytest.raises(StoreError, match="stage-1"):
        kept_stages(plan(), folder)
    folder.path_of(STAGE, 2).rename(folder.path_of(STAGE, 1))
    with pytest.raises(StoreError, match="this run keeps one after"):
        kept_stages(plan(), folder)


def test_a_checkpoint_without_its_rows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunInterruptedError):
        run(plan(), tmp_path, StopAfter(3))
    (tmp_path / "metrics.csv").write_text("update,odd\nx,1\n2,1\n")
    with pytest.raises(StoreError, match=r"metrics\.csv has 1 rows"):
        run(plan(), tmp_path)
