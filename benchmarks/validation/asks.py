"""What the advice says of a task before anything is swept, with a few seeds."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.validation.cases import Case
from benchmarks.validation.sweeps import WORK
from nbyt.advice.request import EFFORTS
from nbyt.advice.run import answer_request
from nbyt.advice.stages import open_folder
from nbyt.store.atomic import write_json
from nbyt.store.text import slug
from nbyt.sweep.grid import advice_request

SEEDS = 3
# Which stages are measured: those of one training in the middle, as is usual, or half as many of
# each of two opposite ones.
WAYS: dict[str, dict[str, Any]] = {"middle": {}, "opposite": {"stages": 3, "trainings": 2}}
# Who may decide: a layout is as good as the weaker of actor and critic, or the actor alone.
RULES = ("both", "actor")


def asked(case: Case, seed: int, way: str = "middle") -> dict[str, Any]:
    """The answer per sample by each rule; costs and diagnostics do not change it, and are left
    out."""
    folder = _folder(case, way)
    path = folder / f"answer-{seed}.json"
    if path.exists():
        return json.loads(path.read_text())
    effort = replace(EFFORTS["normal"], diagnosed="none", **WAYS[way])
    # Other seeds than those of the sweep: the advice must not have seen what it foretells.
    request = advice_request(case.grid(), effort=effort, seed=1000 + seed)
    kept = open_folder(request, [], folder / f"seed-{seed}", force=False)
    # Measured once: the second rule finds everything in the folder.
    found = {
        rule: answer_request(replace(request, objective=rule), kept, per="sample").data
        for rule in RULES
    }
    digest = {"seed": seed, **_stages(found["actor"])}
    digest |= {rule: _answer(data["advice"]["per_sample"]) for rule, data in found.items()}
    write_json(path, digest)
    return digest


def known(case: Case, way: str) -> list[dict[str, Any]]:
    """The answers that are there."""
    paths = [_folder(case, way) / f"answer-{seed}.json" for seed in range(SEEDS)]
    return [json.loads(path.read_text()) for path in paths if path.exists()]


def _folder(case: Case, way: str) -> Path:
    return WORK / f"{slug(case.name)}-advice-{way}"


def _answer(answer: dict[str, Any]) -> dict[str, Any]:
    return {
        "steps": answer["steps"],
        "ties": [steps for _, steps in answer["ties"]],
        "win_share": answer["win_share"],
        "relative": {str(row["steps"]): row["relative"] for row in answer["ranking"]},
    }


def _stages(data: dict[str, Any]) -> dict[str, Any]:
    return {
        "stages": [
            {
                "name": stage["name"],
                "weight": stage["weight"],
                "clear": stage["clear"],
                "mean_return": stage["mean_return"],
                "alignment": {
                    network: {str(one["steps"]): one[network]["alignment"] for one in own}
                    for network in ("actor", "critic")
                },
            }
            for stage in data["stages"]
            for own in [stage["layouts"]]
        ],
    }
