"""DQN on CartPole at the same sizes: ours on the device, ours on Gymnasium, and SB3's."""

import time
from typing import Any

# One mini-batch of 32 for every 4 steps of one env, as SB3 has it by default.
ENVS, STEPS, MINIBATCH, BUFFER, WARM_UP = 1, 4, 32, 50_000, 1_000
LEARNING_RATE, GAMMA, TARGET_EVERY, MAX_GRAD_NORM = 1e-3, 0.98, 1_000, 10.0
EXPLORATION = 0.2
WIDTHS = (64, 64)
UNIT = 1_000  # environment steps
_LONG = 1_000_000_000
_TASK = "CartPole-v1"


class _Nbyt:
    """What `nbyt train --algo dqn` does between start and end: blocks, and a row from each."""

    def __init__(self, env: str) -> None:
        from nbyt.training import hardware

        hardware.prepare("cpu", cache=False)

        self._course = nbyt_algorithm(env, _LONG, 0, MINIBATCH)
        self._blocks = self._course.updates(1)
        self.go(4)

    def go(self, units: int) -> float:
        """Seconds that the next blocks of 1,000 steps took."""
        import jax

        began = time.perf_counter()
        for _ in range(units):
            self._course.row(next(self._blocks))
        jax.block_until_ready(self._course.learner)
        return time.perf_counter() - began


class NbytDevice(_Nbyt):
    """On gymnax."""

    def __init__(self) -> None:
        super().__init__(f"gymnax:{_TASK}")


class NbytHost(_Nbyt):
    """On Gymnasium, stepped in this process."""

    def __init__(self) -> None:
        super().__init__(f"gym:{_TASK}")


class StableBaselines:
    """SB3's DQN on Gymnasium, with one thread, which is its fastest for so small a network."""

    def __init__(self) -> None:
        import torch

        torch.set_num_threads(1)
        self._model = stable_baselines(_TASK, seed=0)
        self._model.learn(4 * UNIT)

    def go(self, units: int) -> float:
        """Seconds that the next units of 1,000 steps took."""
        began = time.perf_counter()
        self._model.learn(units * UNIT, reset_num_timesteps=False)
        return time.perf_counter() - began


def nbyt_algorithm(env: str, total: int, seed: int, minibatch: int) -> Any:
    """Our DQN with these sizes, before its first update."""
    from nbyt.envs import resolve
    from nbyt.training.algorithms.dqn import DQNAlgorithm
    from nbyt.training.dqn import DQNPlan, DQNSettings, ReplayLayout

    layout = ReplayLayout(ENVS, STEPS, minibatch, 1, BUFFER, WARM_UP)
    settings = DQNSettings(
        gamma=GAMMA,
        learning_rate=LEARNING_RATE,
        target_every=TARGET_EVERY,
        exploration=EXPLORATION,
        max_grad_norm=MAX_GRAD_NORM,
        network="x".join(str(width) for width in WIDTHS),
        initial="uniform",
    )
    return DQNAlgorithm(DQNPlan(env, layout, total, seed, settings, ()), resolve(env))


def stable_baselines(env: str, seed: int, **changes: Any) -> Any:
    """SB3's DQN with these sizes."""
    from stable_baselines3 import DQN

    settings: dict[str, Any] = {
        "learning_rate": LEARNING_RATE,
        "buffer_size": BUFFER,
        "learning_starts": WARM_UP,
        "batch_size": MINIBATCH,
        "gamma": GAMMA,
        "train_freq": STEPS,
        "gradient_steps": 1,
        "target_update_interval": TARGET_EVERY,
        "max_grad_norm": MAX_GRAD_NORM,
        "exploration_fraction": EXPLORATION,
        "policy_kwargs": {"net_arch": list(WIDTHS)},
    }
    return DQN("MlpPolicy", env, seed=seed, device="cpu", **(settings | changes))
