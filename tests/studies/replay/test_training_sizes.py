"""Whole trainings by size of the mini-batch and by optimiser."""

import numpy as np
import pytest

from nbyt_studies.replay import trainings
from nbyt_studies.replay.claims.training_sizes import EVIDENCE
from nbyt_studies.replay.experiments import trainings as sizes
from nbyt_studies.replay.trainings import Followed
from nbyt_studies.study import read_claims

CLAIMS = read_claims("nbyt_studies.replay", EVIDENCE)

BALANCE, FASTER = CLAIMS[:2]
FULL = sizes.SIZES[1]


def work(layout) -> tuple[float, float]:
    """Gradient steps and differentiated transitions for each environment step."""
    steps = layout.gradient_steps / layout.fresh
    return steps, steps * layout.minibatch


def test_budgets_are_equal() -> None:
    assert len({work(sizes.LAYOUTS["gradient steps"](size))[0] for size in FULL}) == 1
    assert len({work(sizes.LAYOUTS["compute"](size))[1] for size in FULL}) == 1
    assert work(sizes.WHOLE)[1] == work(sizes.PART)[1]


def test_whole_buffer_is_all_of_it() -> None:
    layout = sizes.WHOLE
    first = next(update for update in range(1, 100) if layout.learns(update))
    assert first * layout.fresh >= layout.buffer == layout.minibatch


def runs(level: float) -> list[dict]:
    return [
        {"final_return": level + seed, "on_the_way": level + seed, "curve": [20.0 + seed, level]}
        for seed in range(4)
    ]


def made_up(usual: float, unusual: float) -> dict:
    rows = [
        {
            "equal": budget,
            **layout_of(size).as_dict(),
            "seeds": runs(usual if 32 <= size <= 256 else unusual),
        }
        for budget, layout_of in sizes.LAYOUTS.items()
        for size in FULL
    ]
    names = ("learning_rate", "target_every")
    ways = [dict(zip(names, way, strict=True)) for way in sizes.WAYS]
    whole = [{**way, "seeds": runs(unusual)} for way in ways]
    data = {"every": 1000, "random_returns": [22.0] * 4}
    return {"training-sizes": {**data, "rows": rows, "whole": whole, "part": runs(usual)}}


def test_verdicts_follow_the_data() -> None:
    expected = {(200, 100): ["holds"] * 2, (100, 200): ["does not hold"] * 2}
    for levels, words in expected.items():
        found = [claim.judged(made_up(*levels)) for claim in CLAIMS[:2]]
        assert [one["word"] for one in found] == words
        assert all(one["figures"] for one in found)
    # A little worse is not worse.
    assert BALANCE.judged(made_up(190, 200))["word"] == "holds"
    assert FASTER.judged(made_up(190, 200))["word"] == "does not hold"


@pytest.fixture
def asked(monkeypatch) -> list[tuple]:
    """Runs asked for: the seed, the layout and what else was changed."""
    seen = []

    def trained(context, seed, *, layout, **changes):
        seen.append((seed, layout, *changes.values()))

    monkeypatch.setattr(sizes, "trained", trained)
    monkeypatch.setattr(sizes, "outcome", lambda run: {"final_return": len(seen)})
    monkeypatch.setattr(sizes, "random_return", lambda context, env, seed: 22.0)
    return seen


def test_no_run_is_made_twice(context, asked, monkeypatch) -> None:
    monkeypatch.setattr(sizes, "SIZES", (FULL, FULL))
    data = sizes.run(context)
    assert len(asked) == len(set(asked))
    # One layout is common to both budgets.
    layouts = 2 * len(FULL) - 1 + len(sizes.WAYS) + 1
    assert len(asked) == layouts * sizes.SEEDS[0]
    shared = [row["seeds"] for row in data["rows"] if row["minibatch"] == 64]
    assert shared[0] == shared[1]


def test_curves_of_all_layouts_have_the_same_places() -> None:
    # Rows are 768 steps apart where 256 steps are made at once; the first has no whole episode.
    steps = range(768, trainings.TOTAL + 1, 768)
    rows = [{"steps": n, "mean_return": float(n) if n > 768 else None} for n in steps]
    found = trainings.outcome(Followed((), tuple(rows), np.array([100.0, 300.0])))
    assert found["final_return"] == 200
    assert found["curve"][1:23] == [1000.0 * n for n in range(2, 24)]
    assert len(found["curve"]) == 24


@pytest.fixture
def asked_of_optimisers(monkeypatch) -> list[tuple[str, float, int]]:
    """Runs asked_of_optimisers for; the third rate does best for SGD, the last for the others."""
    seen = []
    best = {"sgd": 3e-2, "rmsprop": 4e-3, "adam": 4e-3}

    def trained(context, seed, *, optimizer, learning_rate):
        seen.append((optimizer, learning_rate, seed))
        return 100.0 if learning_rate == best[optimizer] else 30.0

    def outcome(level):
        return {"final_return": level + seen[-1][2] % 10, "on_the_way": level, "curve": [level]}

    monkeypatch.setattr(sizes, "trained", trained)
    monkeypatch.setattr(sizes, "outcome", outcome)
    monkeypatch.setattr(sizes, "random_return", lambda context, env, seed: 20.0 + seed)
    return seen


def test_rates_are_chosen_apart(context, asked_of_optimisers) -> None:
    data = sizes.run_optimisers(context)
    assert [row["learning_rate"] for row in data["rows"]] == [3e-2, 4e-3, 4e-3]
    choosing = {seed for _, _, seed in asked_of_optimisers if seed >= 100}
    comparing = {seed for _, _, seed in asked_of_optimisers if seed < 100}
    assert len(comparing) == sizes.SEEDS[0] and len(choosing) == sizes.CHOOSING[0]
    (found,) = (claim.judged({"optimisers": data}) for claim in CLAIMS[2:])
    assert found["word"] == "holds"
    assert "RMSprop, Adam" in found["notes"][-1]


def test_an_optimiser_that_does_not_learn_is_seen(context, asked_of_optimisers) -> None:
    data = sizes.run_optimisers(context)
    for run in data["rows"][0]["seeds"]:
        run["final_return"] -= 90
    (found,) = (claim.judged({"optimisers": data}) for claim in CLAIMS[2:])
    assert found["word"] == "holds when"
    assert "SGD (0 of 1)" in found["verdict"]
