"""Measuring changes nothing: training with and without it ends in the same weights."""

from pathlib import Path

import numpy as np

import nbyt
from nbyt.layout import Layout
from nbyt.policy.files import read_stage
from nbyt.store.run import open_run
from nbyt.training.loop import train
from nbyt.training.plan import PPOPlan, PPOSettings


class _Prober:
    """Measures a stage in the middle of training, as soon as it is there."""

    def __init__(self, folder: Path) -> None:
        self._stage, self.measured = folder / "stage-1", 0

    def on_update(self, row: object) -> None:
        if self._stage.exists() and not self.measured:
            nbyt.probe(
                "FrozenLake-v1",
                self._stage,
                batch=32,
                steps=[8],
                chains=4,
                chain_steps=16,
                phase=False,
            )
            self.measured += 1


def _run(folder: Path, *, probed: bool) -> tuple[dict, int]:
    layout = Layout(envs=8, steps=16, minibatch=32, epochs=2)
    settings = PPOSettings(network="table", learning_rate=0.01)
    plan = PPOPlan("tabular:FrozenLake-v1", layout, 6 * 128, 0, settings, (2, 6))
    prober = _Prober(folder)
    train(plan, open_run(folder, plan.identity()), (prober,) if probed else ())
    params = read_stage(folder / "stage-2").params
    return {"logits": params.actor["logits"], "values": params.critic["values"]}, prober.measured


def test_weights_are_equal_bit_for_bit_with_and_without_measuring(tmp_path: Path) -> None:
    alone, _ = _run(tmp_path / "alone", probed=False)
    watched, measured = _run(tmp_path / "watched", probed=True)
    assert measured == 1
    for name, weights in alone.items():
        assert np.asarray(weights).tobytes() == np.asarray(watched[name]).tobytes()
        assert np.abs(weights).max() > 0
