"""The batch that a model was just given, and the loss that it will make small with it."""

from typing import Any

import numpy as np
from gymnasium.spaces import Dict

from nbyt.integrations.sb3.packing import Packing
from nbyt.measure.live import LiveBatch, Loss


def loss_of(model: Any) -> Loss:
    """The numbers of the model's loss; SB3 does not halve the squared error."""
    return Loss(
        value_coefficient=2 * float(model.vf_coef),
        entropy_coefficient=float(model.ent_coef),
        normalise=bool(model.normalize_advantage),
    )


def batch_of(model: Any) -> LiveBatch:
    """The rollout that the model's buffer was just filled with."""
    buffer, space = model.rollout_buffer, model.observation_space
    observation = buffer.observations
    if isinstance(space, Dict):
        # The buffer gives a number an axis of its own, which the space does not have.
        rows = buffer.advantages.shape
        observation = {
            name: observation[name].reshape(*rows, *(part.shape or ()))
            for name, part in space.spaces.items()
        }
    packed = Packing(space).pack(observation)
    return LiveBatch(packed, np.array(buffer.actions), np.array(buffer.advantages))
