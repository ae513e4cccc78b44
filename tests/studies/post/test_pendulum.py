"""The grids on Pendulum: plain and repeatable data, and verdicts that follow them."""

import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nbyt.layout import Layout
from nbyt_studies.experiment import Context
from nbyt_studies.measure.batches import LaggedProducts
from nbyt_studies.post.claims.pendulum import EVIDENCE
from nbyt_studies.post.experiments import pendulum
from nbyt_studies.post.experiments.pendulum import LAGS, cosine_histograms, lag_correlations
from nbyt_studies.study import Study, read_claims

CLAIMS = read_claims("nbyt_studies.post", EVIDENCE)

NAME = "pendulum-grids"
STUDY = Study("pendulum", "", "", pendulum.EXPERIMENTS, CLAIMS)
BY_ID = {claim.id: claim for claim in CLAIMS}
FEW, MANY = Layout(2, 96, minibatch=96), Layout(4, 48, minibatch=96)


def _small(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(pendulum, "FEW", FEW)
    patch.setattr(pendulum, "MANY", MANY)
    patch.setattr(pendulum, "LAYOUTS", (FEW, MANY))
    patch.setattr(pendulum, "QUICK_UPDATES", (1, 2, 3))
    patch.setattr(pendulum, "QUICK_BATCHES", 8)


def _run(folder: Path) -> dict[str, Any]:
    context = Context(STUDY.open_folder(folder, quick=True, seed=0), 0, True, lambda *_: None)
    return pendulum.run(context)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The experiment in a small size."""
    with pytest.MonkeyPatch.context() as patch:
        _small(patch)
        return _run(tmp_path_factory.mktemp("pendulum") / "study")


def _judged(id: str, data: dict[str, Any]) -> dict[str, Any]:
    return BY_ID[id].judged({NAME: data})


def _word(id: str, data: dict[str, Any]) -> str:
    return _judged(id, data)["word"]


def _number(value: float) -> dict[str, float]:
    return {"value": value, "low": value - 0.001, "high": value + 0.001, "band": 0.01}


def test_the_data_are_plain_and_the_same_twice(
    data: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _small(monkeypatch)
    text = json.dumps(data, allow_nan=False)
    assert json.dumps(_run(tmp_path / "again"), allow_nan=False) == text


def test_every_claim_is_judged_with_plain_figures(data: dict[str, Any]) -> None:
    for claim in CLAIMS:
        found = claim.judged({NAME: data})
        assert json.dumps(found, allow_nan=False)
        assert found["figures"] and found["checks"]


def test_matrices_are_five_by_five_and_one_on_the_diagonal(data: dict[str, Any]) -> None:
    for some in data["checkpoints"].values():
        for checkpoint in some:
            for by_setting in checkpoint["cosines"].values():
                assert len(by_setting) == 6
                for found in by_setting.values():
                    assert [row[at] for at, row in enumerate(found["matrix"])] == [1.0] * 5
                    assert 0 <= found["absolute"]["value"] <= 1
                    assert abs(found["cosine"]["value"]) <= found["absolute"]["value"]


def test_histograms_hold_all_pairs(data: dict[str, Any]) -> None:
    for kinds in data["histograms"].values():
        for found in kinds.values():
            for heights in found["heights"]:
                assert len(heights) == 40 and sum(heights) == pytest.approx(1, abs=0.01)


def _with_lags(data: dict[str, Any], side: str, value: float) -> dict[str, Any]:
    changed = deepcopy(data)
    for kinds in changed["lags"].values():
        for kind in kinds.values():
            kind[side] = [_number(value)] * 4
    return changed


def test_the_verdict_within_a_rollout_follows_the_data(data: dict[str, Any]) -> None:
    for value, word in ((0.005, "holds"), (0.4, "does not hold"), (-0.4, "does not hold")):
        assert _word("pendulum-lags-within", _with_lags(data, "within", value)) == word


def test_a_correlation_of_different_rollouts_violates_an_identity(data: dict[str, Any]) -> None:
    for value, word in ((0.005, "yes"), (0.4, "no"), (-0.4, "no")):
        found = _judged("pendulum-lags-across", _with_lags(data, "across", value))
        assert found["word"] == "identity"
        assert found["counts"][word] == len(found["checks"]) > 0


def test_the_layouts_verdict_follows_the_data(data: dict[str, Any]) -> None:
    for value, word in ((0.01, "holds"), (0.2, "does not hold"), (-0.2, "does not hold")):
        changed = deepcopy(data)
        for own in changed["cosines"].values():
            for kind in pendulum.KINDS:
                own[pendulum.setting(kind, 0.95)]["difference"] = _number(value)
        assert _word("pendulum-layouts-agree-alike", changed) == word


def test_the_lambda_verdict_follows_the_data(data: dict[str, Any]) -> None:
    for value, word in ((0.3, "holds"), (-0.3, "does not hold")):
        changed = deepcopy(data)
        for own in changed["cosines"].values():
            for kinds in own["0 less 1"].values():
                for layout in kinds:
                    kinds[layout] = _number(value)
        assert _word("pendulum-lambda", changed) == word


def _products(scores: np.ndarray) -> LaggedProducts:
    """Inner products of written out scores [T, n, P]."""
    steps, other = len(scores), np.roll(scores, -1, axis=1)
    lags = (0, *LAGS, 40)
    within = {lag: np.sum(scores[: steps - lag] * scores[lag:], axis=-1) for lag in lags}
    across = {lag: np.sum(scores[: steps - lag] * other[lag:], axis=-1) for lag in lags}
    return LaggedProducts(within.pop(0), within, across)


def test_lag_correlations_of_a_known_process() -> None:
    """g_t = .6 g_{t-1} + noise has correlation .6^k within a chain and none across."""
    noise = np.random.default_rng(0).normal(size=(400, 64, 3))
    steps = [noise[0] / 0.8]
    for one in noise[1:]:
        steps.append(0.6 * steps[-1] + one)
    scores = np.stack(steps)
    means = scores.mean(axis=0)
    found = lag_correlations(_products(scores), np.ones((400, 64)), means @ means.T)
    for place, lag in enumerate(LAGS):
        assert found["within"][place]["value"] == pytest.approx(0.6**lag, abs=0.02)
        assert found["across"][place]["value"] == pytest.approx(0.0, abs=0.02)


def test_cosines_have_the_advantages_sign_and_not_their_length() -> None:
    scores = np.ones((60, 4, 2))
    weight = np.where(np.arange(60)[:, None] % 2, 3.0, -0.5) * np.ones((1, 4))
    found = cosine_histograms(_products(scores), weight)
    np.testing.assert_allclose(found["mean"], [-1.0, -1.0, 1.0, 1.0])
    assert found["heights"][0][0] == found["heights"][2][-1] == 1.0
