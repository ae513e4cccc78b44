"""What a measurement costs before it is made: env steps, and bytes of memory."""

from math import prod

import jax
import numpy as np

from nbyt.envs.protocol import DeviceEnv, HostEnv
from nbyt.gradients.plan import vector_bytes, written_bytes
from nbyt.gradients.stage_engine import program_bytes
from nbyt.gradients.units import MOST
from nbyt.measure.chains import Chains, Resources
from nbyt.measure.frozen_policy import FrozenStage
from nbyt.measure.request import Request
from nbyt.policy.stage import Stage
from nbyt.system import resident_bytes

# The compiler's own, and the programs that collect: measured.
_COMPILING = 250 * 2**20
# A block's vectors as the program gives them, as their sums, and on the way to a sketch.
_BLOCK = 3


def cost_of(
    env: DeviceEnv | HostEnv, stage: Stage, request: Request, memory: int
) -> dict[str, int]:
    """Samples of the pool, and bytes: of the pool, the units' vectors, the program, and at most."""
    process = resident_bytes()
    frozen_policy = FrozenStage(env, stage)
    chains = Chains(frozen_policy, request, Resources(memory), request.chains, lambda *_: None)
    spec, plan, foot = chains.spec, chains.plan, frozen_policy.engine.footprint(chains.spec)
    samples = request.chains * (request.chain_steps + request.ahead)
    seen = np.dtype(env.observation_space.dtype).itemsize * prod(env.observation_space.shape or ())
    pool = samples * (seen + 4 * 6 + 2)
    units = min(request.chains, MOST)
    # Of all chains at once, block by block and joined; further chains are added to those.
    copies = 2 if units == request.chains else 3
    vectors = copies * vector_bytes(foot, units, spec, plan)
    vectors += _BLOCK * written_bytes(foot, plan.chains, spec)
    program = program_bytes(frozen_policy.engine, spec, plan)
    return {
        "samples": samples,
        "process_bytes": process + _COMPILING,
        "pool_bytes": pool,
        "vector_bytes": vectors,
        "program_bytes": program,
        "bytes": process + _COMPILING + pool + vectors + program,
        "devices": jax.device_count(),
    }
