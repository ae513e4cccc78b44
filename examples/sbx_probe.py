"""A PPO training of SBX, and how noisy the policy's gradient is in each of its batches.

Run this file. It needs sbx-rl, which nbyt does not bring, so nbyt's tests do not run it:

    pip install sbx-rl nbyt
    python sbx_probe.py

ess_ratio: how many independent samples one sample of the batch is worth. noise_scale: samples of a
batch whose noise equals its signal. Each with its 95 % interval.
"""

import numpy as np
from sbx import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.env_util import make_vec_env

from nbyt.integrations.jax import GradientProbe


class Probe(BaseCallback):
    """Measures every rollout before PPO learns from it, and prints a line."""

    def _on_training_start(self) -> None:
        policy = self.model.policy

        def law(params, obs):
            return policy.actor_state.apply_fn(params["actor"], obs)

        self.probe = GradientProbe(
            log_prob=lambda params, obs, actions: law(params, obs).log_prob(actions),
            value=lambda params, obs: policy.vf_state.apply_fn(params["critic"], obs),
            entropy=lambda params, obs: law(params, obs).entropy(),
            value_coefficient=2 * self.model.vf_coef,  # SBX does not halve the squared error
            entropy_coefficient=self.model.ent_coef,
            normalise=self.model.normalize_advantage,
        )

    def _on_rollout_end(self) -> None:
        policy, buffer = self.model.policy, self.model.rollout_buffer
        params = {"actor": policy.actor_state.params, "critic": policy.vf_state.params}
        # The buffer keeps the number of a discrete action as a float, in an axis of its own.
        actions = buffer.actions[..., 0].astype(np.int32)
        # Where episodes end is in the buffer's advantages already.
        ends = np.zeros(buffer.rewards.shape, bool)
        found = self.probe.measure(
            params,
            buffer.observations,
            actions,
            buffer.rewards,
            ends,
            ends,
            buffer.values,
            advantages=buffer.advantages,
            samples=self.num_timesteps,
        )
        actor = found.actor
        print(f"{self.num_timesteps}: ess_ratio {actor.ess_ratio}, noise_scale {actor.noise_scale}")

    def _on_step(self) -> bool:
        return True


if __name__ == "__main__":
    model = PPO("MlpPolicy", make_vec_env("CartPole-v1", n_envs=16), n_steps=64, seed=0)
    model.learn(8 * 16 * 64, callback=Probe())
