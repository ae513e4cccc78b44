"""A user's file: `make release-check` checks its types against the installed package."""

from nbyt import Layout, PPOSettings, advise, explain


def batch_of(envs: int, steps: int) -> int:
    """Return the samples of a batch."""
    layout: Layout = Layout(envs=envs, steps=steps)
    return layout.batch


def steps_for(env: str) -> None:
    """Ask for an advice, and show it."""
    print(advise(env, batch=batch_of(8, 256), seed=0))


TRAPS: list[str] = [trap.code for trap in explain("sb3", {"n_envs": 8}).traps]
SETTINGS: PPOSettings = PPOSettings(gamma=0.99)
