"""Libraries' defaults in a ranking, and the advised layout in their words."""

from nbyt.layout import Layout
from nbyt.rank.libraries import defaults, settings

LAYOUTS = [(2048 // 2**power, 2**power) for power in range(12)]


def test_a_library_stands_at_the_layout_whose_t_is_nearest_to_its_own() -> None:
    placed = {one["id"]: one for one in defaults(LAYOUTS)}
    assert placed["sb3"]["placed_at"] == [1, 2048] and placed["sb3"]["exact"]
    assert placed["cleanrl"]["placed_at"] == [16, 128]
    assert placed["rllib"]["steps"] == 2000 and not placed["rllib"]["exact"]
    assert placed["brax"]["steps"] == 10  # where advantages are cut, not what one env gives


def test_the_layout_is_written_out_for_every_library() -> None:
    layout = Layout(4, 512, 256, 4)
    learning = {"gamma": 0.98, "lambda": 0.9, "learning_rate": 1e-3}
    found = {one["id"]: one for one in settings(layout, learning)}
    assert list(found)[:3] == ["sb3", "cleanrl", "rllib"] and len(found) >= 20
    assert "n_envs=4" in found["sb3"]["paste"] and "n_steps=512" in found["sb3"]["paste"]
    assert "gamma=0.98" in found["sb3"]["paste"] and "gae_lambda=0.9" in found["sb3"]["paste"]
    assert "--num-minibatches 8" in found["cleanrl"]["paste"]
    assert all(one["exact"] or one["lost"] for one in found.values())
