"""The wrappers that docs/advice.md offers to paste cut first episodes apart, and nothing else."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("stable_baselines3")

PAGE = Path(__file__).parents[2] / "docs/advice.md"
# Episodes of Pendulum end after 200 steps, and only then.
LENGTH, ENVS = 200, 64


def pasted(which: str) -> dict[str, Any]:
    """What is defined after a block of the page has run."""
    found = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    (block,) = (code for code in found if which in code)
    names: dict[str, Any] = {"__name__": "pasted"}
    exec(block, names)  # the page is ours
    return names


def ended(dones: list[np.ndarray]) -> list[np.ndarray]:
    """For every env, after how many steps each of its episodes ended."""
    return [np.flatnonzero(column) + 1 for column in np.array(dones).T]


def check(ends: list[np.ndarray]) -> None:
    """First episodes end anywhere, the others have their full length."""
    first = [one[0] for one in ends]
    assert max(first) <= LENGTH and len(set(first)) > ENVS / 3
    assert np.std(first) == pytest.approx(LENGTH / np.sqrt(12), rel=0.3)
    assert all(np.diff(one).tolist() == [LENGTH] * (len(one) - 1) for one in ends)


def test_the_wrapper_for_gymnasium() -> None:
    names = pasted("gymnasium.Wrapper")
    envs, dones = names["envs"], []
    envs.reset(seed=0)
    resets = np.zeros(ENVS, bool)
    for _ in range(2 * LENGTH + 3):
        _, _, terminated, truncated, _ = envs.step(envs.action_space.sample())
        assert not terminated.any()
        # A vector env of Gymnasium gives its reset a step of its own, which is none of an episode.
        dones.append(truncated.copy())
        resets += truncated
    envs.close()
    lengths = [one - np.arange(len(one)) for one in ended(dones)]
    check(lengths)
    assert resets.all()


def test_the_wrapper_for_stable_baselines3() -> None:
    names = pasted("VecEnvWrapper")
    envs, model, dones = names["envs"], names["model"], []
    assert model.n_steps == 8 and envs.num_envs == ENVS
    seen = envs.reset()
    for _ in range(2 * LENGTH):
        before = seen
        seen, _, done, infos = envs.step(np.zeros((ENVS, 1), np.float32))
        for k in np.flatnonzero(done):
            assert infos[k]["TimeLimit.truncated"]
            # The step goes on from the state before; what comes after it is another episode.
            last = infos[k]["terminal_observation"]
            assert np.abs(last[:2] - before[k][:2]).max() < 0.5
            assert not np.array_equal(last, seen[k])
        dones.append(done.copy())
    check(ended(dones))
    model.learn(2 * ENVS * model.n_steps)
    envs.close()
