"""Sources of noise for a measurement: exact on tables, by cloning elsewhere, or why not."""

from typing import Any

from nbyt.collect.segment import PoolPlan
from nbyt.envs.protocol import DeviceEnv, HostEnv
from nbyt.gradients.weights import Scale
from nbyt.measure.request import Request
from nbyt.policy.stage import Stage


def sources_of(
    env: DeviceEnv | HostEnv,
    stage: Stage,
    request: Request,
    steps: Any,
    scale: Scale,
    progress: Any,
) -> dict[str, Any]:
    """The sources at each of the given T, or the reason why there are none."""
    return {"reason": "not asked for"}
