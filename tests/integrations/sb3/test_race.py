"""Trainings of new models like a live one: they learn, are repeatable, and fail in words."""

import pytest
from stable_baselines3 import A2C, PPO

from nbyt.envs import resolve
from nbyt.errors import EnvError
from nbyt.integrations.sb3.race import SB3Runner, model_like
from nbyt.layout import Layout
from nbyt.sweeps.cells import make_jobs
from nbyt.sweeps.grid import Grid
from nbyt.training.curves import Curve
from nbyt.training.plan import PPOSettings


def grid(total: int = 4096) -> Grid:
    layouts = (Layout(8, 32, 64, 4), Layout(2, 128, 64, 4))
    points = tuple(sorted({1, max(1, total // 512), total // 256}))
    return Grid(resolve("gym:CartPole-v1"), layouts, (5, 6), total, points, PPOSettings())


def outcomes(model, asked: Grid) -> dict:
    jobs = make_jobs(asked, asked.cells)
    return dict(SB3Runner(model, None).run(asked, jobs, lambda job, updates: None))


@pytest.mark.learns
def test_new_models_learn_and_the_same_seed_learns_the_same() -> None:
    model = PPO("MlpPolicy", "CartPole-v1", n_steps=256, learning_rate=3e-3, seed=0)
    first, second = outcomes(model, grid()), outcomes(model, grid())
    assert all(isinstance(one, Curve) and len(one.returns) == 3 for one in first.values())
    assert first == second
    # Of four short trainings the mean rises well above the 20 or so of an untrained policy.
    ends = [one.returns[-1] for one in first.values()]
    assert sum(ends) / len(ends) > 30
    assert model.num_timesteps == 0


def test_a_new_model_has_the_settings_of_the_live_one_but_its_layout() -> None:
    model = PPO("MlpPolicy", "CartPole-v1", n_steps=64, clip_range=0.3, ent_coef=0.01, gamma=0.9)
    other = model_like(model, model.get_env(), Layout(1, 32, 16, 2), seed=1)
    assert (other.n_steps, other.batch_size, other.n_epochs, other.gamma) == (32, 16, 2, 0.9)
    assert other.clip_range(1.0) == 0.3 and other.ent_coef == 0.01
    actor = A2C("MlpPolicy", "CartPole-v1", n_steps=5)
    assert model_like(actor, actor.get_env(), Layout(1, 8, 8, 1)).n_steps == 8


def test_an_env_in_which_nothing_ends_says_so() -> None:
    model = PPO("MlpPolicy", "Pendulum-v1", n_steps=256, seed=0)
    layouts = (Layout(8, 16, 64, 1), Layout(4, 32, 64, 1))
    asked = Grid(resolve("gym:Pendulum-v1"), layouts, (0,), 256, (1, 2), PPOSettings())
    for outcome in outcomes(model, asked).values():
        assert not isinstance(outcome, Curve) and "no episode ended" in outcome.message


def test_an_env_that_fails_is_an_outcome() -> None:
    import gymnasium

    class Breaks(gymnasium.Wrapper):
        def step(self, action):
            raise RuntimeError("the cable is gone")

    model = PPO("MlpPolicy", "CartPole-v1", n_steps=256, seed=0)
    asked = grid(256)
    runner = SB3Runner(model, lambda: Breaks(gymnasium.make("CartPole-v1")))
    found = dict(runner.run(asked, make_jobs(asked, asked.cells), lambda job, updates: None))
    assert all(isinstance(one, EnvError) and "cable" in one.message for one in found.values())
