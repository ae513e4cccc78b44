"""PPO whose layout adapts on its way: looks at its own rollouts say where T goes next."""

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from nbyt.collect.rollout import update_key
from nbyt.envs.protocol import DeviceEnv, HostEnv
from nbyt.layout import Layout
from nbyt.minibatch import shuffle_and_chop
from nbyt.policy import normalise
from nbyt.policy.actor_critic import Params
from nbyt.policy.files import shapes, to_tensors
from nbyt.rng import numpy_stream
from nbyt.store.tensors import match
from nbyt.train.adaptive import AdaptivePlan, look
from nbyt.train.algorithms.ppo import beginning, learn, ppo_row, rate_of
from nbyt.train.hardware import pin_to_device
from nbyt.train.metrics import Row, UpdateMetrics
from nbyt.train.plan import PPOPlan
from nbyt.train.sources import coefficients_of
from nbyt.train.split_source import DeviceSplits, HostSplits, SplitSource, without_envs

_NOT_YET = -1


class AdaptiveAlgorithm:
    """A learner, its envs, and the T it has chosen so far.

    Every choice follows from the looks before it, so a resumed run needs the looks and no more.
    """

    def __init__(
        self, plan: AdaptivePlan, env: DeviceEnv | HostEnv, weights: Params | None = None
    ) -> None:
        self._plan, self._coefficients = plan, coefficients_of(plan.settings)
        self.policy, learner = beginning(_fixed(plan, plan.layout), env)
        if weights is not None:
            match(to_tensors(weights), shapes(learner.params), "--from")
            learner = learner._replace(params=weights)
        self._learner = pin_to_device(learner._replace(scale=without_envs(learner.scale)))
        self._source = self._started(env)
        looks = sum(map(plan.controller.looks, range(1, plan.updates + 1)))
        self._seen = np.zeros((looks, len(plan.lengths)), np.float32)
        self._places = np.full(plan.updates, _NOT_YET, np.int32)
        self._notes: dict[int, str] = {}

    @property
    def params(self) -> Params:
        """What the policy has learnt."""
        return self._learner.params

    def updates(self, first: int) -> Iterator[UpdateMetrics]:
        """Updates from that number on."""
        plan, key = self._plan, jax.random.key(self._plan.seed)
        for number in range(first, plan.updates + 1):
            layout, looked = self._layout(number), plan.controller.looks(number)
            gathered, rollout = self._source.gather(self._learner, update_key(key, number), layout)
            # Under way before learning is, and read after that has begun: neither waits long.
            seen = self._look(rollout) if looked else None
            indices = shuffle_and_chop(layout, numpy_stream(plan.seed, "minibatch.shuffle", number))
            rate = rate_of(plan.settings, number, plan.updates)
            self._learner, numbers = learn(
                self.policy,
                plan.settings,
                self._learner,
                gathered,
                indices,
                self._coefficients,
                rate,
            )
            if seen is not None:
                self._steer(number, np.asarray(seen))
            yield UpdateMetrics(number, numbers)

    def row(self, made: UpdateMetrics) -> Row:
        """The row of the metrics table, with the layout of the update; and a note of a change."""
        layout = self._layout(made.number)
        row = ppo_row(_fixed(self._plan, layout), made)
        row |= {"envs": layout.envs, "rollout_steps": layout.steps}
        note = self._notes.pop(made.number, "")
        return {**row, "note": note} if note else row

    def facts(self) -> dict[str, Any]:
        """The layout of the moment, and what the critic's rewards are divided by."""
        scale = self._learner.scale
        known = None if scale is None else float(normalise.spread(scale.moments))
        made = int((self._places != _NOT_YET).sum())
        layout = self._layout(made, looking=False)
        return {"reward_scale": known, "layout": layout.as_dict()}

    def findings(self) -> dict[str, Any]:
        """Every change of the layout with its reason, and where the run ended."""
        last = self._plan.split(self._plan.lengths[self._place(len(self._places))])
        return {"changes": self._changes(), "last_layout": last.as_dict()}

    def state(self) -> Any:
        """The learner, the envs where they are on the device, and all looks."""
        return {
            "learner": self._learner,
            "envs": self._source.state(),
            "seen": jnp.asarray(self._seen),
            "places": jnp.asarray(self._places),
        }

    def restore(self, state: Any) -> None:
        """Go on from a checkpoint; host environments start anew."""
        self._learner = state["learner"]
        self._source.restore(state["envs"])
        self._seen, self._places = np.array(state["seen"]), np.array(state["places"])

    def close(self) -> None:
        """Stop the environments."""
        self._source.close()

    def _started(self, env: DeviceEnv | HostEnv) -> SplitSource:
        plan = self._plan
        if isinstance(env, HostEnv):
            return HostSplits(env, self.policy, plan.settings, plan.seed, plan.vector)
        most = max(plan.split(plan.lengths[0]).envs, plan.looked.envs)
        return DeviceSplits(env, self.policy, plan.settings, self._learner, most, plan.seed)

    def _layout(self, number: int, *, looking: bool = True) -> Layout:
        """The layout of an update: the one chosen, or that of rollouts that are looked at."""
        plan = self._plan
        if looking and plan.controller.looks(number):
            return plan.looked
        return plan.split(plan.lengths[self._place(number)])

    def _place(self, number: int) -> int:
        """The place of the T that holds for an update, which is then written down."""
        at = max(number, 1) - 1
        if self._places[at] == _NOT_YET:
            known = self._places[:at][self._places[:at] != _NOT_YET]
            self._places[at] = known[-1] if len(known) else len(self._plan.lengths) - 1
        return int(self._places[at])

    def _look(self, rollout: Any) -> jax.Array:
        given = (rollout, self._coefficients, self._plan.lengths)
        return look(self.policy, self._learner.params, *given)

    def _steer(self, number: int, seen: np.ndarray) -> None:
        plan = self._plan
        made = number // plan.controller.every
        self._seen[made - 1] = seen
        place = self._place(number)
        turn = plan.controller.turn(self._seen[:made], place, self._since(number), plan.lengths)
        if number < plan.updates:
            self._places[number] = turn.place
        if turn.reason and number < plan.updates:
            self._notes[number] = self._words(number, place, turn.place, turn.reason)

    def _since(self, number: int) -> int:
        """Looks since the layout last changed, or since the beginning."""
        changed = np.flatnonzero(np.diff(self._places[:number]) != 0)
        last = int(changed[-1]) + 1 if len(changed) else 0
        return number // self._plan.controller.every - last // self._plan.controller.every

    def _changes(self) -> list[dict[str, Any]]:
        plan, found = self._plan, []
        for at in np.flatnonzero(np.diff(self._places) != 0):
            if self._places[at + 1] == _NOT_YET:
                break
            number, old, new = int(at) + 1, int(self._places[at]), int(self._places[at + 1])
            seen = self._seen[: number // plan.controller.every]
            turn = plan.controller.turn(seen, old, self._since(number), plan.lengths)
            found.append(
                {
                    "after_update": number,
                    "from": [plan.layout.batch // plan.lengths[old], plan.lengths[old]],
                    "to": [plan.layout.batch // plan.lengths[new], plan.lengths[new]],
                    "reason": turn.reason,
                }
            )
        return found

    def _words(self, number: int, old: int, new: int, reason: str) -> str:
        before, after = (self._plan.split(self._plan.lengths[place]) for place in (old, new))
        return (
            f"update {number}: from {before.envs}x{before.steps} to {after.envs}x{after.steps}: "
            f"{reason}"
        )


def _fixed(plan: AdaptivePlan, layout: Layout) -> PPOPlan:
    """The plan as it would be with one layout for all of the run."""
    return PPOPlan(plan.env, layout, plan.total, plan.seed, plan.settings, plan.stages, plan.vector)
