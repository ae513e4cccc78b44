"""A Stable-Baselines3 model, frozen as it is now and in copies of its env, as a specimen."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from nbyt.collect.pool import Pool, collect_host_pool
from nbyt.collect.segment import PoolPlan
from nbyt.envs.protocol import HostEnv
from nbyt.gradients.torch_engine import TorchEngine, undisturbed, weights_of
from nbyt.integrations.sb3.policy import SB3Mind, engine_of, loss_of, untouched
from nbyt.measure.specimen import hashed
from nbyt.rng import seeds

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class SB3Specimen:
    """A model that is not trained while it is measured; its own envs are left alone."""

    model: Any
    env: HostEnv

    @property
    def id(self) -> str:
        """The env's id."""
        return self.env.id

    @cached_property
    def facts(self) -> dict[str, Any]:
        """What is known of the model's training, in nbyt's words."""
        model, loss = self.model, loss_of(self.model)
        per_update = model.n_steps * model.n_envs
        return {
            "env": self.env.id,
            "updates": model.num_timesteps // per_update,
            "steps": model.num_timesteps,
            "layout": {"envs": model.n_envs, "steps": model.n_steps},
            "settings": {
                "gamma": float(model.gamma),
                "lambda": float(model.gae_lambda),
                "value_coefficient": loss.value_coefficient,
                "entropy_coefficient": loss.entropy_coefficient,
                "normalise_advantages": "minibatch" if loss.normalise else "off",
            },
        }

    @cached_property
    def engine(self) -> TorchEngine:
        """The policy's gradients."""
        return engine_of(self.model)

    @property
    def goes_on(self) -> bool:
        """Whether pools look past time limits: Gymnasium's envs do not."""
        return False

    @property
    def fingerprint(self) -> str:
        """A hash of the policy's weights."""
        return hashed(weights_of(self.model.policy))

    def collect(self, plan: PoolPlan, progress: Progress) -> Pool:
        """The pool that `plan` asks for, with luck of its own."""
        role = f"sb3.pool.{plan.round}.{plan.synchronised}"
        with undisturbed(seeds(plan.seed, role, 1)[0]), untouched(self.model.policy):
            return collect_host_pool(self.env, SB3Mind(self.model), plan, progress)
