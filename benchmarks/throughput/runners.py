"""One class per contender: warmed-up PPO on CartPole with the same sizes and coefficients for all.

Each class imports its own library when it is made, because each contender runs in a process of its
own (`worker`), set up as that library's users would have it.
"""

import time
from collections import deque
from functools import partial
from itertools import islice
from typing import Any, Protocol

from nbyt.layout import Layout

MINIBATCH, EPOCHS = 256, 4
GAMMA, LAMBDA, CLIP, ENTROPY, LEARNING_RATE, MAX_GRAD_NORM = 0.99, 0.95, 0.2, 0.01, 3e-4, 0.5
_TASK = "CartPole-v1"
_WARM_UP = 4
_LONGEST = 1_000_000
# As in nbyt.training.loop: updates under way before the numbers of the first are read.
_AHEAD = 2


class Runner(Protocol):
    """A contender that is ready to be timed."""

    def go(self, updates: int) -> float:
        """Seconds that the next `updates` updates took, collecting included."""
        ...


class _Nbyt:
    """What `nbyt train` does between start and end: updates, and a row of numbers from each."""

    def __init__(self, env: str, layout: Layout, **settings: Any) -> None:
        from nbyt.training import hardware

        hardware.prepare("cpu", cache=False)
        from nbyt.envs import resolve
        from nbyt.training.algorithms.ppo import PPOAlgorithm
        from nbyt.training.plan import PPOPlan, PPOSettings

        self.settings = PPOSettings(
            gamma=GAMMA,
            lam=LAMBDA,
            clip=CLIP,
            entropy_coefficient=ENTROPY,
            learning_rate=LEARNING_RATE,
            max_grad_norm=MAX_GRAD_NORM,
            network="64x64",
            **settings,
        )
        self.env: Any = resolve(env)
        self.layout = layout
        plan = PPOPlan(env, layout, _LONGEST * layout.batch, 0, self.settings, ())
        self.algorithm = PPOAlgorithm(plan, self.env)
        self._updates = self.algorithm.updates(1)
        self.go(_WARM_UP)

    def go(self, updates: int) -> float:
        """Seconds that the next `updates` updates took."""
        import jax

        began, waiting = time.perf_counter(), deque[Any]()
        for update in islice(self._updates, updates):
            waiting.append(update)
            if len(waiting) > _AHEAD:
                self.algorithm.row(waiting.popleft())
        while waiting:
            self.algorithm.row(waiting.popleft())
        jax.block_until_ready(self.algorithm.learner)
        return time.perf_counter() - began


class NbytDevice(_Nbyt):
    """nbyt on gymnax; the critic's loss is clipped because rejax always clips it."""

    def __init__(self, layout: Layout, *, clip_jointly: bool = False) -> None:
        super().__init__(f"gymnax:{_TASK}", layout, value_clip=CLIP, clip_jointly=clip_jointly)


class NbytHost(_Nbyt):
    """nbyt on Gymnasium, its envs stepped in this process."""

    def __init__(self, layout: Layout) -> None:
        super().__init__(f"gym:{_TASK}", layout)
        self._compile_with_truncation()

    def _compile_with_truncation(self) -> None:
        """Compile the program of batches with a time limit in them, which come only later."""
        import numpy as np

        from nbyt.collect.host import Record
        from nbyt.collect.rollout import Episodes
        from nbyt.training.sources import coefficients_of, host_experience

        sizes = (self.layout.steps, self.layout.envs)
        observations = np.zeros((*sizes, *self.env.observation_space.shape), np.float32)
        flags, rewards = np.zeros(sizes, bool), np.zeros(sizes, np.float32)
        record = Record(
            observations,
            np.zeros(sizes, np.int32),
            rewards,
            flags,
            flags,
            ~flags,
            observations,
            observations[0],
        )
        learner, coefficients = self.algorithm.learner, coefficients_of(self.settings)
        policy, episodes = self.algorithm.policy, Episodes(*np.zeros(3, np.float32))
        given = (learner.params, record, episodes, learner.scale, coefficients)
        host_experience(policy, self.settings, *given)


class Rejax:
    """rejax on the same gymnax env; many updates are one compiled loop, its fastest form."""

    def __init__(self, layout: Layout) -> None:
        import jax
        import rejax

        self._algorithm = rejax.PPO.create(
            env=_five_value_cartpole(),
            num_envs=layout.envs,
            num_steps=layout.steps,
            num_epochs=layout.epochs,
            num_minibatches=layout.minibatches,
            learning_rate=LEARNING_RATE,
            gamma=GAMMA,
            gae_lambda=LAMBDA,
            clip_eps=CLIP,
            ent_coef=ENTROPY,
            agent_kwargs={"activation": "tanh", "hidden_layer_sizes": (64, 64)},
        )
        self._state = self._algorithm.init_state(jax.random.key(0))
        self._train = jax.jit(_rejax_updates)
        self.go(_WARM_UP)

    def go(self, updates: int) -> float:
        """Seconds that the next `updates` updates took."""
        import jax

        began = time.perf_counter()
        self._state = jax.block_until_ready(self._train(self._algorithm, self._state, updates))
        return time.perf_counter() - began


class _Baselines:
    """A Stable-Baselines3 model or one with its interface, on envs in this process."""

    def __init__(self, algorithm: Any, layout: Layout) -> None:
        import gymnasium
        from stable_baselines3.common.vec_env import DummyVecEnv

        # Without the passive checker and without Monitor: the bare env, as nbyt steps it.
        make = partial(gymnasium.make, _TASK, disable_env_checker=True)
        self._batch = layout.batch
        self._model = algorithm(
            "MlpPolicy",
            DummyVecEnv([make] * layout.envs),
            n_steps=layout.steps,
            batch_size=layout.minibatch,
            n_epochs=layout.epochs,
            learning_rate=LEARNING_RATE,
            gamma=GAMMA,
            gae_lambda=LAMBDA,
            clip_range=CLIP,
            ent_coef=ENTROPY,
            max_grad_norm=MAX_GRAD_NORM,
            device="cpu",
            seed=0,
        )
        self.go(_WARM_UP)

    def go(self, updates: int) -> float:
        """Seconds that the next `updates` updates took."""
        began = time.perf_counter()
        self._model.learn(updates * self._batch, reset_num_timesteps=False)
        return time.perf_counter() - began


class StableBaselines3(_Baselines):
    """Stable-Baselines3, with as many threads as torch takes by itself."""

    def __init__(self, layout: Layout) -> None:
        from stable_baselines3 import PPO

        super().__init__(PPO, layout)


class Sbx(_Baselines):
    """sbx: Stable-Baselines3's loop with a JAX learner."""

    def __init__(self, layout: Layout) -> None:
        from sbx import PPO

        super().__init__(PPO, layout)


RUNNERS: dict[str, Any] = {
    "nbyt": NbytDevice,
    "nbyt, joint clip": partial(NbytDevice, clip_jointly=True),
    "rejax": Rejax,
    "nbyt host": NbytHost,
    "SB3": StableBaselines3,
    "sbx": Sbx,
}


def _rejax_updates(algorithm: Any, state: Any, updates: Any) -> Any:
    import jax

    return jax.lax.fori_loop(0, updates, lambda _, s: algorithm.train_iteration(s), state)


def _five_value_cartpole() -> Any:
    """gymnax's CartPole with the five-value step of before 1.0, which rejax expects."""
    import gymnax

    class FiveValues(type(gymnax.make(_TASK)[0])):  # type: ignore[misc]
        def step(self, *given: Any) -> tuple[Any, ...]:
            observation, state, reward, terminated, truncated, info = super().step(*given)
            return observation, state, reward, terminated | truncated, info

    return FiveValues()
