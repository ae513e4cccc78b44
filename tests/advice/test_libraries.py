"""The advised layout in the words of every library."""

from nbyt.advice.libraries import settings
from nbyt.dialects import explain
from nbyt.dialects.carrying import carried
from nbyt.dialects.dialect import load
from nbyt.layout import Layout


def test_the_layout_is_written_out_for_every_library() -> None:
    layout = Layout(4, 512, 256, 4)
    learning = {"gamma": 0.98, "lambda": 0.9, "learning_rate": 1e-3}
    found = {one.id: one for one in settings(layout, learning)}
    assert list(found)[:3] == ["sb3", "cleanrl", "rllib"] and len(found) >= 20
    assert "n_envs=4" in found["sb3"].paste and "n_steps=512" in found["sb3"].paste
    assert "gamma=0.98" in found["sb3"].paste and "gae_lambda=0.9" in found["sb3"].paste
    assert "--num-minibatches 8" in found["cleanrl"].paste
    assert all(one.exact or one.lost for one in found.values())


def test_no_length_of_a_run_is_invented() -> None:
    learning = {"gamma": 0.98, "lambda": 0.9, "learning_rate": 1e-3}
    for one in settings(Layout(8, 256, 64, 10), learning):
        keys = load(one.id).words["total"]
        assert not any(f"{key}=" in one.paste or f"{key}:" in one.paste for key in keys)
        assert "499712" not in one.paste and not any("the run" in lost for lost in one.lost)


def test_of_the_users_own_library_only_what_changes_is_pasted() -> None:
    own = carried(explain("rsl_rl", num_envs=64, num_steps_per_env=32, gamma=0.9, desired_kl=0.01))
    learning = {"gamma": 0.9, "lambda": 0.95, "learning_rate": 3e-4, "clip": 0.3}
    first, *others = settings(Layout(8, 256, 512, 5), learning, own)
    assert first.id == "rsl_rl" and "rsl_rl" not in {one.id for one in others}
    assert first.changes == {"num_envs": 8, "num_steps_per_env": 256, "clip_param": 0.3}
    assert "gamma" not in first.paste and "mini_batches" not in first.paste
    # Elsewhere everything is written out, and what was dropped on the way is told.
    assert all("desired_kl=0.01" in one.unsaid for one in others)
    sb3 = next(one for one in others if one.id == "sb3")
    assert "clip_range=0.3" in sb3.paste and "gamma=0.9" in sb3.paste


def test_a_length_that_the_user_named_is_written_out_elsewhere() -> None:
    own = carried(explain("sb3", n_envs=8, n_steps=256, total_timesteps=204_800))
    first, *others = settings(Layout(64, 32, 64, 10), {"gamma": 0.99}, own)
    assert first.paste == "n_envs=64, n_steps=32"
    assert "--total-timesteps 204800" in next(o for o in others if o.id == "cleanrl").paste
