"""Vector envs are told from single ones, and from each other."""

import corridor
import corridor_vectors
import numpy as np
import pytest

from nbyt.envs.vectors.kinds import adapted, is_vector

KINDS = {
    "a Gymnasium vector env": corridor_vectors.same_step,
    "an Isaac-style batched env": corridor_vectors.isaac,
    "a Stable-Baselines3 VecEnv": corridor_vectors.monitored,
}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_known(kind: str) -> None:
    if "Stable" in kind:
        pytest.importorskip("stable_baselines3")
    env = KINDS[kind](3)
    assert is_vector(env)
    vector = adapted(env)
    assert (vector.kind, vector.envs) == (kind, 3)
    vector.close()


@pytest.mark.parametrize("thing", [corridor.make(), np.zeros(3), corridor.make, object()])
def test_other_things_are_none(thing) -> None:
    assert not is_vector(thing)
