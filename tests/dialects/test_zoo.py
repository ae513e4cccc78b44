"""Every PPO entry of RL-Zoo, reduced to facts: what it trains was worked out by hand."""

import json

import pytest

from nbyt.dialects.dialect import load
from nbyt.dialects.explaining import Explanation, explained
from nbyt.dialects.files import read_entries

# n_envs, n_steps, batch_size, n_epochs, n_timesteps, as hyperparams/ppo.yml had them on 2026-04-23
# (None: left to Stable-Baselines3); then batch, updates, mini-batches an epoch, gradient steps of
# the run, and the one trap; then whose entries they are.
LARGER = "minibatch_larger"
ZOO = [
    ((None, None, None, None, 1e6), (2048, 489, 32, 156_480, ""), "default Ant-v4"),
    ((8, 128, 256, 4, 1e7), (1024, 9766, 4, 156_256, ""), "atari"),
    ((4, 1024, None, 10, 1e5), (4096, 25, 64, 16_000, ""), "Pendulum-v1"),
    ((8, 32, 256, 20, 1e5), (256, 391, 1, 7_820, ""), "CartPole-v1"),
    ((16, 16, None, 4, 1e6), (256, 3907, 4, 62_512, ""), "MountainCar-v0"),
    ((1, 8, 256, 10, 2e4), (8, 2500, 1, 25_000, LARGER), "MountainCarContinuous-v0"),
    ((16, 256, None, 4, 1e6), (4096, 245, 64, 62_720, ""), "Acrobot-v1"),
    ((32, 2048, 64, 10, 5e6), (65_536, 77, 1024, 788_480, ""), "BipedalWalker-v3"),
    ((16, 2048, 64, 10, 1e8), (32_768, 3052, 512, 15_626_240, ""), "BipedalWalkerHardcore-v3"),
    (
        (16, 1024, 64, 4, 1e6),
        (16_384, 62, 256, 63_488, ""),
        "LunarLander-v3 LunarLanderContinuous-v3",
    ),
    (
        (16, 512, 128, 20, 2e6),
        (8192, 245, 64, 313_600, ""),
        "HalfCheetahBulletEnv-v0 AntBulletEnv-v0 Walker2DBulletEnv-v0 HopperBulletEnv-v0",
    ),
    ((8, 512, 64, 20, 1e6), (4096, 245, 64, 313_600, ""), "ReacherBulletEnv-v0"),
    (
        (8, 2048, 64, 10, 2e6),
        (16_384, 123, 256, 314_880, ""),
        "MinitaurBulletEnv-v0 MinitaurBulletDuckEnv-v0 InvertedDoublePendulumBulletEnv-v0 "
        "InvertedPendulumSwingupBulletEnv-v0",
    ),
    ((8, 2048, 64, 10, 1e7), (16_384, 611, 256, 1_564_160, ""), "HumanoidBulletEnv-v0"),
    (
        (8, 128, 64, 10, 1e5),
        (1024, 98, 16, 15_680, ""),
        "MiniGrid-Empty-Random-5x5-v0 MiniGrid-DoorKey-5x5-v0 MiniGrid-Unlock-v0",
    ),
    ((8, 512, 64, 10, 5e6), (4096, 1221, 64, 781_440, ""), "MiniGrid-FourRooms-v0"),
    (
        (8, 128, 64, 10, 1e7),
        (1024, 9766, 16, 1_562_560, ""),
        "MiniGrid-MultiRoom-N4-S5-v0 MiniGrid-PutNear-6x6-N2-v0 MiniGrid-LockedRoom-v0 "
        "MiniGrid-ObstructedMaze-2Dlh-v0",
    ),
    (
        (8, 128, 64, 10, 5e6),
        (1024, 4883, 16, 781_280, ""),
        "MiniGrid-Fetch-5x5-N2-v0 MiniGrid-GoToDoor-5x5-v0",
    ),
    ((8, 512, 64, 10, 1e6), (4096, 245, 64, 156_800, ""), "MiniGrid-RedBlueDoors-6x6-v0"),
    ((8, 128, 64, 10, 5e5), (1024, 489, 16, 78_240, ""), "MiniGrid-KeyCorridorS3R1-v0"),
    ((8, 512, 128, 10, 4e6), (4096, 977, 32, 312_640, ""), "CarRacing-v3"),
    ((4, 1024, 256, None, 1e6), (4096, 245, 16, 39_200, ""), "Swimmer-v4"),
    ((1, 512, 64, 20, 1e6), (512, 1954, 8, 312_640, ""), "HalfCheetah-v4"),
    ((1, 512, 32, 5, 1e6), (512, 1954, 16, 156_320, ""), "Hopper-v4 Reacher-v2"),
    ((1, 512, 32, 20, 1e7), (512, 19_532, 16, 6_250_240, ""), "HumanoidStandup-v2"),
    ((1, 512, 256, 5, 1e7), (512, 19_532, 2, 195_320, ""), "Humanoid-v4"),
    ((1, 128, 512, 10, 1e6), (128, 7813, 1, 78_130, LARGER), "InvertedDoublePendulum-v2"),
    ((1, 32, 64, 5, 1e6), (32, 31_250, 1, 156_250, LARGER), "InvertedPendulum-v2"),
    ((1, 512, 32, 20, 1e6), (512, 1954, 16, 625_280, ""), "Walker2d-v4"),
]
_NAMES = ("n_envs", "n_steps", "batch_size", "n_epochs", "n_timesteps")


@pytest.fixture(scope="module")
def entries(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Explanation]:
    """All entries, read as one file the way RL-Zoo has it."""
    path = tmp_path_factory.mktemp("zoo") / "ppo.yml"
    rows = {name: _entry(facts) for facts, _, names in ZOO for name in names.split()}
    path.write_text(json.dumps(rows))
    sb3 = load("rl-zoo")
    return {
        name: explained(sb3, pairs, lenient=True) for name, pairs in read_entries(sb3, path).items()
    }


def _entry(facts: tuple[float | None, ...]) -> dict[str, object]:
    given = dict(zip(_NAMES, facts, strict=True))
    return {"policy": "MlpPolicy", **{key: value for key, value in given.items() if value}}


def test_all_44_entries_are_there(entries: dict[str, Explanation]) -> None:
    assert len(entries) == 44


@pytest.mark.parametrize(("facts", "expected", "names"), ZOO, ids=[row[2][:30] for row in ZOO])
def test_an_entry_trains_what_was_worked_out_by_hand(facts, expected, names, entries) -> None:
    batch, updates, minibatches, steps, trap = expected
    for name in names.split():
        found = entries[name]
        assert found.layout["batch"] == batch
        assert found.layout["minibatches"] == minibatches
        assert found.schedule["updates"] == updates
        assert found.schedule["gradient_steps"] == steps
        assert [one.code for one in found.traps] == ([trap] if trap else [])
