"""Libraries' default T, and which layout is nearest to each."""

from nbyt.dialects.defaults import defaults

LAYOUTS = [(2048 // 2**power, 2**power) for power in range(12)]


def test_a_library_stands_at_the_layout_whose_t_is_nearest_to_its_own() -> None:
    placed = {one["id"]: one for one in defaults(LAYOUTS)}
    assert placed["sb3"]["placed_at"] == [1, 2048] and placed["sb3"]["exact"]
    assert placed["cleanrl"]["placed_at"] == [16, 128]
    assert placed["rllib"]["steps"] == 2000 and not placed["rllib"]["exact"]
    assert placed["brax"]["steps"] == 10  # where advantages are cut, not what one env gives
