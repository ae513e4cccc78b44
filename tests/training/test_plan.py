"""Settings and plans: what is refused, and where stages fall."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nbyt.errors import UsageError
from nbyt.training.plan import PPOSettings, stage_updates


@pytest.mark.parametrize(
    "wrong",
    [
        {"gamma": 1.5},
        {"gamma": -0.1},
        {"lam": 2.0},
        {"learning_rate": 0.0},
        {"clip": -1.0},
        {"clip": float("nan")},
        {"max_grad_norm": float("inf")},
        {"value_clip": 0.0},
        {"target_kl": -1.0},
        {"entropy_coefficient": -0.1},
        {"network": "lstm"},
        {"network": "0x64"},
        {"activation": "sine"},
    ],
)
def test_wrong_values_are_refused_by_name(wrong: dict) -> None:
    with pytest.raises(UsageError) as error:
        PPOSettings(**wrong)
    name = next(iter(wrong))
    assert error.value.where in (name, {"lam": "lambda"}.get(name))


@pytest.mark.parametrize("together", [{"shared": True}, {"target_kl": 0.1}, {"clip_jointly": True}])
def test_whatever_couples_the_networks_makes_one_part(together: dict) -> None:
    assert PPOSettings(**together).parts == ("both",)


@given(st.integers(1, 5000))
def test_default_stages_are_early_middle_and_final(updates: int) -> None:
    stages = stage_updates(updates)
    assert stages[-1] == updates
    assert list(stages) == sorted(set(stages)) and stages[0] >= 1
    if updates >= 10:
        assert len(stages) == 3 and stages[0] <= updates / 5


@given(st.integers(1, 500), st.data())
def test_evenly_spaced_stages(updates: int, data: st.DataObject) -> None:
    count = data.draw(st.integers(1, updates))
    stages = stage_updates(updates, count=count)
    assert len(stages) == count and stages[-1] == updates
    gaps = [b - a for a, b in zip((0, *stages), stages, strict=False)]
    assert max(gaps) - min(gaps) <= 1


def test_stages_outside_the_run_are_refused() -> None:
    for wrong in ({"save_at": (5, 11)}, {"count": 11}, {"count": 0}):
        with pytest.raises(UsageError):
            stage_updates(10, **wrong)
    assert stage_updates(10, save_at=(7, 3, 3)) == (3, 7)
