"""The table of numbers: exactly what was given comes back, or an error that says the bounds."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nbyt import numbers
from nbyt.advice.request import effort, make_advice_request
from nbyt.envs import resolve
from nbyt.envs.check import check
from nbyt.errors import UsageError
from nbyt.integrations.jax import GradientProbe
from nbyt.layout import Layout
from nbyt.measure.request import Resources, make_request
from nbyt.minibatch import audit
from nbyt.minibatch.schemes import find
from nbyt.numbers import SEED, require_seeds
from nbyt.sweeps.grid import make_grid
from nbyt.sweeps.workers import Workers
from nbyt.training.dqn import DQNSettings, ReplayLayout
from nbyt.training.plan import PPOSettings

TABLE = {
    name: kind
    for name, kind in vars(numbers).items()
    if isinstance(kind, numbers.Kind) and not isinstance(kind, type)
}
WHOLE = {name: kind for name, kind in TABLE.items() if getattr(kind, "whole", False)}


@pytest.mark.parametrize("name", TABLE)
@settings(max_examples=50)
@given(text=st.one_of(st.text(), st.from_regex(r"[-+0-9_.eExnaif]{0,12}[smhkMG]?", fullmatch=True)))
def test_any_text_is_a_number_or_refused(name: str, text: str) -> None:
    try:
        found = TABLE[name].read(text, "--flag")
    except UsageError as error:
        assert error.where == "--flag" and error.fix  # noqa: PT017
    else:
        assert TABLE[name].check(text if name == "BUDGET" else found, "flag") == found


@pytest.mark.parametrize("name", WHOLE)
@settings(max_examples=20)
@given(data=st.data())
def test_whole_numbers_are_read_to_the_last_digit(name: str, data: st.DataObject) -> None:
    kind = WHOLE[name]
    value = data.draw(st.integers(kind.low, kind.high))
    for text in (str(value), f"{value:_}", f"{value}.0", f"{value}e0", f" {value} "):
        assert kind.read(text, "n") == value
    assert kind.check(np.int64(value), "n") == value and type(kind.check(value, "n")) is int


@pytest.mark.parametrize("name", WHOLE)
def test_bounds_are_bounds(name: str) -> None:
    kind = WHOLE[name]
    for value in (kind.low - 1, kind.high + 1, 10**400, -(10**400), 1 << 20_000):
        for refuse in (lambda v: kind.check(v, "n"), lambda v: kind.read(f"{v:x}" * 3000, "n")):
            with pytest.raises(UsageError, match=f"from {kind.low:,} to {kind.high:,}"):
                refuse(value)


@given(st.floats(0, 1), st.sampled_from(["s", "m", "h"]))
def test_units_count(number: float, unit: str) -> None:
    scale = {"s": 1, "m": 60, "h": 3600}[unit]
    text = f"{1 + number:.6f}"
    exact = Fraction(text) * scale
    assert numbers.DURATION.read(text + unit, "t") == pytest.approx(float(exact), rel=1e-15)
    assert numbers.MEMORY.read("1.5GiB", "m") == numbers.MEMORY.read("1536m", "m") == 1.5 * 2**30


@pytest.mark.parametrize("text", ["20k", "20K", "0.02M", " 20 k", "2e1k"])
def test_whole_numbers_may_be_thousands(text: str) -> None:
    assert numbers.STEPS.read(text, "total") == numbers.SIZE.read(text, "batch") == 20_000
    for wrong in ("1.0001k", "k", "20kk", "20m", "1e15M"):
        with pytest.raises(UsageError, match="a whole number"):
            numbers.STEPS.read(wrong, "total")


WRONG: list[Any] = [
    -1,
    1.5,
    float("nan"),
    float("inf"),
    10**20,
    1 << 20_000,
    "8",
    "",
    True,
    [4],
    {},
]
LAKE = resolve("tabular:FrozenLake-v1")
SAMPLER = find("shuffle_and_chop").sampler(8, 8)


def _question(**given: Any) -> Any:
    return make_advice_request(LAKE, **{"batch": 64, "effort": effort("quick"), **given})


def _grid(**given: Any) -> Any:
    return make_grid(LAKE, **{"batch": 64, "seeds": 2, "total": 640, **given})


def _audit(**given: Any) -> Any:
    return audit(SAMPLER, **{"batch": 64, "minibatch": 8, "epochs": 1, **given})


def _probe(**given: Any) -> Any:
    return GradientProbe(log_prob=lambda *_: 0, value=lambda *_: 0, **given)


def _request(**given: Any) -> Any:
    return make_request({}, **{"batch": 64, **given})


# Every call of Python's that takes numbers from users, with the names of those.
CALLS: dict[str, tuple[Callable[..., Any], str]] = {
    "Layout": (lambda **g: Layout(**{"envs": 8, "steps": 8, **g}), "envs steps minibatch epochs"),
    "ReplayLayout": (ReplayLayout, "envs steps minibatch gradient_steps buffer warm_up"),
    "question": (_question, "batch total stages minibatch epochs max_envs seed memory"),
    "sweep": (_grid, "batch seeds total first_seed minibatch epochs max_envs"),
    "request": (_request, "batch chains chain_steps seed"),
    "audit": (_audit, "batch minibatch epochs seed envs steps"),
    "check": (lambda **g: check(LAKE, **{"speeds": (), **g}), "seed steps"),
    "workers": (lambda **g: Workers(**g), "workers"),
    "resources": (Resources, "envs"),
    "dqn": (DQNSettings, "target_every"),
}
REALS: dict[str, tuple[Callable[..., Any], str]] = {
    "ppo": (
        PPOSettings,
        "gamma lam learning_rate clip value_clip entropy_coefficient value_coefficient "
        "max_grad_norm target_kl",
    ),
    "dqn": (
        DQNSettings,
        "gamma learning_rate huber target_mix epsilon_start epsilon_end exploration max_grad_norm",
    ),
    "probe": (_probe, "gamma lam value_coefficient entropy_coefficient"),
    "request": (_request, "gamma lam"),
    "workers": (lambda **g: Workers(**g), "step_limit cell_limit"),
}


@pytest.mark.parametrize("name", CALLS)
def test_python_calls_refuse_what_cannot_be(name: str) -> None:
    call, words = CALLS[name]
    for word in words.split():
        # The types of an audit are checked before it is called, in tests.
        for wrong in (one for one in WRONG if name != "audit" or type(one) is int):
            with pytest.raises(UsageError) as refused:
                call(**{word: wrong})
            assert refused.value.where and refused.value.fix, (word, wrong)


@pytest.mark.parametrize("name", REALS)
def test_python_calls_refuse_reals_that_cannot_be(name: str) -> None:
    call, words = REALS[name]
    for word in words.split():
        for wrong in (-1, float("nan"), float("inf"), 1e31, 1 << 20_000, "0.5", True, {}):
            with pytest.raises(UsageError) as refused:
                call(**{word: wrong})
            assert refused.value.where and refused.value.fix, (word, wrong)


def test_numbers_of_numpy_become_those_of_python() -> None:
    layout = Layout(np.int64(4), np.int32(8), np.int64(16), np.int8(2))
    assert {type(size) for size in vars(layout).values()} == {int}
    assert type(PPOSettings(gamma=np.float32(0.5)).gamma) is float


def test_other_seeds_are_refused_in_words() -> None:
    for wrong in (-1, SEED.high + 1, 10**23, 1.5, "1", True, None, 1 << 16_000):
        with pytest.raises(UsageError, match="whole number from 0 to 4,294,967,295") as error:
            SEED.check(wrong, "seed")
        assert error.value.fix and len(error.value.message) < 150


def test_the_last_of_several_seeds_is_checked_too() -> None:
    assert require_seeds(SEED.high - 15, 16)
    with pytest.raises(UsageError, match="for 16 seeds"):
        require_seeds(SEED.high - 14, 16)
