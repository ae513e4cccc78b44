"""The fewest changes reach the layout, touch nothing else, and none of them can be left out."""

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.dialects.random_settings import applied, explanations

from nbyt.dialects import explain
from nbyt.dialects.explaining import Explanation
from nbyt.dialects.solving import fewest_changes
from nbyt.layout import Layout, nearest_divisors


@settings(max_examples=200)
@given(explanations(), st.integers(1, 300))
def test_changes_reach_the_layout_and_keep_the_rest(found: Explanation, wanted: int) -> None:
    reading = found.reading
    assume(not reading.refusals and reading.sizes.batch < 10**7)
    batch = reading.sizes.batch
    steps = nearest_divisors(batch, wanted)[0]
    layout = Layout(batch // steps, steps, 1, reading.sizes.epochs)
    change = fewest_changes(reading, layout, same_minibatch=True)
    if change is None:
        return
    again = applied(found, change)
    assert again.layout["fragment"] == steps
    for word in ("batch", "minibatch", "epochs"):
        assert again.layout[word] == found.layout[word]
    if reading.total_steps and reading.rules.updates != "by_evaluation":
        assert abs((again.reading.updates or 0) - (reading.updates or 0)) <= 1
    assert change == {} or steps != reading.sizes.fragment or reading.sizes.asked != batch


def test_only_envs_and_steps_change_where_the_batch_stays() -> None:
    own = explain("sb3", n_envs=8, n_steps=256, batch_size=64, n_epochs=10, gamma=0.9)
    change = fewest_changes(own.reading, Layout(64, 32, 64, 10), same_minibatch=True)
    assert change == {"n_envs": 64, "n_steps": 32}
    assert fewest_changes(own.reading, Layout(8, 256, 64, 10), same_minibatch=True) == {}


def test_workers_stay_and_steps_counted_for_each_env_follow() -> None:
    own = explain("rllib", num_env_runners=4, train_batch_size_per_learner=2048)
    change = fewest_changes(own.reading, Layout(16, 128, 128, 30), same_minibatch=True)
    assert change == {"num_envs_per_env_runner": 4}
    own = explain("skrl", num_envs=64, rollouts=32, timesteps=3200)
    change = fewest_changes(own.reading, Layout(128, 16, 1024, 8), same_minibatch=True)
    assert change == {"num_envs": 128, "rollouts": 16, "timesteps": 1600}


def test_a_layout_that_the_library_cannot_have_is_told() -> None:
    one_env = explain("dopamine")
    assert fewest_changes(one_env.reading, Layout(2, 1024, 64, 10), same_minibatch=True) is None
