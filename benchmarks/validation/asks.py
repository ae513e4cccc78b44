"""What the advice says of a task before anything is swept, with a few seeds."""

import json
import time
from dataclasses import replace
from typing import Any

from benchmarks.validation.cases import Case
from benchmarks.validation.sweeps import WORK
from nbyt.store.atomic import write_json
from nbyt.store.run import slug
from nbyt.sweep.grid import question_of
from nbyt.workflow.advising import answer_question, open_folder
from nbyt.workflow.effort import EFFORTS

SEEDS = 5


# Samples of the training whose stages are measured: as many as the sweep's, or what `nbyt advise`
# takes where nobody says how long the real training will be.
LENGTHS = {"whole": None, "short": 61_440}


def asked(case: Case, seed: int, length: str = "whole") -> dict[str, Any]:
    """The answer per sample; costs and closer looks do not change it and are left out."""
    folder = WORK / f"{slug(case.name)}-advice-{length}"
    path = folder / f"answer-{seed}.json"
    if path.exists():
        return json.loads(path.read_text())
    # Other seeds than those of the sweep: the advice must not have seen what it foretells.
    question = question_of(case.grid(), seed=1000 + seed, total=LENGTHS[length])
    question = replace(question, effort=replace(EFFORTS["normal"], looks="none"))
    began = time.perf_counter()
    kept = open_folder(question, [], folder / f"seed-{seed}", force=False)
    data = answer_question(question, kept, per="sample").data
    found = _digest(data, seed, time.perf_counter() - began)
    write_json(path, found)
    return found


def _digest(data: dict[str, Any], seed: int, seconds: float) -> dict[str, Any]:
    answer = data["advice"]["per_sample"]
    return {
        "seed": seed,
        "seconds": seconds,
        "steps": answer["steps"],
        "ties": [steps for _, steps in answer["ties"]],
        "win_share": answer["win_share"],
        "relative": {str(row["steps"]): row["relative"] for row in answer["ranking"]},
        "stages": [
            {
                "name": stage["name"],
                "weight": stage["weight"],
                "clear": stage["clear"],
                "mean_return": stage["mean_return"],
                "alignment": {
                    str(layout["steps"]): layout["actor"]["alignment"]
                    for layout in stage["layouts"]
                },
            }
            for stage in data["stages"]
        ],
    }
