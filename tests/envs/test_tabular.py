"""Laws of tabular envs: their outcomes are Gymnasium's, draws follow them, wrong ones fail."""

from collections import defaultdict

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from nbyt.envs import resolve, tabular
from nbyt.envs.protocol import DeviceEnv
from nbyt.errors import EnvUsageError

KNOWN = [
    "FrozenLake-v1",
    "FrozenLake8x8-v1",
    "Taxi-v4",
    "CliffWalking-v1",
    "CliffWalkingSlippery-v1",
]
# The variants that Gymnasium has by arguments, not by names of their own.
VARIANTS = {
    "FirmLake-v0": ("FrozenLake-v1", {"is_slippery": False}),
    "PaidLake-v0": ("FrozenLake-v1", {"success_rate": 0.7, "reward_schedule": (5, -1, -0.1)}),
    "RainyTaxi-v0": ("Taxi-v4", {"is_rainy": True}),
    "FickleTaxi-v0": ("Taxi-v4", {"fickle_passenger": True}),
}


@pytest.fixture
def variants():
    """Gymnasium knows the variants by name while the test runs."""
    for name, (base, arguments) in VARIANTS.items():
        gymnasium.register(name, gymnasium.spec(base).entry_point, kwargs=arguments)
    yield
    for name in VARIANTS:
        del gymnasium.registry[name]


def law(listed) -> dict[tuple, float]:
    """The probability of every (next state, reward, terminated) that can come."""
    found = defaultdict(float)
    for probability, after, reward, terminated in listed:
        found[int(after), float(reward), bool(terminated)] += probability
    return {outcome: probability for outcome, probability in found.items() if probability > 0}


@pytest.mark.parametrize("name", [*KNOWN, "FirmLake-v0", "PaidLake-v0", "RainyTaxi-v0"])
def test_the_outcomes_are_gymnasiums(name, variants) -> None:
    env, theirs = resolve(f"tabular:{name}"), gymnasium.make(name)
    assert isinstance(env, DeviceEnv)
    assert env.observation_space == theirs.observation_space
    assert env.action_space == theirs.action_space
    assert env.time_limit == theirs.spec.max_episode_steps
    np.testing.assert_allclose(env.start, theirs.unwrapped.initial_state_distrib)
    for s, row in theirs.unwrapped.P.items():
        for a, listed in row.items():
            own = [part[s, a] for part in env.outcomes]
            assert law(zip(*own, strict=True)) == law(listed)
            assert (own[0] > 0).sum() == len(law(listed))  # each outcome once
            assert (np.diff(own[0]) <= 0).all()


def test_every_toy_text_env_that_has_tables_is_found() -> None:
    toys = [
        name for name, spec in gymnasium.registry.items() if "toy_text" in str(spec.entry_point)
    ]
    assert set(toys) >= set(KNOWN)
    for name in toys:
        assert (tabular.find(name) is not None) == hasattr(gymnasium.make(name).unwrapped, "P")


def test_a_next_state_may_have_two_rewards() -> None:
    """At the slippery cliff's start, falling (-100) and bumping (-1) both lead to the start."""
    made = tabular.find("CliffWalkingSlippery-v1").outcomes
    assert set(made.reward[36, 1][made.state[36, 1] == 36]) == {-100, -1}


def test_a_passenger_who_changes_the_destination_behind_the_table_is_not_found(variants) -> None:
    assert tabular.find("FickleTaxi-v0") is None


@pytest.mark.parametrize("name", ["Blackjack-v1", "CartPole-v1", "Nope-v0", ""])
def test_what_has_no_tables_is_not_found(name) -> None:
    assert tabular.find(name) is None


@pytest.mark.parametrize("name", ["FrozenLake-v1", "CliffWalkingSlippery-v1"])
def test_drawn_frequencies_follow_the_tables(name) -> None:
    """Every (s, a) 3,000 times; each outcome's frequency within 5 standard errors."""
    env, draws = tabular.find(name), 3000
    actions = env.action_space.n
    pairs = env.observation_space.n * actions
    states, actions = np.divmod(np.arange(pairs), actions)

    @jax.jit
    def drawn(key):
        state = tabular.TabularState(jnp.asarray(states), jnp.zeros(pairs, jnp.int32))
        keys = jax.random.split(key, (draws, pairs))
        one = jax.vmap(env.step)
        return jax.vmap(lambda k: one(k, state, jnp.asarray(actions)))(keys)

    made = jax.device_get(drawn(jax.random.key(0)))
    counted = np.zeros(pairs)
    for chance, after, reward, ended in zip(
        *(np.moveaxis(part, 2, 0).reshape(-1, pairs) for part in env.outcomes), strict=True
    ):
        same = (made.observation == after) & (made.reward == reward) & (made.terminated == ended)
        seen = np.where(chance > 0, same.mean(axis=0), 0.0)
        error = np.sqrt(chance * (1 - chance) / draws)
        assert (np.abs(seen - chance) <= 5 * error + 1e-9).all()
        counted += seen
    np.testing.assert_allclose(counted, 1)


@pytest.mark.parametrize("start", [[0.5, 0.0, 0.3, 0.2], [0.0, 0.0, 1.0, 0.0]])
def test_starts_follow_their_law(start) -> None:
    env = tabular.from_arrays(*blank(4, 2), start)
    state, observation = jax.jit(jax.vmap(env.reset))(jax.random.split(jax.random.key(1), 4000))
    counts = np.bincount(observation, minlength=4)
    error = np.sqrt(np.array(start) * (1 - np.array(start)) / 4000)
    assert (np.abs(counts / 4000 - start) <= 4 * error).all()
    np.testing.assert_array_equal(state.number, observation)
    assert not state.time.any()


def test_the_taxi_starts_where_gymnasiums_does() -> None:
    env = tabular.find("Taxi-v4")
    starts = jax.jit(jax.vmap(env.reset))(jax.random.split(jax.random.key(2), 20_000))[1]
    possible = env.start > 0
    counts = np.bincount(starts, minlength=500)
    assert not counts[~possible].any()
    assert counts[possible].all()


def test_what_rounding_leaves_of_a_law_goes_to_no_impossible_state() -> None:
    """A law that sums to a millionth less than 1, and keys whose luck falls into that rest."""
    keys = jax.random.split(jax.random.key(5), 1 << 21)
    luckiest = keys[jax.jit(lambda k: jnp.argmax(jax.vmap(jax.random.uniform)(k)))(keys)]
    rest = 9e-7
    assert jax.random.uniform(luckiest) > 1 - rest
    transition = np.zeros((3, 1, 3))
    transition[:, 0, 0] = 1 - rest
    transition[2, 0, :2] = 0.5  # so that every (s, a) has room for two outcomes
    _, reward, terminated = blank(3, 1)
    env = tabular.from_arrays(transition, reward, terminated, [1 - rest, 0, 0])
    state, first = env.reset(luckiest)
    assert first == 0
    assert env.step(luckiest, state, jnp.int32(0)).observation == 0


def test_the_time_limit_truncates_at_the_limit_and_never_with_a_death() -> None:
    limit, walkers = 5, 400
    transition = np.zeros((2, 1, 2))
    transition[:, 0] = [0.7, 0.3]
    terminated = np.zeros((2, 1, 2), bool)
    terminated[:, :, 1] = True
    env = tabular.from_arrays(transition, np.ones((2, 1, 2)), terminated, [1, 0], time_limit=limit)

    def walk(key):
        def one(state, step_key):
            made = env.step(step_key, state, jnp.int32(0))
            return made.state, made

        return jax.lax.scan(one, env.reset(key)[0], jax.random.split(key, limit))[1]

    made = jax.jit(jax.vmap(walk))(jax.random.split(jax.random.key(3), walkers))
    assert not made.truncated[:, : limit - 1].any()
    np.testing.assert_array_equal(made.truncated[:, -1], ~made.terminated[:, -1])
    assert 0 < made.terminated[:, -1].sum() < walkers


def test_without_a_limit_nothing_is_truncated() -> None:
    env = tabular.from_arrays(*blank(2, 1), [1, 0])
    state = tabular.TabularState(jnp.int32(0), jnp.int32(10**6))
    assert env.time_limit is None
    assert not env.step(jax.random.key(0), state, jnp.int32(0)).truncated


def blank(states: int, actions: int):
    """Tables in which every action leads anywhere with the same probability, for nothing."""
    shape = (states, actions, states)
    return np.full(shape, 1 / states), np.zeros(shape), np.zeros(shape, bool)


def tables(**changed):
    """Right tables of 3 states and 2 actions, but for those that the test changes."""
    names = ("transition", "reward", "terminated", "start")
    right = dict(zip(names, (*blank(3, 2), [1.0, 0.0, 0.0]), strict=True))
    return {**right, **changed}


def spoilt(place, value):
    """The right transition table with one number changed."""
    transition = blank(3, 2)[0]
    transition[place] = value
    return transition


SQUARE = r"transition has shape .*, not \[S, A, S\]"
WRONG = {
    "two axes": (tables(transition=np.eye(3)), SQUARE),
    "not square": (tables(transition=np.full((3, 2, 4), 0.25)), SQUARE),
    "a number": (tables(transition=1.0), SQUARE),
    "no actions": (tables(transition=np.zeros((3, 0, 3))), SQUARE),
    "no states": (tables(transition=np.zeros((0, 2, 0)), start=[]), SQUARE),
    "ragged": (tables(transition=[[[1.0], [1.0, 0.0]]]), "not tables of numbers"),
    "words": (tables(reward="many"), "not tables of numbers"),
    "reward's shape": (tables(reward=np.zeros((3, 2))), r"shapes differ.*reward \(3, 2\)"),
    "terminated's shape": (tables(terminated=[True]), r"shapes differ.*terminated \(1,\)"),
    "start's shape": (tables(start=[1.0, 0.0]), r"shapes differ.*start \(2,\)"),
    "start a number": (tables(start=1.0), r"shapes differ.*start \(\)"),
    "reward nan": (tables(reward=np.full((3, 2, 3), np.nan)), "reward .* not finite"),
    "reward inf": (tables(reward=np.full((3, 2, 3), -np.inf)), "reward .* not finite"),
    "row too big": (tables(transition=spoilt((1, 1, 1), 0.5)), "transition has rows"),
    "negative": (tables(transition=spoilt((1, 1), [-0.5, 1.0, 0.5])), "transition has rows"),
    "transition nan": (tables(transition=spoilt((0, 0, 0), np.nan)), "transition has rows"),
    "start too small": (tables(start=[0.5, 0.0, 0.4]), "start has rows"),
    "start negative": (tables(start=[1.5, -0.5, 0.0]), "start has rows"),
    "limit 0": (tables(time_limit=0), "time_limit is 0"),
    "limit below 0": (tables(time_limit=-3), "time_limit is -3"),
    "limit a fraction": (tables(time_limit=2.5), "time_limit is 2.5"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_tables_are_refused_by_name(case) -> None:
    arguments, message = WRONG[case]
    with pytest.raises(EnvUsageError, match=message) as error:
        tabular.from_arrays(**arguments, id="tabular:mine")
    assert error.value.where == "tabular:mine"
    assert error.value.fix


def test_right_tables_are_not_refused() -> None:
    assert tabular.from_arrays(**tables(time_limit=3)).time_limit == 3
    assert tabular.from_outcomes(LISTS, [1.0, 0.0], time_limit=3).time_limit == 3


LISTS = [[[(0.5, 0, 1.0, False), (0.5, 1, 0.0, True)]], [[(1.0, 1, 0.0, True)]]]


def listed(*outcomes, **changed):
    """Right lists of 2 states and 1 action, but for the first state's and what else is changed."""
    return {"outcomes": [[list(outcomes)], LISTS[1]], "start": [1.0, 0.0], **changed}


FIRST = LISTS[0][0]
WRONG_LISTS = {
    "a number": (listed(outcomes=3), "not lists of outcomes: TypeError"),
    "no states": (listed(outcomes=[]), "not lists of outcomes: IndexError"),
    "no actions": (listed(outcomes=[[], []]), "state 0 has 0 actions"),
    "fewer actions": (listed(outcomes=[[FIRST, FIRST], [FIRST]]), "state 1 has 1 actions"),
    "a state missing": (listed(outcomes={0: {0: FIRST}, 2: {0: FIRST}}), r"KeyError\(1\)"),
    "three numbers": (listed((1.0, 0, 0.0)), "not lists of outcomes: ValueError"),
    "no whole state": (listed((1.0, 0.5, 0.0, False)), "not lists of outcomes: TypeError"),
    "a word": (listed((1.0, 0, "much", False)), "not lists of outcomes: ValueError"),
    "a huge state": (listed((1.0, 2**70, 0.0, False)), "not lists of outcomes: OverflowError"),
    "state too high": (listed((1.0, 2, 0.0, False)), "next state 2 is not one of 0 to 1"),
    "state below 0": (listed((1.0, -1, 0.0, False)), "next state -1 is not"),
    "reward nan": (listed((1.0, 0, np.nan, False)), "reward .* not finite"),
    "nothing": (listed(), "state 0, action 0 has no probabilities"),
    "too little": (listed((0.9, 0, 0.0, False)), "state 0, action 0 has no probabilities"),
    "negative": (
        listed((1.5, 0, 0.0, False), (-0.5, 0, 0.0, False)),
        "state 0, action 0 has no probabilities",
    ),
    "probability nan": (listed((np.nan, 0, 0.0, False)), "state 0, action 0 has no prob"),
    "start's shape": (listed(*FIRST, start=[1.0]), r"start has shape \(1,\), not \[2\]"),
    "start a word": (listed(*FIRST, start="here"), "not lists of outcomes: ValueError"),
    "start too small": (listed(*FIRST, start=[0.5, 0.0]), "start has rows"),
    "limit 0": (listed(*FIRST, time_limit=0), "time_limit is 0"),
}


@pytest.mark.parametrize("case", WRONG_LISTS)
def test_wrong_lists_are_refused_by_name(case) -> None:
    arguments, message = WRONG_LISTS[case]
    with pytest.raises(EnvUsageError, match=message) as error:
        tabular.from_outcomes(**arguments, id="tabular:mine")
    assert error.value.where == "tabular:mine"
    assert "(probability, next state, reward, terminated)" in error.value.fix


def test_all_faults_are_named_at_once() -> None:
    with pytest.raises(EnvUsageError) as error:
        tabular.from_arrays(
            **tables(start=[0.5, 0, 0], reward=np.full((3, 2, 3), np.nan), time_limit=0)
        )
    assert all(word in error.value.message for word in ("start has", "reward has", "time_limit"))
    wrong = listed((0.5, 7, np.nan, False), start=[0.5], time_limit=0)
    with pytest.raises(EnvUsageError) as error:
        tabular.from_outcomes(**wrong)
    words = ("start has", "reward has", "next state 7", "probabilities", "time_limit")
    assert all(word in error.value.message for word in words)
