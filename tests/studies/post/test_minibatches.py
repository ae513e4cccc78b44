"""Mini-batches: tiny runs of the experiments, known answers, and verdicts that follow data."""

import json
from dataclasses import replace

import numpy as np
import pytest

from nbyt_studies import minibatch_tasks
from nbyt_studies.experiment import Context
from nbyt_studies.post.claims.minibatches import EVIDENCE
from nbyt_studies.post.experiments import minibatches
from nbyt_studies.post.experiments.minibatches import Around, Batches, summary
from nbyt_studies.study import Study, read_claims

CLAIMS = read_claims("nbyt_studies.post", EVIDENCE)

STUDY = Study("tiny", "tiny", "tiny", minibatches.EXPERIMENTS, CLAIMS)


@pytest.fixture(scope="module")
def twice(tmp_path_factory):
    """The experiments' data, made two times from the same trainings."""
    table = replace(minibatch_tasks.TASKS[0], early=1, late=4)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(minibatch_tasks, "TASKS", (table,))
        patch.setattr(minibatch_tasks, "BATCHES", (4, 4))
        patch.setattr(minibatches, "EPOCHS", (2, 2))
        patch.setattr(minibatches, "LEARNED", (table,))
        patch.setattr(minibatches, "SEEDS", (2, 2))
        patch.setattr(minibatches, "UPDATES", (4, 4))
        folder = STUDY.open_folder(tmp_path_factory.mktemp("study"), quick=True, seed=0)
        context = Context(folder, 0, True, lambda what, done, total: None)
        return [{one.name: one.run(context) for one in STUDY.experiments} for _ in range(2)]


def test_the_same_data_twice_and_plain(twice) -> None:
    first, second = twice
    assert first == second
    assert json.loads(json.dumps(first, allow_nan=False)) == first


def test_an_epoch_of_shuffled_minibatches_is_the_batch(twice) -> None:
    for case in twice[0]["minibatches"]["cases"]:
        assert [one["minibatch"] for one in case["shuffled"]] == list(minibatches.SIZES)
        for one in case["shuffled"]:
            assert one["apart"]["value"] < 1e-4
            assert one["along"]["value"] == pytest.approx(1, abs=1e-3)
        assert case["shuffled"][-1]["total"]["value"] == pytest.approx(1)
        assert case["shuffled"][0]["against_formula"]["value"] == pytest.approx(1, abs=0.3)
        totals = [one["formula"]["value"] for one in case["shuffled"]]
        assert totals == sorted(totals, reverse=True)


def test_the_plane_has_the_batch_gradient_as_its_unit(twice) -> None:
    planes = [case["plane"] for case in twice[0]["minibatches"]["cases"] if "plane" in case]
    assert len(planes) == 2
    for small, large in planes:
        np.testing.assert_allclose([small["mean"], large["mean"]], [[1, 0], [1, 0]], atol=1e-4)
        assert len(small["points"]) == len(large["points"]) == minibatches.POINTS
        assert np.trace(small["covariance"]) > np.trace(large["covariance"])


def test_coverage_is_what_the_formulas_say(twice) -> None:
    data = twice[0]["minibatch-coverage"]
    assert all(number["value"] == 0 for number in data["schemes"]["shuffle and chop"])
    for scheme, expected in data["formula"].items():
        assert expected[0] == pytest.approx(np.exp(-1), rel=0.05)
        measured = [number["value"] for number in data["schemes"][scheme]]
        np.testing.assert_allclose(measured[:3], expected[:3], rtol=0.15)
    steps = twice[0]["minibatch-learning"]["gradient_steps"]
    assert steps == {"mini-batches": 320, "whole batch": 10}


def test_a_summary_finds_known_ratios() -> None:
    """Var(G_B) = 3 and S² = 4 n: fetching adds nearly S²/n = 4, and so on."""
    batches, samples = 300, 2048
    generator = np.random.default_rng(0)
    gradients = 5 + generator.normal(size=(batches, 3))
    length = (gradients**2).sum(-1)
    one = np.ones(batches)
    spread = 4.0 * samples
    around = {
        "shuffled": {1024: Around(one * spread / 2048, 0 * one, one)},
        "fetched": {64: Around(one * spread / 64, one * spread / samples, one)},
        "consecutive": {64: Around(one * (1 - 64 / samples) * spread / 64, 0 * one, one)},
    }
    squares = length + spread * (samples - 1) / samples
    found = summary(Batches(gradients @ gradients.T, squares, around), samples)
    assert found["shuffled"][0]["against_formula"]["value"] == pytest.approx(1, rel=1e-3)
    assert found["shuffled"][0]["total"]["value"] == pytest.approx(7 / 3, rel=0.1)
    assert found["in_order"][0]["ratio"]["value"] == pytest.approx(1, rel=1e-3)


def test_every_claim_draws_plain_data(twice) -> None:
    for claim in CLAIMS:
        found = claim.judged(twice[0])
        assert json.loads(json.dumps(found, allow_nan=False)) == found
