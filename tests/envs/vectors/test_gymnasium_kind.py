"""Laws of Gymnasium vector envs that the law of all adapters (test_protocol) does not meet."""

import corridor
import corridor_vectors
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from nbyt.envs.vectors.gymnasium_kind import GymnasiumVector, mode_of

MODES = list(AutoresetMode)


@pytest.mark.parametrize("mode", MODES)
def test_the_mode_is_read_from_the_metadata_as_value_or_text(mode: AutoresetMode) -> None:
    env = corridor_vectors.Corridors(2, mode)
    assert mode_of(env) is mode
    env.metadata = {"autoreset_mode": mode.value}
    assert mode_of(env) is mode


def test_single_envs_are_restarted_only_where_the_mask_is_obeyed() -> None:
    """An env of the user's own with autoreset may reset all; without it the mask is the way."""
    assert not GymnasiumVector(corridor_vectors.same_step(2)).restarts
    assert GymnasiumVector(corridor_vectors.disabled(2)).restarts
    own = corridor_vectors.sync_of(corridor.make_box, AutoresetMode.SAME_STEP)
    assert GymnasiumVector(own(2)).restarts


@pytest.mark.parametrize("mode", MODES)
def test_a_restart_touches_no_other_env(mode: AutoresetMode) -> None:
    vector = GymnasiumVector(corridor_vectors.sync_of(corridor.make_box, mode)(2))
    vector.reset([0, 1])
    for _ in range(2):
        rows = vector.step(np.zeros(2, int)).observation
    fresh = vector.restart(np.array([True, False]), rows)
    np.testing.assert_allclose(fresh, [[0.25, 0], [0, 2]])
    after = vector.step(np.array([1, 0])).observation
    np.testing.assert_allclose(after, [[0.5, 1], [0, 3]])
    vector.close()


def test_a_same_step_env_that_keeps_the_last_observation_back_is_told() -> None:
    class Silent(corridor_vectors.Corridors):
        def step(self, actions):
            return *super().step(actions)[:4], {}

    vector = GymnasiumVector(Silent(2, AutoresetMode.SAME_STEP))
    vector.reset([0, 1])
    vector.step(np.ones(2, int))
    vector.step(np.ones(2, int))
    with pytest.raises(KeyError, match="final_obs"):
        vector.step(np.ones(2, int))


def test_the_time_limit_is_that_of_the_wrapper_inside() -> None:
    own = corridor_vectors.sync_of(corridor.make_box, AutoresetMode.SAME_STEP)
    assert GymnasiumVector(own(2)).limit == corridor.LIMIT
    assert GymnasiumVector(corridor_vectors.same_step(2)).limit is None
