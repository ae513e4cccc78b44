"""--current: how a layout is read, and which of a library's settings are taken over."""

import pytest

from nbyt.cli.current import own_layout, with_own
from nbyt.cli.options import Learning
from nbyt.errors import LayoutError, UsageError
from nbyt.training.plan import PPOSettings

SB3 = ("sb3", "n_envs=8", "n_steps=256", "gamma=0.9", "clip_range=0.1")


def test_a_layout_is_two_numbers_or_a_librarys_settings() -> None:
    assert own_layout((), None) is None
    plain, library = own_layout(("8x256",), 2048), own_layout(SB3, 2048)
    assert (plain.envs, plain.steps, plain.values) == (8, 256, {})
    assert (library.envs, library.steps) == (8, 256)
    assert library.values["gamma"] == 0.9 and library.values["clip"] == 0.1


def test_another_batch_and_more_than_a_layout_are_refused() -> None:
    with pytest.raises(LayoutError, match="2048 samples, not 1024"):
        own_layout(("8x256",), 1024)
    with pytest.raises(UsageError, match="more than a layout"):
        own_layout(("8x256", "n_epochs=4"), None)


def test_flags_win_over_the_users_settings() -> None:
    own = own_layout(SB3, None)
    taken = with_own(Learning(gamma=0.5), own, {"gamma"})
    assert taken.gamma == 0.5 and taken.clip == 0.1
    assert with_own(Learning(), None, set()) == PPOSettings()
