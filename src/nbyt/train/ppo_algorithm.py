"""PPO on its way through a plan."""

from collections.abc import Iterator
from typing import Any

import jax

from nbyt.envs.protocol import DeviceEnv, HostEnv
from nbyt.policy import normalise
from nbyt.policy.actor_critic import ActorCritic, Params, build
from nbyt.policy.files import shapes, to_tensors
from nbyt.rng import stream
from nbyt.store.tensors import match
from nbyt.train.device_source import DeviceSource
from nbyt.train.hardware import pin_to_device
from nbyt.train.host_source import HostSource
from nbyt.train.metrics import Row, UpdateMetrics, row_of
from nbyt.train.plan import PPOPlan
from nbyt.train.ppo import Learner, new_learner, updates


class PPOAlgorithm:
    """A learner and the environments that it learns from."""

    def __init__(
        self, plan: PPOPlan, env: DeviceEnv | HostEnv, weights: Params | None = None
    ) -> None:
        self._plan = plan
        self.policy, self._learner = beginning(plan, env)
        if weights is not None:
            match(to_tensors(weights), shapes(self._learner.params), "--from")
            self._learner = self._learner._replace(params=weights)
        self._source = _source(plan, env, self.policy)
        self._source.begin(self._learner, plan.seed)

    @property
    def params(self) -> Params:
        """What the policy has learnt."""
        return self._learner.params

    def updates(self, first: int) -> Iterator[UpdateMetrics]:
        """Updates from that number on."""
        plan = self._plan
        for update in updates(
            self.policy,
            plan.settings,
            plan.layout,
            self._source,
            self._learner,
            seed=plan.seed,
            first=first,
            last=plan.updates,
        ):
            self._learner = update.learner
            yield UpdateMetrics(update.number, update.numbers)

    def row(self, made: UpdateMetrics) -> Row:
        """The row of the metrics table."""
        return row_of(self._plan, made)

    def facts(self) -> dict[str, Any]:
        """What the critic's rewards are divided by; None where they are the env's own."""
        scale = self._learner.scale
        known = None if scale is None else float(normalise.spread(scale.moments))
        return {"reward_scale": known}

    def findings(self) -> dict[str, Any]:
        """Nothing: all there is to say is in the returns."""
        return {}

    def state(self) -> Any:
        """The learner, and the environments where they are on the device."""
        runner = self._source.runner if isinstance(self._source, DeviceSource) else ()
        return {"learner": self._learner, "runner": runner}

    def restore(self, state: Any) -> None:
        """Go on from a checkpoint; host environments start anew."""
        self._learner = state["learner"]
        if isinstance(self._source, DeviceSource):
            self._source.runner = pin_to_device(state["runner"])

    def close(self) -> None:
        """Stop the environments."""
        self._source.close()


def beginning(plan: PPOPlan, env: DeviceEnv | HostEnv) -> tuple[ActorCritic, Learner]:
    """The policy and the learner of a run before its first update."""
    settings = plan.settings
    policy = build(
        env.observation_space, env.action_space, settings.parsed_network, shared=settings.shared
    )
    key = stream(jax.random.key(plan.seed), "learner")
    return policy, new_learner(policy, settings, plan.layout, key)


def _source(
    plan: PPOPlan, env: DeviceEnv | HostEnv, policy: ActorCritic
) -> DeviceSource | HostSource:
    if isinstance(env, HostEnv):
        return HostSource(env, policy, plan.settings, plan.layout, vector=plan.vector)
    return DeviceSource(env, policy, plan.settings, plan.layout)
