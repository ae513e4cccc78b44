"""GradientProbe in real trainings: it changes nothing, says what is true, and refuses in time."""

import csv
import warnings
from pathlib import Path

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.spaces import Box, MultiBinary
from stable_baselines3 import A2C, DQN, PPO
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.logger import configure
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.vec_env import DummyVecEnv, VecMonitor, VecNormalize
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tests.integrations.sb3.sb3_toys import Parts, Picture
from tests.integrations.sb3.tables import table_model

from nbyt.cli.main import run
from nbyt.errors import UsageError
from nbyt.exact import garnet, moments
from nbyt.integrations.sb3 import GradientProbe
from nbyt.results import plain
from nbyt.store.run import read_probes

NUMBERS = (
    "individual",
    "covariance",
    "variance",
    "ess_ratio",
    "covariance_share",
    "noise_factor",
    "noise_scale",
)


def cartpole(**given) -> PPO:
    return PPO("MlpPolicy", make_vec_env("CartPole-v1", 8, seed=3), n_steps=32, seed=3, **given)


def cheetah(**given) -> PPO:
    envs = VecNormalize(make_vec_env("HalfCheetah-v5", 1, seed=3))
    return PPO("MlpPolicy", envs, n_steps=128, ent_coef=0.01, seed=3, **given)


def pictures(**given) -> PPO:
    given.setdefault("policy_kwargs", {"features_extractor_kwargs": {"features_dim": 8}})
    return PPO("CnnPolicy", make_vec_env(Picture, 8), n_steps=4, batch_size=16, seed=3, **given)


def parts(**given) -> A2C:
    return A2C("MultiInputPolicy", make_vec_env(Parts, 8), n_steps=4, seed=3, **given)


def weights(model: BaseAlgorithm) -> list[torch.Tensor]:
    return list(model.policy.state_dict().values())


@pytest.mark.parametrize(("make", "pool"), [(cartpole, 4), (cheetah, 0), (pictures, 0), (parts, 0)])
def test_weights_are_the_same_bit_for_bit_with_and_without(make, pool) -> None:
    total = 4 * make().n_steps * make().n_envs
    plain = make().learn(total)
    probe = GradientProbe(every=3, pool=pool)
    probed = make().learn(total, callback=probe)
    assert [record["update"] for record in probe.records] == [3]
    pairs = zip(weights(plain), weights(probed), strict=True)
    assert all(torch.equal(one, other) for one, other in pairs)
    np.testing.assert_equal(probed._last_obs, plain._last_obs)
    for record in probe.records:
        assert not probe._engine.functions.slow, "the scores were taken in one batch"
        for gradient in record["gradients"].values():
            assert gradient["variance"]["value"] > 0
            assert gradient["individual"]["value"] > 0


def test_intervals_hold_what_the_oracle_says() -> None:
    control = garnet(6, 2, 0)
    model = table_model(control, envs=64, steps=8)
    probe = GradientProbe(every=2, minibatches=False)
    model.learn(64 * 8 * 40, callback=probe)
    exact = moments(control.env, control.stage, steps=8, gamma=control.gamma, lam=control.lam)
    held = []
    for objective in ("actor", "critic"):
        for name in ("individual", "covariance", "variance"):
            truth = float(getattr(getattr(exact, objective), name)) / 64
            found = [record["gradients"][objective][name] for record in probe.records]
            held += [one["low"] <= truth <= one["high"] for one in found]
            values = np.array([one["value"] for one in found])
            error = values.std(ddof=1) / np.sqrt(len(values))
            assert abs(values.mean() - truth) < 4 * error
    assert np.mean(held) > 0.85


def events(folder: Path) -> dict[str, float]:
    """The last of every number in TensorBoard's event files, read by TensorBoard."""
    read = EventAccumulator(str(folder))
    read.Reload()
    return {tag: read.Scalars(tag)[-1].value for tag in read.Tags()["scalars"]}


def test_numbers_reach_the_logger_tensorboard_and_csv(tmp_path, capsys) -> None:
    model = cartpole()
    model.set_logger(configure(str(tmp_path), ["stdout", "csv", "tensorboard"]))
    probe = GradientProbe(every=2, verbose=2)
    model.learn(4 * 256, callback=probe)
    names = {f"nbyt/{part}_{name}" for part in ("actor", "critic", "total") for name in NUMBERS}
    seen = events(tmp_path)
    known = {n for n in names if seen.get(n) is not None}
    assert {"nbyt/actor_variance", "nbyt/critic_individual", "nbyt/total_ess_ratio"} <= known
    last = probe.records[-1]["gradients"]["actor"]["variance"]
    for end in ("", "_low", "_high"):
        written = seen[f"nbyt/actor_variance{end}"]
        assert written == pytest.approx(last[end.strip("_") or "value"], rel=1e-5)
    assert {"nbyt/minibatch_cosine_first", "nbyt/ratio_high"} <= seen.keys()
    with (tmp_path / "progress.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert float(rows[-1]["nbyt/actor_variance"]) == pytest.approx(last["value"], rel=1e-5)
    shown = capsys.readouterr().out
    assert "actor_ess_ratio" in shown and "actor_variance_low" not in shown


def test_only_what_matters_most_is_logged_unless_asked(tmp_path) -> None:
    model = cartpole()
    model.set_logger(configure(str(tmp_path), ["tensorboard"]))
    model.learn(4 * 256, callback=GradientProbe(every=1))
    ours = {name for name in events(tmp_path) if name.startswith("nbyt/")}
    assert {"nbyt/actor_ess_ratio", "nbyt/minibatch_cosine_last"} <= ours
    assert len(ours) <= 6


def test_records_are_kept_for_the_report(tmp_path, capsys) -> None:
    out = tmp_path / "probes"
    probe = GradientProbe(every=2, out=out)
    cartpole().learn(4 * 256, callback=probe)
    kept = plain(read_probes(out))
    assert [one["update"] for one in kept["records"]] == [2, 4]
    assert kept["records"][0]["minibatches"] == probe.records[0]["minibatches"]
    assert kept["layout"]["envs"] == 8 and kept["env"] == "CartPole-v1"
    (out / "report.html").unlink()
    assert run(["report", str(out), "--json"]) == 0
    assert "PPO on CartPole-v1" in (out / "report.html").read_text()


def test_a_folder_with_links_leads_nowhere_else(tmp_path) -> None:
    out, theirs = tmp_path / "probes", tmp_path / "theirs"
    cartpole().learn(2 * 256, callback=GradientProbe(every=2, out=out))
    theirs.write_text("mine")
    for name in ("probes.json", "record-000002.json", "report.html"):
        (out / name).unlink()
        (out / name).symlink_to(theirs)
    cartpole().learn(2 * 256, callback=GradientProbe(every=2, out=out))
    assert theirs.read_text() == "mine" and not any(path.is_symlink() for path in out.iterdir())


def test_few_envs_are_cut_into_pieces_and_said_to_be_approximate() -> None:
    probe = GradientProbe(every=1)
    PPO("MlpPolicy", "CartPole-v1", n_steps=64, batch_size=64, seed=0).learn(64, callback=probe)
    (record,) = probe.records
    assert record["units"] == {"count": 32, "steps": 2, "whole": False, "measured": 32}
    assert all(one.get("approximate") for one in record["gradients"]["critic"].values())
    assert "pieces" in record["warnings"][0]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: DQN("MlpPolicy", "CartPole-v1"), "no on-policy algorithm"),
        (lambda: PPO("MlpPolicy", "Pendulum-v1", use_sde=True), "use_sde"),
        (lambda: frozen(PPO("MlpPolicy", "CartPole-v1")), "no parameter that is trained"),
        (lambda: recurrent(PPO("MlpPolicy", "CartPole-v1")), "recurrent"),
        (lambda: foreign(PPO("MlpPolicy", "CartPole-v1")), "score of a single step"),
        (lambda: crowded(PPO("MlpPolicy", "CartPole-v1")), "normalises over the batch"),
        (lambda: PPO(Louder, "CartPole-v1"), "evaluate_actions"),
        (lambda: A2C("MlpPolicy", "CartPole-v1", n_steps=3), "nothing that is independent"),
    ],
)
def test_what_cannot_be_measured_is_refused_before_training(make, words) -> None:
    model = make()
    with pytest.raises(UsageError, match=words):
        model.learn(10, callback=GradientProbe())
    assert model.num_timesteps == 0


class Louder(ActorCriticPolicy):
    """Trained by other log-probabilities than those it acts by."""

    def evaluate_actions(self, obs, actions):
        values, log_prob, entropy = super().evaluate_actions(obs, actions)
        return values, 3 * log_prob, entropy


def crowded(model: PPO) -> PPO:
    model.policy.crowd = torch.nn.BatchNorm1d(2).eval()
    return model


def frozen(model: PPO) -> PPO:
    model.policy.requires_grad_(False)
    return model


def recurrent(model: PPO) -> PPO:
    model.policy.memory = torch.nn.LSTM(2, 2)
    return model


def foreign(model: PPO) -> PPO:
    model.policy = torch.nn.Linear(2, 2)
    return model


def test_a_share_of_the_time_is_kept() -> None:
    probe = GradientProbe(every=1, share=1e-6)
    cartpole().learn(4 * 256, callback=probe)
    assert [record["update"] for record in probe.records] == [1]


def test_bad_settings_are_refused_at_once() -> None:
    for given in ({"every": 0}, {"pool": 2}, {"share": 1.5}):
        with pytest.raises(UsageError):
            GradientProbe(**given)
    with pytest.raises(UsageError, match="split"):
        cartpole().learn(256, callback=GradientProbe(pool=8, steps=[5]))


def test_a_training_too_short_to_be_measured_says_so() -> None:
    with pytest.warns(UserWarning, match="no gradient was measured"):
        cartpole().learn(256, callback=GradientProbe())


@pytest.mark.parametrize(("envs", "steps", "units"), [(8, 125, (8, 125)), (4, 61, (32, 7))])
def test_any_number_of_steps_is_measured(envs: int, steps: int, units: tuple[int, int]) -> None:
    venv = make_vec_env("CartPole-v1", envs, seed=0)
    with pytest.warns(UserWarning, match="mini-batch"):
        model = PPO("MlpPolicy", venv, n_steps=steps, ent_coef=0.01, n_epochs=1, seed=0)
    probe = GradientProbe(every=1)
    model.learn(envs * steps, callback=probe)
    (record,) = probe.records
    assert (record["units"]["count"], record["units"]["steps"]) == units
    assert record["gradients"]["actor"]["individual"]["value"] > 0


class Switches(gymnasium.Env):
    """Actions that are several switches."""

    observation_space = Box(-1, 1, (2,), np.float32)
    action_space = MultiBinary(3)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return self.np_random.uniform(-1, 1, 2).astype(np.float32), {}

    def step(self, action):
        seen = self.np_random.uniform(-1, 1, 2).astype(np.float32)
        return seen, float(action.sum()), bool(self.np_random.random() < 0.1), False, {}


def test_switches_a_watching_wrapper_and_a_schedule_are_no_trouble(tmp_path) -> None:
    venv = VecMonitor(DummyVecEnv([Switches] * 8))
    small = {"n_steps": 16, "batch_size": 64, "n_epochs": 1, "clip_range": lambda left: 0.2 * left}
    model = PPO("MlpPolicy", venv, **small)
    for times in (1, 2):
        probe = GradientProbe(every=1, out=tmp_path / "probes")
        model.learn(128, callback=probe, reset_num_timesteps=False)
        kept = plain(read_probes(tmp_path / "probes"))
        assert [one["update"] for one in kept["records"]] == [*range(1, times + 1)]
    assert kept["settings"]["clip"] == "a schedule"
    with pytest.raises(UsageError):
        model.learn(128, callback=GradientProbe(pool=4))


class Tally(gymnasium.Env):
    """Episodes of 64 steps whose observation is the step, so that phases can be told."""

    observation_space = Box(0, 1, (1,), np.float32)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.steps = 0
        return np.zeros(1, np.float32), {}

    def step(self, action):
        self.steps += 1
        seen = np.array([self.steps / 64], np.float32)
        return seen, float(action), False, self.steps == 64, {}


def told(model: PPO, total: int, **given) -> tuple[GradientProbe, list[str]]:
    """A probed training, and what it was warned of."""
    probe = GradientProbe(every=1, minibatches=False, **given)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.learn(total, callback=probe)
    return probe, [str(one.message) for one in caught if "to change" in str(one.message)]


def test_a_training_says_at_its_end_what_to_change() -> None:
    """Envs in step, a ragged last mini-batch and a short budget, all planted, are told."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = PPO("MlpPolicy", make_vec_env(Tally, 8), n_steps=8, batch_size=60, n_epochs=1)
    probe, said = told(model, 12 * 64)
    rules = [one.rule for one in probe.summary().findings]
    assert {"same_starts", "ragged", "few_updates"} <= set(rules)
    assert len(said) == 1
    assert "same step of an episode" in said[0] and "stagger the starts" in said[0]
    assert "a last mini-batch of 4 beside those of 60" in said[0]
    assert "the whole training is 12 updates of 64 samples" in said[0]


def test_envs_that_start_apart_are_not_called_in_step() -> None:
    class Apart(Tally):
        def reset(self, *, seed=None, options=None):
            first = not hasattr(self, "steps")
            seen = super().reset(seed=seed)
            self.steps = int(self.np_random.integers(64)) if first else 0
            return seen

    model = PPO("MlpPolicy", make_vec_env(Apart, 16, seed=0), n_steps=4, batch_size=64, n_epochs=1)
    probe, said = told(model, 30 * 64)
    assert [one.rule for one in probe.summary().findings] == [] and said == []
    assert "Nothing to change was found." in str(probe.summary())


def test_ages_are_those_of_the_envs() -> None:
    model = PPO("MlpPolicy", make_vec_env(Tally, 4), n_steps=24, batch_size=96, n_epochs=1)
    probe, _ = told(model, 5 * 96)
    ages = [int(one.ages[0]) for one in probe._evidence.rollouts]
    assert ages == [24, 48, 72 - 64, 96 - 64, 120 - 64]
    assert [one.ends for one in probe._evidence.rollouts] == [0, 0, 4, 0, 0]


def test_a_training_that_goes_on_is_told_once() -> None:
    model = PPO("MlpPolicy", make_vec_env(Tally, 4), n_steps=24, batch_size=96, n_epochs=1)
    probe = GradientProbe(every=1, minibatches=False)
    for times in (1, 0):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.learn(96, callback=probe, reset_num_timesteps=False)
        assert len([one for one in caught if "to change" in str(one.message)]) == times
