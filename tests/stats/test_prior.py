"""Laws of what is known before any training: the shipped reference tasks."""

import json
import math

import numpy as np
import pytest
from benchmarks.proving import prior as shipped
from benchmarks.proving.data import read_cells
from benchmarks.proving.tasks import SEALED

from nbyt.results import plain
from nbyt.results.prior import Loss, ReferenceTask, StaggerGain
from nbyt.results.prior import Prior as PriorRecord
from nbyt.stats.prior import TARGETS, Prior, Schedule, load_prior, reference

STEPS = tuple(2**k for k in range(12))
PRIOR = load_prior()


def _task(heights: np.ndarray, env: str = "a", batch: int = 2048) -> ReferenceTask:
    """A task whose curves are at their heights from the first point on."""
    rows = tuple((0.0, *[float(h)] * 20) for h in heights)
    return ReferenceTask(
        env=env,
        batch=batch,
        total=204_800,
        seeds=16,
        steps=STEPS,
        samples=tuple(range(0, 204_801, 10_240)),
        mean=rows,
        sd=tuple(tuple(0.01 for _ in row) for row in rows),
    )


def test_the_shipped_file_is_made_of_the_committed_cells() -> None:
    result = json.loads(shipped.RESULT.read_text()) if shipped.RESULT.exists() else None
    assert plain(PRIOR.record) == plain(shipped.prior(read_cells(), result))


def test_no_sealed_env_is_shipped() -> None:
    assert not set(PRIOR.tasks) & set(SEALED)
    assert len(PRIOR.tasks) >= 9


def test_for_the_same_samples_the_constant_is_long_and_for_the_same_time_short() -> None:
    samples = PRIOR.under(STEPS, None, 2048)
    parallel = PRIOR.under(STEPS, np.array(STEPS) + 16.0, 2048)
    assert samples.constant >= 128
    assert parallel.constant <= 64
    for known in (samples, parallel):
        loss = known.mean_loss(known.constant)
        assert loss.value is not None
        assert 0 <= loss.value <= min(known.losses.mean(0)) + 0.05


def test_an_update_that_costs_more_makes_short_rollouts_lose_more() -> None:
    lost = [PRIOR.under(STEPS, np.array(STEPS, float) + c, 2048).losses.mean(0)[0] for c in (4, 64)]
    assert lost[1] > lost[0]


def test_a_reference_has_the_heights_of_its_curves() -> None:
    heights = np.linspace(0.2, 1.0, 12)
    found = reference(_task(heights), STEPS, np.ones(12))
    assert found.mean == pytest.approx(heights, abs=0.05)


def test_each_env_counts_once_at_the_nearest_batch() -> None:
    tasks = (_task(np.ones(12), batch=512), _task(np.linspace(1, 2, 12), batch=8192))
    prior = Prior(PriorRecord(version="", tasks=tasks), "")
    assert len(prior.under(STEPS, None, 1024).references) == 1
    assert prior.under(STEPS, None, 600).losses[0].max() == pytest.approx(0, abs=0.02)
    assert prior.under(STEPS, None, 8000).losses[0].max() == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("trainings", [1, 2, 4, 8])
def test_a_schedule_spends_what_it_may(trainings: int) -> None:
    found = PRIOR.under(STEPS, np.array(STEPS) + 16.0, 2048).schedule(trainings)
    assert found.trainings == trainings
    assert set(found.arms) <= set(TARGETS)
    assert all(math.log2(b / a) == 2 for a, b in zip(found.arms, found.arms[1:], strict=False))


def test_a_schedule_keeps_to_the_layouts_that_there_are_and_to_the_users_own() -> None:
    steps = (32, 64, 128, 256, 512, 1024, 2048)
    known = PRIOR.under(steps, None, 2048)
    assert set(known.schedule(4).arms) <= set(steps)
    own = known.schedule(4, own=256)
    assert 256 in own.arms
    assert own.trainings <= 4
    assert PRIOR.under((3, 5), None, 15).schedule(1) == Schedule((3, 5), 2)


def test_the_users_own_layout_is_raced_even_when_there_is_money_for_four_arms_only() -> None:
    known = PRIOR.under(STEPS, np.array(STEPS) + 16.0, 2048)
    found = known.schedule(1, own=64)
    assert 64 in found.arms
    assert (len(found.arms), found.seeds, found.trainings) == (4, 1, 1.0)
    assert known.schedule(1, own=known.schedule(1).arms[0]) == known.schedule(1)


@pytest.mark.parametrize("batch", [512, 1024, 2048, 8192, 65_536])
@pytest.mark.parametrize("learning", [None, 4.0, 64.0])
@pytest.mark.parametrize("kind", ["powers", "host", "odd"])
def test_any_batch_and_any_list_of_steps_has_an_answer(
    batch: int, learning: float | None, kind: str
) -> None:
    lists = {
        "powers": [2**k for k in range(17)],
        "host": [32, 64, 128, 256, 512, 1024, 2048],
        "odd": [5, 20, 24, 50, 100, 125, 250, 500, 1000],
    }
    steps = [t for t in lists[kind] if t <= batch]
    costs = None if learning is None else np.array(steps) + learning * max(1.0, batch / 2048)
    known = PRIOR.under(steps, costs, batch)
    assert np.isfinite(known.losses).all()
    assert known.losses.min() == pytest.approx(0.0)
    assert known.losses.max() <= 1
    assert len(known.references) == len(PRIOR.tasks)
    # Where nobody has trained, nothing is recommended.
    assert known.constant in steps
    assert known.constant <= 2048
    loss = known.expected(known.constant)
    assert loss.value is not None
    assert loss.value <= known.losses.mean(0).min() + 0.05
    raced = known.schedule(4)
    assert set(raced.arms) <= set(steps)
    assert raced.seeds >= 4
    assert raced.trainings <= 4


def test_of_two_batches_as_near_the_larger_one_counts() -> None:
    tasks = (_task(np.ones(12), batch=512), _task(np.linspace(1, 2, 12), batch=2048))
    prior = Prior(PriorRecord(version="", tasks=tasks), "")
    assert prior.under(STEPS, None, 1024).losses[0].max() == pytest.approx(0.5, abs=0.05)


def test_what_staggered_starts_win_is_that_of_the_nearest_steps_at_these_costs() -> None:
    won = Loss(value=0.1, low=0.01, high=0.2)
    gains = tuple(
        StaggerGain(costs=costs, steps=steps, tasks=9, won=won)
        for costs in ("samples", "parallel")
        for steps in (2, 8, 32)
    )
    prior = Prior(PriorRecord(version="x", tasks=(), stagger=gains), "")
    found = prior.stagger_gain("parallel", 7)
    assert found is not None and (found.costs, found.steps) == ("parallel", 8)
    assert prior.stagger_gain("measured", 8) is None


def test_no_budget_is_no_race() -> None:
    assert PRIOR.under(STEPS, None, 2048).schedule(0).seeds == 0


def test_what_a_new_task_may_lose_is_wider_than_what_tasks_lose_on_average() -> None:
    known = PRIOR.under(STEPS, np.array(STEPS) + 16.0, 2048)
    for steps in STEPS:
        new, mean = known.expected(steps), known.mean_loss(steps)
        assert new.value == mean.value
        assert new.low is not None
        assert new.high is not None
        assert mean.high is not None
        assert 0 <= new.low <= new.high <= 1
        assert new.high >= min(mean.high, 1)
