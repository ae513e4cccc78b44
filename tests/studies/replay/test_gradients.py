"""Frozen buffers: labels and a tiny run beside brute force, and verdicts that follow data."""

import json
from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest

from nbyt.training.dqn import ReplayLayout
from nbyt.training.losses import Transitions
from nbyt_studies.experiment import Context
from nbyt_studies.replay import trainings
from nbyt_studies.replay.claims import correlation, sizes
from nbyt_studies.replay.experiments import gradients
from nbyt_studies.replay.trainings import episodes, states
from nbyt_studies.study import Study, read_claims

CLAIMS = read_claims("nbyt_studies.replay", {**correlation.EVIDENCE, **sizes.EVIDENCE})
BY_ID = {claim.id: claim for claim in CLAIMS}
SIZES = (1, 32, 256)
EXPERIMENTS = gradients.EXPERIMENTS


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Two short runs of a table."""
    small = ReplayLayout(1, 4, 64, buffer=1024, warm_up=1024)
    task = replace(trainings.TASKS[2], layout=small, moments=(1024, 1536, 2048))
    study = Study("tiny", "tiny", "tiny", EXPERIMENTS, CLAIMS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trainings, "TASKS", (task,))
        patch.setattr(gradients, "SEEDS", (2, 2))
        patch.setattr(gradients, "SIZES", SIZES)
        # One rewarded transition in a buffer is in few mini-batches: enough of them are drawn.
        patch.setattr(gradients, "DRAWS", dict.fromkeys(gradients.DRAWS, 10000))
        patch.setattr(gradients, "SIZES", SIZES)
        patch.setattr(gradients, "ROUNDS", (2, 2))
        folder = study.open_folder(tmp_path_factory.mktemp("study"), quick=True, seed=0)
        context = Context(folder, 0, True, lambda what, done, total: None)
        return {one.name: one.run(context) for one in EXPERIMENTS}


def rows(observation: list, following: list, terminated: list[bool]) -> Transitions:
    count = len(observation)
    zeros = np.zeros(count, np.float32)
    return Transitions(
        np.array(observation),
        zeros.astype(np.int32),
        zeros,
        np.array(terminated),
        np.array(following),
        np.ones(count, bool),
    )


def test_episodes_end_by_death_and_where_time_was_up() -> None:
    #                          dies             is cut at 9
    made = rows([0, 1, 0, 5, 0], [1, 0, 5, 9, 1], [False, True, False, False, False])
    assert episodes(made).tolist() == [0, 0, 1, 1, 2]


def test_states_are_exact_for_whole_numbers_and_cells_for_others() -> None:
    none = [False] * 4
    assert len(set(states(rows([3, 4, 3, 9], [0] * 4, none)))) == 3
    near = rows([[0.0, 1.0], [0.01, 1.0], [0.9, 1.0], [2.0, 1.0]], [[0, 0]] * 4, none)
    first, same, *others = states(near)
    assert first == same
    assert len({first, *others}) == 3


def test_draws_agree_with_what_is_calculated(results) -> None:
    data = results["gradients"]
    for case in data["cases"]:
        for seed in case["seeds"]:
            assert seed["rows"] == 1024
            place = data["sizes"].index(32)
            for sampling, exact in seed["exact"].items():
                drawn = seed["drawn"][sampling]["32"]["square"]
                assert drawn == pytest.approx(exact[place], rel=0.35)
            for kinds in seed["variety"].values():
                for one in kinds:
                    for sampling, drawn in one["drawn"].items():
                        expected = one["expected"].get(sampling, drawn)
                        assert drawn == pytest.approx(expected, rel=0.25)
            assert seed["progress"]["shares"][2] > seed["progress"]["shares"][0]


def test_every_size_is_timed(results) -> None:
    (case,) = results["step-seconds"]["cases"]
    assert case["sizes"] == [*SIZES, 1024]
    assert case["ratios"][case["sizes"].index(32)]["value"] == 1
    assert all(one["value"] > 0 for one in case["seconds"])


def _as_claimed(results, good: bool):
    """The data with everything as the claims say, or the other way round."""
    changed = deepcopy(results)
    data = changed["gradients"]
    sizes = data["sizes"]
    for case in data["cases"]:
        for at, seed in enumerate(case["seeds"]):
            single = 100.0 + at if good else 1e6
            near = seed["exact"]
            near["uniform"] = [single / size for size in sizes]
            # Neighbours are noisier, or less noisy; in the second case all the data are odd.
            near["sequential"] = [single * (2.0 if good else 0.5) / size for size in sizes]
            near["sequential"][0] = single
            seed["square"] = 1.0
            seed["correlation"] = {
                key: [(0.5 if good else -0.5) + at / 100] * len(values)
                for key, values in seed["correlation"].items()
            }
            for sampling, drawn in seed["drawn"].items():
                for size, one in drawn.items():
                    exact = near[sampling][sizes.index(int(size))]
                    one["square"] = exact if good else exact * 400
                    one["cosine"] = float(size) / 300 if good else 1 - float(size) / 300
            for kinds in seed["variety"].values():
                for one in kinds:
                    one["drawn"] = {"uniform": 20 + at, "sequential": 5 if good else 40}
    for case in changed["step-seconds"]["cases"]:
        for size, one in zip(case["sizes"], case["ratios"], strict=True):
            one["value"] = (100 + size) / (100 + 32) if good else 1.0
    return changed


@pytest.mark.parametrize("name", BY_ID)
def test_the_verdict_follows_the_data_both_ways(results, name) -> None:
    good, bad = (BY_ID[name].judged(_as_claimed(results, claimed)) for claimed in (True, False))
    if BY_ID[name].kind == "identity":
        assert good["counts"]["no"] == 0 < bad["counts"]["no"]
        return
    assert good["word"] == "holds"
    # Not everything can be turned round at once: a claim that fails anywhere does not "hold".
    assert bad["word"] != "holds"


def test_claims_and_data_are_plain(results) -> None:
    assert json.loads(json.dumps(results, allow_nan=False)) == results
    for claim in CLAIMS:
        found = claim.judged(results)
        assert json.loads(json.dumps(found, allow_nan=False)) == found
