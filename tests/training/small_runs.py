"""Runs of PPO that take a moment, what they write, and a Ctrl-C after some updates."""

import signal
from pathlib import Path

from nbyt.layout import Layout
from nbyt.store.run import open_run
from nbyt.training import loop
from nbyt.training.loop import train
from nbyt.training.plan import PPOPlan, PPOSettings, stage_updates

LAYOUT = Layout(envs=4, steps=8, minibatch=16, epochs=2)
SETTINGS = PPOSettings(network="8", anneal=True, normalise_observations=True, stagger=True)


def plan(env: str = "gymnax:CartPole-v1", updates: int = 6, **changes: object) -> PPOPlan:
    settings = changes.pop("settings", SETTINGS)
    return PPOPlan(
        env, LAYOUT, updates * LAYOUT.batch, 3, settings, stage_updates(updates), **changes
    )


def run(wanted: PPOPlan, folder: Path, *listeners: object) -> loop.Result:
    return train(wanted, open_run(folder, wanted.identity()), listeners)


def content(folder: Path) -> dict[str, bytes]:
    """Every file that must not depend on when or how the run was made."""
    files = [*folder.glob("stage-*/*"), folder / "metrics.csv", folder / "result.json"]
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


class StopAfter:
    """A listener that presses Ctrl-C after some updates."""

    def __init__(self, updates: int) -> None:
        self._updates = updates

    def on_update(self, row: dict) -> None:
        if row["update"] == self._updates:
            signal.raise_signal(signal.SIGINT)
