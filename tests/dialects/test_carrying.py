"""A user's settings are carried over, or listed as left: none is dropped in silence."""

import pytest
from hypothesis import given, settings
from tests.dialects.random_settings import explanations

from nbyt.dialects import explain
from nbyt.dialects.carrying import carried, library_settings, shared_settings
from nbyt.dialects.dialect import Dialect, every, names
from nbyt.dialects.explaining import Explanation
from nbyt.training.plan import PPOSettings


def test_all_of_a_librarys_settings_are_carried() -> None:
    sizes = {"n_envs": 8, "n_steps": 256, "batch_size": 64, "n_epochs": 5, "total_timesteps": 1e5}
    others = {"gamma": 0.9, "gae_lambda": 0.8, "learning_rate": 1e-3, "clip_range": 0.1}
    more = {"ent_coef": 0.01, "vf_coef": 0.25, "max_grad_norm": 1.0, "target_kl": 0.02}
    found = carried(explain("sb3", **sizes, **others, **more, normalize_advantage=False))
    assert (found.envs, found.steps, found.left) == (8, 256, {})
    assert found.values == {
        "minibatch": 64,
        "epochs": 5,
        "total": 100_000,
        "gamma": 0.9,
        "lambda": 0.8,
        "learning_rate": 1e-3,
        "normalise_advantages": "off",
        "clip": 0.1,
        "entropy_coefficient": 0.01,
        "value_coefficient": 0.5,  # of half the squared error
        "max_grad_norm": 1.0,
        "target_kl": 0.02,
    }


@settings(max_examples=150)
@given(explanations())
def test_every_setting_given_is_carried_or_left(found: Explanation) -> None:
    own = carried(found)
    words = [key for keys in found.dialect.words.values() for key in keys]
    carriers = {one.key for one in own.settings.values()}
    for key in found.reading.settings.given:
        told = any(left.startswith(f"{key}=") for left in own.left)
        assert told or key in carriers or key in words
    assert own.envs * own.steps % own.values["minibatch"] == 0
    fields = {"lam" if name == "lambda" else name: value for name, value in own.values.items()}
    PPOSettings(**{k: v for k, v in fields.items() if k not in ("minibatch", "epochs", "total")})


@pytest.mark.parametrize("dialect", every(), ids=names())
def test_what_is_said_in_a_librarys_words_is_heard_again(dialect: Dialect) -> None:
    ours = {"clip": 0.3, "entropy_coefficient": 0.02, "value_coefficient": 0.7, "target_kl": 0.01}
    written = library_settings(dialect, ours)
    again = shared_settings(dialect, {key: str(value) for key, value in written.items()})
    assert {name: one.value for name, one in again.items()} == pytest.approx(
        {name: value for name, value in ours.items() if name in again}
    )
    assert {one.key for one in again.values()} == set(written)


def test_what_our_ppo_has_not_is_left_with_its_reason() -> None:
    found = carried(
        explain("sb3", n_envs=8, n_steps=125, learning_rate="lin_3e-4", use_sde=True, clip_range=0)
    )
    assert set(found.left) == {"learning_rate=lin_3e-4", "use_sde=True", "clip_range=0",
                               "batch_size=64"}  # fmt: skip
    assert "does not divide" in found.left["batch_size=64"]
    assert found.values["minibatch"] == 50 and "learning_rate" not in found.values
