"""PPO's schemes: known answers of the summary, a tiny run, and verdicts that follow data."""

import json
from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest

from nbyt_studies import minibatch_tasks
from nbyt_studies.experiment import Context
from nbyt_studies.replay.claims.schemes import EVIDENCE
from nbyt_studies.replay.experiments import schemes
from nbyt_studies.study import Study, read_claims

CLAIMS = read_claims("nbyt_studies.replay", EVIDENCE)

STUDY = Study("tiny", "tiny", "tiny", schemes.EXPERIMENTS, CLAIMS)
BY_ID = {claim.id: claim for claim in CLAIMS}


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A table's stages, few batches and one epoch less than enough."""
    table = replace(minibatch_tasks.TASKS[0], early=1, late=4)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(minibatch_tasks, "TASKS", (table,))
        patch.setattr(schemes, "BATCHES", (4, 4))
        patch.setattr(schemes, "EPOCHS", (2, 2))
        patch.setattr(schemes, "SCHEME_ENDS_BATCHES", (3, 3))
        folder = STUDY.open_folder(tmp_path_factory.mktemp("study"), quick=True, seed=0)
        context = Context(folder, 0, True, lambda what, done, total: None)
        return {one.name: one.run(context) for one in STUDY.experiments}


def number(value: float) -> dict[str, float]:
    return dict.fromkeys(("value", "low", "high"), value)


def test_a_shuffle_is_its_own_yardstick(results) -> None:
    for case in results["scheme-ends"]["cases"]:
        same = case["ends"]["shuffle_and_chop"]
        assert [same[name]["value"] for name in ("ratio", "clip_fraction", "cosine")] == [1, 0, 0]
        begin = {name: own["cosine"][0]["value"] for name, own in case["schemes"].items()}
        assert set(begin.values()) == {1.0}
    for case in results["schemes"]["cases"]:
        rows = {(one["scheme"], one["minibatch"]): one for one in case["rows"]}
        assert rows["shuffle_and_chop", 64]["against_formula"]["value"] == pytest.approx(1, abs=0.3)
        # The same sets of samples in another order.
        same = [rows[name, 64]["ratio"] for name in ("brax", "dopamine", "rl_games")]
        assert same[0] == same[1] == same[2]
        assert "against_formula" not in rows["rl_games", 256]
        assert rows["whole_envs", 256]["against_formula"]["value"] == pytest.approx(1, abs=0.5)


def test_a_summary_finds_known_ratios() -> None:
    """S² = 4 n of samples and 6 N of envs; Var(G_B) = 3."""
    batches, samples = 300, schemes.LAYOUT.batch
    gradients = 5 + np.random.default_rng(0).normal(size=(batches, 3))
    one = np.ones(batches)
    shuffled = (1 - 256 / samples) * 4 * samples / 256
    envs = (1 - 2 / 16) * 6 * 16 / 2
    around = {
        ("shuffle_and_chop", 256): one * shuffled,
        ("whole_envs", 256): one * envs,
        ("rl_games", 256): one * envs,
    }
    found = schemes.BatchSums(gradients @ gradients.T, one * 4 * samples, one * 6 * 16, around)
    first, second, third = schemes.summary(found)
    assert first["ratio"]["value"] == pytest.approx(1)
    assert first["against_formula"]["value"] == pytest.approx(1)
    assert second["ratio"]["value"] == pytest.approx((3 + envs) / (3 + shuffled), rel=0.02)
    assert second["against_formula"]["value"] == pytest.approx(1)
    assert "against_formula" not in third


@pytest.mark.parametrize("name", BY_ID)
def test_the_verdict_follows_the_data_both_ways(results, name) -> None:
    for good, word in ((True, "holds"), (False, "does not hold")):
        changed = deepcopy(results)
        for case in changed["schemes"]["cases"]:
            for one in case["rows"]:
                one["ratio"] = number(1.5 if good else 0.8)
                if "against_formula" in one:
                    one["against_formula"] = number(1.0 if good else 1.4)
        for case in changed["scheme-ends"]["cases"]:
            for own in case["ends"].values():
                own["ratio"] = number(1.0 if good else 1.5)
                own["clip_fraction"] = number(0.0 if good else 0.1)
                own["cosine"] = number(0.0 if good else -0.3)
        found = BY_ID[name].judged(changed)
        if BY_ID[name].kind == "identity":
            assert found["counts"]["yes" if good else "no"] == len(found["checks"]) > 0
        else:
            assert found["word"] == word


def test_claims_and_data_are_plain(results) -> None:
    assert json.loads(json.dumps(results, allow_nan=False)) == results
    for claim in CLAIMS:
        found = claim.judged(results)
        assert json.loads(json.dumps(found, allow_nan=False)) == found
