"""GradientProbe in hand-written torch loops."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from nbyt.errors import UsageError
from nbyt.integrations.torch import GradientProbe
from nbyt.results import plain
from nbyt.store.run import read_probes

T, N = 12, 8


class Agent(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.actor = torch.nn.Sequential(
            torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2)
        )
        self.critic = torch.nn.Sequential(
            torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1)
        )

    def law(self, obs: torch.Tensor) -> torch.distributions.Categorical:
        return torch.distributions.Categorical(logits=self.actor(obs))

    def log_prob(self, obs: torch.Tensor, actions: torch.Tensor) -> torch.Tensor:
        return self.law(obs).log_prob(actions)

    def value(self, obs: torch.Tensor) -> torch.Tensor:
        return self.critic(obs)  # [R, 1] is as good as [R]


def arrays(agent: Agent, seed: int = 0) -> dict:
    generator = np.random.default_rng(seed)
    obs = torch.tensor(generator.normal(size=(T, N, 3)), dtype=torch.float32)
    terminated = generator.random((T, N)) < 0.1
    with torch.no_grad():
        values = agent.critic(obs)[..., 0]
    return {
        "obs": obs,
        "actions": torch.tensor(generator.integers(0, 2, (T, N))),
        "rewards": torch.tensor(generator.normal(size=(T, N)), dtype=torch.float32),
        "terminated": terminated,
        "truncated": (generator.random((T, N)) < 0.1) & ~terminated,
        "values": values,
    }


def by_hand(given: dict, gamma: float, lam: float, last: np.ndarray, final: np.ndarray):
    """GAE as it is written down."""
    values, advantage, later = np.asarray(given["values"]), np.zeros((T, N)), np.zeros(N)
    for t in reversed(range(T)):
        following = last if t == T - 1 else values[t + 1]
        following = np.where(given["truncated"][t], final[t], following)
        following = np.where(given["terminated"][t], 0, following)
        ended = given["terminated"][t] | given["truncated"][t]
        delta = np.asarray(given["rewards"])[t] + gamma * following - values[t]
        later = delta + gamma * lam * np.where(ended, 0, later)
        advantage[t] = later
    return advantage


def test_measured_is_what_single_gradients_give(tmp_path) -> None:
    agent = Agent()
    probe = GradientProbe(log_prob=agent.log_prob, value=agent.value, normalise=False)
    given = arrays(agent)
    last, final = np.ones(N, np.float32), np.full((T, N), 0.5, np.float32)
    found = probe.measure(**given, last_values=last, final_values=final)
    advantage = by_hand(given, 0.99, 0.95, last, final)
    streams = []
    for n in range(N):
        agent.zero_grad()
        weight = torch.tensor(advantage[:, n], dtype=torch.float32)
        (weight * agent.log_prob(given["obs"][:, n], given["actions"][:, n])).mean().backward()
        streams.append(torch.cat([p.grad.reshape(-1) for p in agent.actor.parameters()]).numpy())
    agent.zero_grad()
    variance = np.var(np.array(streams, float), axis=0, ddof=1).sum() / N
    assert_allclose(found.actor.variance.value, variance, rtol=1e-4)
    assert (found.units, found.unit_steps, found.whole) == (N, T, True)
    same = probe.measure(**given, advantages=advantage)
    assert_allclose(same.critic.variance.value, found.critic.variance.value, rtol=1e-4)
    assert probe.updates == 2 and probe.samples == 2 * T * N


def test_without_last_values_the_last_step_is_the_next_value() -> None:
    agent = Agent()
    probe = GradientProbe(log_prob=agent.log_prob, value=agent.value)
    given = arrays(agent)
    whole = probe.measure(**given)
    shorter = {name: one[:-1] for name, one in given.items()}
    cut = probe.measure(**shorter, last_values=given["values"][-1])
    assert whole.steps == T - 1
    assert whole.actor == cut.actor


def test_functions_find_their_modules() -> None:
    agent = Agent()
    actor, critic = agent.actor, agent.critic

    def log_prob(obs: torch.Tensor, actions: torch.Tensor) -> torch.Tensor:
        return torch.distributions.Categorical(logits=actor(obs)).log_prob(actions)

    given = arrays(agent)
    apart = GradientProbe(log_prob=log_prob, value=critic).measure(**given)
    named = GradientProbe(
        log_prob=lambda o, a: agent.log_prob(o, a), value=agent.value, module=agent
    ).measure(**given)
    assert_allclose(apart.total.variance.value, named.total.variance.value, rtol=1e-5)


def test_records_are_kept(tmp_path) -> None:
    agent = Agent()
    out = tmp_path / "probes"
    probe = GradientProbe(log_prob=agent.log_prob, value=agent.value, out=out, title="my loop")
    for seed in range(3):
        probe.measure(**arrays(agent, seed), update=10 * (seed + 1), mean_return=float(seed))
    kept = plain(read_probes(out))
    assert [one["update"] for one in kept["records"]] == [10, 20, 30]
    assert "my loop" in probe.write_page().read_text()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"obs": torch.zeros(N, T, 3)}, "time first"),
        ({"rewards": torch.zeros(T)}, "rewards has the shape"),
        ({"values": torch.full((T, N), float("nan"))}, "not finite"),
        ({"advantages": np.zeros((T, N + 1))}, "advantages has the shape"),
        ({"final_values": np.zeros((T, N + 1))}, "final_values has the shape"),
    ],
)
def test_wrong_arrays_are_refused(change, words) -> None:
    agent = Agent()
    probe = GradientProbe(log_prob=agent.log_prob, value=agent.value)
    with pytest.raises(UsageError) as error:
        probe.measure(**{**arrays(agent), **change})
    assert words in str(error.value) + error.value.fix


def test_what_has_no_score_is_refused_at_construction() -> None:
    agent = Agent()
    agent.memory = torch.nn.GRU(3, 3)
    with pytest.raises(UsageError, match="recurrent"):
        GradientProbe(log_prob=agent.log_prob, value=agent.value)
    crowd = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2))
    with pytest.raises(UsageError, match="normalises over the batch"):
        GradientProbe(log_prob=lambda o, a: crowd(o)[:, 0], value=lambda o: crowd(o)[:, 0])
    with pytest.raises(UsageError, match="no torch module"):
        GradientProbe(log_prob=lambda o, a: o, value=lambda o: o)
    with pytest.raises(UsageError, match="entropy"):
        GradientProbe(log_prob=crowd[0], value=crowd[0], entropy_coefficient=0.1)


def test_double_precision_and_dropout_are_measured_as_the_policy_acts() -> None:
    agent = Agent()
    given = arrays(agent)
    plain = GradientProbe(log_prob=agent.log_prob, value=agent.value).measure(**given)
    agent.actor.insert(2, torch.nn.Dropout(0.5))
    agent.double().train()
    before = torch.get_rng_state()
    probe = GradientProbe(log_prob=agent.log_prob, value=agent.value)
    found = probe.measure(**{**given, "obs": given["obs"].double()})
    assert_allclose(found.actor.variance.value, plain.actor.variance.value, rtol=1e-4)
    assert torch.equal(before, torch.get_rng_state()) and agent.actor[2].training


def test_a_batch_with_nothing_to_learn_says_so() -> None:
    agent = Agent()
    probe = GradientProbe(log_prob=agent.log_prob, value=agent.value)
    found = probe.measure(**arrays(agent), advantages=np.zeros((T, N)))
    assert found.actor.noise_scale.value is None
    assert "zero" in found.actor.noise_factor.reason and "nothing to learn" in found.warnings[0]
    assert "undetermined" in str(found)
