"""Where short rollouts point after a little training on CartPole: the cosine with the reference."""

from typing import Any

from benchmarks.agreement.compare import BATCH
from benchmarks.agreement.stages import Task, trained
from nbyt.measure.probe import probe

LENGTHS = (1, 2, 4, 8, 32, 128, 1024)


def cosines(task: Task, seeds: range, chains: int) -> list[dict[str, Any]]:
    """The actor's cosine at every T, for each training seed."""
    found = []
    for seed in seeds:
        stage = trained(task, seed)
        asked = {"batch": BATCH, "steps": LENGTHS, "chains": chains, "seed": seed}
        measured = probe(task.env, stage, **asked, phase=False)
        found.append(
            {
                "seed": seed,
                "mean_return": stage.facts["mean_return"],
                "explained_variance": measured.explained_variance.as_dict(),
                "cosine": {str(one.steps): one.actor.cosine.as_dict() for one in measured.layouts},
            }
        )
    return found
