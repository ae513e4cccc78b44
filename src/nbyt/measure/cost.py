"""What a measurement costs before it is made: env steps, and bytes of memory."""

from math import prod

import jax
import numpy as np

from nbyt.envs.protocol import DeviceEnv, HostEnv
from nbyt.gradients.engine import program_bytes
from nbyt.gradients.plan import vector_bytes
from nbyt.measure.chains import Chains, Resources
from nbyt.measure.request import Request
from nbyt.policy.stage import Stage


def cost_of(
    env: DeviceEnv | HostEnv, stage: Stage, request: Request, memory: int
) -> dict[str, int]:
    """Samples of the pool, and bytes of its arrays, of the chains' vectors and of the program."""
    chains = Chains(env, stage, request, Resources(memory), request.chains, lambda *_: None)
    samples = request.chains * (request.chain_steps + request.ahead)
    seen = np.dtype(env.observation_space.dtype).itemsize * prod(env.observation_space.shape or ())
    pool = samples * (seen + 4 * 6 + 2)
    vectors = vector_bytes(stage.params, request.chains, chains.aim, chains.plan)
    program = program_bytes(stage.policy, stage.params, chains.aim, chains.plan)
    return {
        "samples": samples,
        "pool_bytes": pool,
        "vector_bytes": vectors,
        "program_bytes": program,
        "bytes": pool + vectors + program,
        "devices": jax.device_count(),
    }
