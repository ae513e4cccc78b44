"""Laws of the single-file example: it learns, its probe speaks, and the probe changes nothing."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import torch
from examples.cleanrl_style import Agent, Collector, advantages_of, read_options, train

from nbyt.collect.pool import Pool
from nbyt.gradients.spec import fragment_advantages
from nbyt.results import plain
from nbyt.store.run import read_probes

WORDS = ["--envs", "16", "--steps", "32", "--minibatch", "128", "--total", "6144"]


class Training(NamedTuple):
    """One training: its weights, its returns, what it printed, and its folder."""

    weights: torch.Tensor
    means: list[float]
    printed: list[str]
    out: Path


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Iterator[None]:
    """More only get into each other's way with networks so small."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def training(tmp_path_factory: pytest.TempPathFactory) -> Training:
    out = tmp_path_factory.mktemp("example") / "probes"
    with pytest.MonkeyPatch.context() as patch:
        printed: list[str] = []
        patch.setattr("builtins.print", lambda text, **_: printed.append(str(text)))
        agent, means = train(read_options([*WORDS, "--every", "6", "--out", str(out)]))
    return Training(_flat(agent), means, printed, out)


def test_it_learns(training: Training) -> None:
    assert len(training.means) == 12
    assert training.means[-1] > 1.5 * training.means[0] > 0


def test_it_prints_what_it_measured_and_keeps_it(training: Training) -> None:
    *lines, summary, page = training.printed
    assert "updates measured, 512 samples each" in summary
    assert "the whole training is 12 updates of 512 samples" in summary
    assert [line.split(":")[0].split()[-1] for line in lines] == ["6", "12"]
    assert all("ess ratio" in line and "noise scale" in line for line in lines)
    assert Path(page).read_text().startswith("<!")
    records = plain(read_probes(training.out))["records"]
    assert [record["samples"] for record in records] == [3072, 6144]
    assert [record["mean_return"] for record in records] == [training.means[5], training.means[11]]


def test_it_learns_the_same_without_the_probe(training: Training) -> None:
    agent, means = train(read_options([*WORDS, "--every", "0"]))
    assert means == training.means
    assert torch.equal(_flat(agent), training.weights)


def test_its_advantages_are_those_of_the_package() -> None:
    torch.manual_seed(0)
    agent, collector = Agent(4, 2), Collector("CartPole-v1", 4, 0)
    batch = collector.collect(agent, 64)
    assert batch.terminated.any()
    seen = {name: one.numpy() for name, one in batch._asdict().items()}
    ours = fragment_advantages(_pool(seen), 0.99, 0.95, 64, 64)
    np.testing.assert_allclose(advantages_of(batch), ours, rtol=1e-4, atol=1e-5)


def _pool(seen: dict[str, np.ndarray]) -> Pool:
    names = ("obs", "actions", "rewards", "values", "next_values", "next_values")
    return Pool(*(seen[name] for name in names), seen["terminated"], seen["truncated"])


def _flat(agent: Agent) -> torch.Tensor:
    return torch.cat([p.detach().flatten() for p in agent.parameters()])
