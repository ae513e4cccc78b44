"""With and without clipping: a tiny run twice, and the verdict."""

import json
from copy import deepcopy
from dataclasses import replace

import pytest

from nbyt.layout import Layout
from nbyt_studies.post.claims.stability import CLAIMS
from nbyt_studies.post.experiments import visits


@pytest.fixture
def data(make_context, monkeypatch):
    at = ((1, 8), (1, 8))
    small = [replace(run, layout=Layout(4, 16, 16, 8), at=at) for run in visits.RUNS[:2]]
    monkeypatch.setattr(visits, "RUNS", small)
    monkeypatch.setattr(visits, "SEEDS", (2, 2))
    monkeypatch.setattr(visits, "CLIPPING_CHAINS", 8)
    first, second = (visits.run(make_context()) for _ in range(2))
    assert first == second
    return json.loads(json.dumps(first, allow_nan=False))


def test_the_verdict_follows_the_data(data) -> None:
    claim = CLAIMS[-1]
    for factor, word in ((1e4, "holds"), (1e-4, "does not hold")):
        other = deepcopy(data)
        for seed in other["envs"][0]["seeds"]:
            first = seed["with"]["divergence"]
            seed["without"]["divergence"] = [factor * value for value in first]
        found = claim.judged({"clipping": other})
        assert found["word"] == word
        assert found["figures"]
    assert all(
        fraction == 0
        for seed in data["envs"][0]["seeds"]
        for fraction in seed["without"]["clip_fraction"]
    )
