"""Laws of the batched simulator, and that every command works on it."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from examples.point_masses import LIMIT, PointMasses, make_thousand, make_vec  # noqa: E402

from nbyt.collect.pool import collect_host_pool  # noqa: E402
from nbyt.collect.segment import PoolPlan  # noqa: E402
from nbyt.envs.user_code import env_from  # noqa: E402

EXAMPLES = Path(__file__).parents[2] / "examples"


def nbyt(*words: str) -> dict:
    """What a command answers, run where a user of the example would."""
    command = [sys.executable, "-m", "nbyt.cli.main", *words, "--json"]
    done = subprocess.run(command, cwd=EXAMPLES, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    return answer["data"] | {"warnings": answer["warnings"]}


def test_masses_do_not_know_of_each_other() -> None:
    """Mass i moves as it does alone, whatever the others do."""
    many, one = PointMasses(5), PointMasses(1)
    many.reset(seed=0)
    one.reset(seed=1)
    one.place[0], one.speed[0] = many.place[3], many.speed[3]
    for _ in range(LIMIT - 1):
        actions = torch.rand(5, 2) - 0.5
        seen, reward, ended, _ = many.step(actions)
        alone = one.step(actions[3:4])
        torch.testing.assert_close(seen[3], alone[0][0])
        torch.testing.assert_close(reward[3], alone[1][0])
        assert ended[3] == alone[2][0]
        if ended[3]:
            break


def test_a_mass_that_is_pushed_falls_and_one_that_is_not_meets_the_limit() -> None:
    env = PointMasses(2)
    env.reset(seed=0)
    ends = []
    for _ in range(LIMIT):
        _, reward, ended, extras = env.step(torch.tensor([[1.0, 0.0], [0.0, 0.0]]))
        ends.append((ended.tolist(), extras["time_outs"].tolist(), reward[0].item()))
    first = next(one for one in ends if one[0][0])
    assert first[0] == [True, False] and first[1] == [False, False] and first[2] == -100.0
    assert ends[-1][0][1] and ends[-1][1][1]


class Still:
    """A policy that pushes nothing."""

    def actor(self, group, segment, steps, envs):
        del group, segment, steps
        return self._Actor(envs)

    def values(self, observation):
        return np.zeros(observation.shape[:2], np.float32)

    class _Actor:
        def __init__(self, envs):
            self._envs = envs

        def act(self, observation, time):
            del observation, time
            action = np.zeros((self._envs, 2), np.float32)
            return action, action


def test_chains_of_a_pool_begin_anywhere_in_an_episode() -> None:
    """Though its envs cannot be reset one by one; all episodes last as long as the limit."""
    env = env_from(make_thousand)
    plan = PoolPlan(chains=300, steps=LIMIT, ahead=0, gamma=0.9, seed=0, envs=300)
    pool = collect_host_pool(env, Still(), plan)
    assert pool.truncated.sum(0).tolist() == [1] * 300
    first = pool.truncated.argmax(0)
    assert first.mean() == pytest.approx(LIMIT / 2, rel=0.15)
    assert first.std() == pytest.approx(LIMIT / np.sqrt(12), rel=0.15)
    together = collect_host_pool(env, Still(), plan._replace(synchronised=True))
    assert set(together.truncated.argmax(0)) == {LIMIT - 1}


def test_all_commands_work_on_it(tmp_path: Path) -> None:
    run, costs = tmp_path / "run", tmp_path / "costs.json"
    env = "point_masses:make_vec"
    checked = nbyt("check-env", env)
    assert checked["faults"] == [] and "1024" in checked["steps_per_second"]
    small = ["--envs", "64", "--steps", "8", "--total", "2048"]
    nbyt("train", env, *small, "--stagger", "--out", str(run))
    few = ["--batch", "512", "--chains", "8", "--steps", "8,16", "--env", env]
    probed = nbyt("probe", str(run / "stage-3"), *few)
    assert len(probed["layouts"]) == 2
    timed = nbyt("time", env, "--batch", "512", "--envs", "4,512", "--out", str(costs))
    assert [row["envs"] for row in timed["layouts"]] == [4, 512]


def test_a_fixed_n_restricts_what_is_compared_and_says_so(tmp_path: Path) -> None:
    env = "point_masses:make_thousand"
    checked = nbyt("check-env", env)
    assert list(checked["steps_per_second"]) == ["1000"]
    assert "N is fixed at 1,000" in checked["warnings"][0]
    small = ["--batch", "2000", "--total", "4000", "--seeds", "1", "--out", str(tmp_path / "sweep")]
    swept = nbyt("sweep", env, *small, "--layouts", "1000x2,100x20", "--no-advice")
    assert swept["cells"]["failed"] == 0
    asked = ["--trainings", "0", "--stages", "0", "--out", str(tmp_path / "advice")]
    advised = nbyt("advise", env, "--batch", "4000", *asked)
    compared = {row["envs"] for row in advised["layouts"]}
    assert max(compared) == 1000 and min(compared) < 100


def test_any_n_can_be_had_where_it_is_a_choice() -> None:
    assert [env_from(make_vec).start(n).envs for n in (1, 30, 4096)] == [1, 30, 4096]
