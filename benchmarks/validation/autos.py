"""Layouts that adapt, on the same tasks, with the same seeds, played at the same moments."""

import json
import time
from typing import Any

from benchmarks.validation.cases import BATCH, Case
from benchmarks.validation.sweeps import WORK
from nbyt.store.atomic import write_json
from nbyt.store.run import slug
from nbyt.workflow.adapting import adaptive_curve


def trained(case: Case, seed: int) -> dict[str, Any]:
    """The curve of one training, what it changed, and what its probes cost."""
    folder = WORK / f"{slug(case.name)}-auto"
    path = folder / f"seed-{seed}.json"
    if path.exists():
        return json.loads(path.read_text())
    folder.mkdir(parents=True, exist_ok=True)
    grid = case.grid()
    began = time.perf_counter()
    curve, changes, probing = adaptive_curve(
        grid.env,
        batch=BATCH,
        total=case.total,
        seed=seed,
        settings=grid.settings,
        points=[number * BATCH for number in grid.points],
    )
    found = {
        "seed": seed,
        "seconds": time.perf_counter() - began,
        **curve.as_dict(),
        "changes": changes,
        "probing": probing,
    }
    write_json(path, found)
    print(case.name, seed, f"{found['seconds']:.0f} s", [c.get("to") for c in changes], flush=True)
    return found
