"""A layout survives translation, or the loss is told."""

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from nbyt.dialects import explain, translate
from nbyt.dialects.dialect import Dialect, load, names
from nbyt.dialects.explaining import explained
from nbyt.dialects.reading import Reading
from nbyt.dialects.solving import solved
from nbyt.dialects.translating import same_minibatches, translated

NAMES = names()
PAIRS = list(itertools.product(NAMES, NAMES))
# The plain layout from which the settings of every library are made; SB3 takes any sizes.
layouts = st.fixed_dictionaries(
    {
        "n_envs": st.integers(1, 64),
        "n_steps": st.integers(2, 300),
        "batch_size": st.one_of(st.integers(2, 9), st.integers(2, 600)),
        "n_epochs": st.integers(1, 12),
        "total_timesteps": st.integers(1, 10**7),
        "gamma": st.sampled_from([0.9, 0.99, 0.999]),
        "gae_lambda": st.sampled_from([0.9, 0.95, 1.0]),
    }
)
halved = layouts.map(lambda one: {**one, "batch_size": one["n_envs"] * one["n_steps"] // 2 + 1})


def divided(layout: dict[str, int], minibatches: int) -> dict[str, int]:
    """A layout whose batch is a whole number of mini-batches."""
    size = layout["n_envs"] * layout["n_steps"]
    return {**layout, "n_steps": layout["n_steps"] * minibatches, "batch_size": size}


whole = st.builds(divided, layouts, st.integers(1, 8))
EXAMPLES = [
    {"n_envs": 8, "n_steps": 128, "batch_size": 256, "n_epochs": 4, "total_timesteps": 1_000_000},
    {"n_envs": 4, "n_steps": 50, "batch_size": 200, "n_epochs": 3, "total_timesteps": 12_345},
    {"n_envs": 5, "n_steps": 77, "batch_size": 64, "n_epochs": 2, "total_timesteps": 100_000},
    # Rests that two libraries cut alike although one is given a size and the other a count.
    {"n_envs": 7, "n_steps": 5, "batch_size": 4, "n_epochs": 7, "total_timesteps": 3_223_125},
    {"n_envs": 3, "n_steps": 77, "batch_size": 8, "n_epochs": 12, "total_timesteps": 9_269_584},
]


def essence(reading: Reading) -> dict[str, object]:
    """What makes two layouts the same."""
    size = reading.sizes
    return {
        "envs": size.envs,
        "steps": size.steps,
        "fragment": size.fragment,
        "batch": size.batch,
        "epochs": size.epochs,
        "updates": reading.updates,
    }


def from_sb3(dialect: Dialect, layout: dict[str, object]) -> Reading | None:
    """Settings of a dialect near a layout; None if the dialect would refuse them."""
    plain = explain("sb3", **layout).reading
    found = explained(dialect, solved(plain, dialect).items()).reading
    return None if found.refusals else found


@settings(max_examples=300)
@given(layout=st.one_of(layouts, halved, whole), data=st.data())
def test_there_and_back_gives_the_same_layout_where_no_loss_was_told(layout, data) -> None:
    here, there = data.draw(st.sampled_from(PAIRS))
    check_round_trip(here, there, layout)


def test_there_and_back_for_every_pair_of_libraries() -> None:
    exact = sum(check_round_trip(*pair, layout) for pair in PAIRS for layout in EXAMPLES)
    # The law would be empty if nearly everything were lost.
    assert exact > len(PAIRS)


def check_round_trip(here: str, there: str, layout: dict[str, object]) -> bool:
    """Whether the way there was told to be exact; if so, the way back must lead home."""
    source = from_sb3(load(here), layout)
    if source is None:
        return False
    start = explained(load(here), source.settings.values.items())
    away = translated(start, load(there))
    if not away.is_exact:
        return False
    home = translated(away.target, load(here))
    assert essence(home.target.reading) == essence(start.reading), (here, there, layout)
    assert same_minibatches(home.target.reading, start.reading), (here, there, layout)
    assert home.is_exact
    return True


@settings(max_examples=300)
@given(layout=layouts, target=st.sampled_from(NAMES))
def test_what_is_told_to_be_the_same_is_the_same(layout, target) -> None:
    """The target's own explanation, not the translator, says what its settings do."""
    found = translate("sb3", target, **layout)
    again = explain(target, **found.settings)
    wanted, got = found.source.reading, again.reading
    told = {difference.code for difference in found.differences if difference.loss}
    pairs = {word: (essence(wanted)[word], essence(got)[word]) for word in essence(wanted)}
    for word, (one, other) in pairs.items():
        assert (one != other) == (word in told), (word, one, other)
    assert same_minibatches(wanted, got) == ("minibatches" not in told)


def test_the_question_that_users_ask() -> None:
    """Eight MPI processes of PPO1 as one SB3 process."""
    found = translate(
        "ppo1", "sb3", processes=8, timesteps_per_actorbatch=256, optim_batchsize=64, optim_epochs=4
    )
    assert found.is_exact
    assert found.settings["n_envs"] == 8 and found.settings["n_steps"] == 256
    assert found.settings["batch_size"] == 512 and found.settings["n_epochs"] == 4
    assert "n_envs=8" in found.paste and "batch_size=512" in found.paste
    codes = {difference.code for difference in found.differences}
    assert {"ragged", "normalise", "time_limits", "per_process"} <= codes


def test_defaults_that_differ_are_written_out_and_told() -> None:
    found = translate("sb3", "rllib")
    assert found.settings["lambda_"] == 0.95
    assert "lam_default" in {difference.code for difference in found.differences}
    assert "lam_default" not in {d.code for d in translate("sb3", "cleanrl").differences}


def test_a_pasted_call_is_valid_python_with_the_same_numbers() -> None:
    found = translate("cleanrl", "sb3", num_envs=8, num_minibatches=8)
    compile(found.paste, "paste", "exec")
    assert "n_envs=8" in found.paste and f"batch_size={8 * 128 // 8}" in found.paste


def test_one_env_gets_the_batch_in_one_long_rollout() -> None:
    found = translate("sb3", "dopamine", n_envs=8, n_steps=128, batch_size=256)
    assert found.settings["update_period"] == 1024
    assert {"envs", "steps"} <= {d.code for d in found.differences if d.loss}


def test_a_target_that_would_refuse_gets_the_nearest_it_takes() -> None:
    found = translate("sb3", "ppo2", n_envs=10, n_steps=100, batch_size=300)
    assert not found.target.reading.refusals
    assert found.target.layout["batch"] == 1000
    assert "minibatches" in {d.code for d in found.differences if d.loss}


def test_a_schedule_that_skrl_has_as_a_class_is_carried() -> None:
    found = translate("rsl_rl", "skrl", num_envs=4096, num_steps_per_env=24)
    assert "learning_rate_scheduler=KLAdaptiveLR," in found.paste
    back = translate("skrl", "rsl_rl", num_envs=64, learning_rate_scheduler="KLAdaptiveLR")
    assert not [one for one in back.differences if one.code == "schedule"]
    other = translate("skrl", "sb3", num_envs=64, learning_rate_scheduler="KLAdaptiveLR")
    assert [one.kind for one in other.differences if one.code == "schedule"] == ["left"]
