"""The grids on FrozenLake: plain and repeatable data, known cosines, verdicts that follow data."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nbyt_studies.experiment import Context
from nbyt_studies.post.claims.grids import EVIDENCE
from nbyt_studies.post.experiments import grids
from nbyt_studies.post.experiments.grids import along_episode, cosines, grid, leanings
from nbyt_studies.study import Study, read_claims

CLAIMS = read_claims("nbyt_studies.post", EVIDENCE)

STUDY = Study("grids", "", "", grids.EXPERIMENTS, CLAIMS)
BY_ID = {claim.id: claim for claim in CLAIMS}


def _small(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(grids, "ENV", "tabular:FrozenLake-v1")  # 4x4, with a limit of 100 steps
    patch.setattr(grids, "QUICK_UPDATES", (60, 120))
    patch.setattr(grids, "QUICK_EXACT", (120,))
    patch.setattr(grids, "QUICK_EPISODES", 16)


def _run(folder: Path) -> dict[str, Any]:
    context = Context(STUDY.open_folder(folder, quick=True, seed=0), 0, True, lambda *_: None)
    return grids.run(context)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The experiment in a small size."""
    with pytest.MonkeyPatch.context() as patch:
        _small(patch)
        return _run(tmp_path_factory.mktemp("grids") / "study")


def _word(id: str, data: dict[str, Any]) -> str:
    return BY_ID[id].judged({"grids": data})["word"]


def _number(value: float) -> dict[str, float]:
    return {"value": value, "low": value - 0.001, "high": value + 0.001}


def _everywhere(data: dict[str, Any], part: str, key: str, value: float) -> dict[str, Any]:
    """The data with one number of every stage replaced."""
    changed = deepcopy(data)
    for training in changed["trainings"].values():
        for stage in training["stages"]:
            stage[part][key] = _number(value)
    return changed


def test_the_data_are_plain_and_the_same_twice(
    data: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _small(monkeypatch)
    text = json.dumps(data, allow_nan=False)
    assert json.dumps(_run(tmp_path / "again"), allow_nan=False) == text


def test_points_have_a_norm_and_a_cosine_with_five_means(data: dict[str, Any]) -> None:
    for training in data["trainings"].values():
        for stage in training["stages"]:
            found = stage["grid"]
            assert len(found["cosine"]) == 5 and len(found["matrix"]) == 5
            assert len(found["norm"]) + found["left_out"] == 128
            assert all(len(row) == len(found["norm"]) for row in found["cosine"])


def test_every_claim_is_judged_with_plain_figures(data: dict[str, Any]) -> None:
    for claim in CLAIMS:
        found = claim.judged({"grids": data})
        assert json.dumps(found, allow_nan=False)
        assert found["figures"] and found["checks"]


def test_more_envs_agree_better_or_not_by_the_data(data: dict[str, Any]) -> None:
    for sign, word in ((1.0, "holds"), (-1.0, "does not hold")):
        changed = deepcopy(data)
        for training in changed["trainings"].values():
            training["gain"] = _number(0.02 * sign)
        for one in changed["exact"]:
            many = one["layout"] == "32x4"
            one["expected"] = 0.02 + 0.01 * sign * many
        assert _word("grids-more-envs-agree", changed) == word


@pytest.mark.parametrize(
    ("id", "part", "key", "yes", "no"),
    [
        ("grids-own-batch", "leanings", "own_less_other", 0.05, -0.05),
        ("grids-own-share", "leanings", "without_step_less_other", 0.005, 0.2),
        ("grids-along-an-episode", "episode", "mean_without", 0.3, 0.01),
    ],
)
def test_verdicts_follow_the_data(
    data: dict[str, Any], id: str, part: str, key: str, yes: float, no: float
) -> None:
    assert _word(id, _everywhere(data, part, key, yes)) == "holds"
    assert _word(id, _everywhere(data, part, key, no)) == "does not hold"


def _noise(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


def test_a_grid_holds_the_cosines_of_batch_0() -> None:
    batches = _noise(0, 6, 10, 4)
    batches[0, 3] = 0.0
    found = grid(batches)
    assert found["left_out"] == 1 and len(found["norm"]) == 9
    sample, mean = batches[0, 5], batches[2].mean(axis=0)
    truth = sample @ mean / np.linalg.norm(sample) / np.linalg.norm(mean)
    assert found["cosine"][2][4] == pytest.approx(truth, rel=1e-3)
    assert found["norm"][4] == pytest.approx(np.linalg.norm(sample), rel=1e-3)


def test_independent_samples_lean_by_their_own_share_alone() -> None:
    found = leanings(_noise(1, 64, 128, 300), envs=4)
    assert found["own"]["value"] == pytest.approx(1 / np.sqrt(128), rel=0.05)
    for key in ("without_step_less_other", "without_env_less_other"):
        assert found[key]["low"] < 0 < found[key]["high"]


def test_samples_of_one_rollout_that_share_a_direction_are_seen() -> None:
    shared = np.tile(_noise(2, 64, 1, 4, 300), (1, 32, 1, 1)).reshape(64, 128, 300)
    found = leanings(_noise(3, 64, 128, 300) + 0.5 * shared, envs=4)
    assert found["without_step_less_other"]["low"] > 0.1
    assert found["without_env_less_other"]["low"] < 0 < found["without_env_less_other"]["high"]


def test_along_an_episode_the_other_steps_say_what_is_shared() -> None:
    steps, within = _noise(4, 40, 32, 200), np.arange(40)[:, None] < np.arange(9, 41)[None]
    alone = along_episode(steps, within, 10)
    assert alone["mean_without"]["low"] < 0 < alone["mean_without"]["high"]
    assert alone["mean_with"]["low"] > 0.1
    common = along_episode(steps + _noise(5, 1, 32, 200), within, 10)
    assert common["mean_without"]["low"] > 0.5
    assert common["position"] == [5, 15, 25, 35] and common["steps"] == int(within.sum())


def test_what_is_zero_has_no_cosine() -> None:
    assert np.isnan(cosines(np.zeros((1, 3)), np.ones((1, 3)))).all()
