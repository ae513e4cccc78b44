"""Noise and stability, clipping, and the gradient within an update."""

import json
from copy import deepcopy
from dataclasses import replace

import pytest

from nbyt.layout import Layout
from nbyt_studies import minibatch_tasks
from nbyt_studies.experiment import Context
from nbyt_studies.post.claims.stability import EVIDENCE, rank_correlation
from nbyt_studies.post.experiments import stability, visits
from nbyt_studies.study import Study, read_claims

CLAIMS = read_claims("nbyt_studies.post", EVIDENCE)

BY_NAME = {claim.id: claim for claim in CLAIMS}
WITHIN = tuple(BY_NAME[name] for name in ("mean-of-contributions", "ratio-near-one"))
DIRECTIONS, SPREAD, CLIPPING = (
    BY_NAME[name] for name in ("noise-directions", "noise-instability", "clipping-near")
)


@pytest.fixture
def data(make_context, monkeypatch):
    monkeypatch.setattr(stability, "LAYOUTS", ((16, 16), (128, 2)))
    monkeypatch.setattr(stability, "MORE_ENVS", ((16, 16), (2, 16)))
    monkeypatch.setattr(stability, "COMMON", (16, 16))
    monkeypatch.setattr(stability, "UPDATES", (4, 4))
    monkeypatch.setattr(stability, "CHAINS", (8, 8))
    monkeypatch.setattr(stability, "SEEDS", (2, 2))
    first, second = (stability.run(make_context()) for _ in range(2))
    assert first == second
    return json.loads(json.dumps(first, allow_nan=False))


def seeds_of(place: int) -> list[dict]:
    """Runs of a row: the first has the steadier steps and the narrower returns."""
    return [
        {
            "cosine": 0.9 - 0.5 * place + 0.001 * seed,
            "cosines": [0.1, 0.2],
            "final_return": 100 + seed * 1000.0**place,
        }
        for seed in range(6)
    ]


def test_verdicts_follow_the_data(data) -> None:
    for quiet, words in ((0, ("holds", "holds")), (1, ("does not hold", "does not hold"))):
        other = deepcopy(data)
        for place, row in enumerate(other["rows"]):
            for one in row["noise_factors"]:
                one["value"] = 0.9 if place == quiet else 0.1
            row["seeds"] = seeds_of(place)
        for place, row in enumerate(other["crowds"]):
            row["seeds"] = seeds_of(place if quiet == 0 else 1 - place)
        results = {"stability": other}
        found = [claim.judged(results) for claim in (DIRECTIONS, SPREAD)]
        assert tuple(one["word"] for one in found) == words
        assert all(one["figures"] for one in found)


def test_rank_correlation() -> None:
    assert rank_correlation([1.0, 2.0, 3.0, 4.0]) == 1
    assert rank_correlation([4.0, 3.0, 2.0, 1.0]) == -1
    assert rank_correlation([2.0, 1.0, 4.0, 3.0]) == pytest.approx(0.6)


@pytest.fixture
def data_of_clipping(make_context, monkeypatch):
    at = ((1, 8), (1, 8))
    small = [replace(run, layout=Layout(4, 16, 16, 8), at=at) for run in visits.RUNS[:2]]
    monkeypatch.setattr(visits, "RUNS", small)
    monkeypatch.setattr(visits, "SEEDS", (2, 2))
    monkeypatch.setattr(visits, "CLIPPING_CHAINS", 8)
    first, second = (visits.run(make_context()) for _ in range(2))
    assert first == second
    return json.loads(json.dumps(first, allow_nan=False))


def test_the_verdict_follows_the_data(data_of_clipping) -> None:
    claim = CLIPPING
    for factor, word in ((1e4, "holds"), (1e-4, "does not hold")):
        other = deepcopy(data_of_clipping)
        for seed in other["envs"][0]["seeds"]:
            first = seed["with"]["divergence"]
            seed["without"]["divergence"] = [factor * value for value in first]
        found = claim.judged({"clipping": other})
        assert found["word"] == word
        assert found["figures"]
    assert all(
        fraction == 0
        for seed in data_of_clipping["envs"][0]["seeds"]
        for fraction in seed["without"]["clip_fraction"]
    )


STUDY = Study("tiny", "tiny", "tiny", stability.EXPERIMENTS[:1], WITHIN)


@pytest.fixture(scope="module")
def twice(tmp_path_factory):
    """The experiment's data, made two times from one training."""
    table = minibatch_tasks.Task(
        minibatch_tasks.TASKS[0].env, minibatch_tasks.TASKS[0].settings, early=1, late=4
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(minibatch_tasks, "TASKS", (table,))
        patch.setattr(minibatch_tasks, "BATCHES", (4, 4))
        patch.setattr(stability, "SURROGATE_UPDATES", (3, 3))
        folder = STUDY.open_folder(tmp_path_factory.mktemp("study"), quick=True, seed=0)
        context = Context(folder, 0, True, lambda what, done, total: None)
        return [stability.run_surrogate(context) for _ in range(2)]


def test_the_same_data_twice_and_plain(twice) -> None:
    first, second = twice
    assert first == second
    assert json.loads(json.dumps(first, allow_nan=False)) == first


def test_an_update_begins_at_ratio_1_and_at_the_mean_contribution(twice) -> None:
    assert [case["updates"] for case in twice[0]["cases"]] == [1, 2]
    for case in twice[0]["cases"]:
        assert case["ratio"][0]["value"] == pytest.approx(0, abs=1e-6)
        assert case["cosine"][0]["value"] == pytest.approx(1)
        assert case["length"][0]["value"] == pytest.approx(1)
        assert len(case["ratio"]) == len(twice[0]["looks"]) == 41
        assert len(case["minibatch_cosine"]) == 40
        assert case["ratio"][-1]["value"] > 0
    for claim in WITHIN:
        assert claim.judged({"surrogate": twice[0]})["verdict"] == "identity"


def test_a_gap_beyond_rounding_violates_the_identity(twice) -> None:
    data = deepcopy(twice[0])
    for case in data["cases"]:
        case["gap"]["raw"] = dict.fromkeys(("value", "low", "high"), 0.01)
    found = WITHIN[0].judged({"surrogate": data})
    assert found["verdict"] == "identity (violated in 2 of 4 checks)"


def test_every_claim_has_figures_with_all_envs(twice) -> None:
    for claim in WITHIN:
        drawn = json.dumps(claim.judged({"surrogate": twice[0]})["figures"], allow_nan=False)
        assert "FrozenLake8x8-v1" in drawn and "late" in drawn
