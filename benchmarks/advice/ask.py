"""One advice per sample, asked for as the command line does."""

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from nbyt.advice.request import EFFORTS, make_advice_request
from nbyt.advice.run import answer_request
from nbyt.advice.stages import given_stages, open_folder
from nbyt.envs import resolve
from nbyt.policy.actor_critic import Stage

BATCH = 2048


def per_sample(
    env: Any, seed: int, *, stages: Sequence[Stage] = (), **options: Any
) -> dict[str, Any]:
    """The data of the advice with normal effort; stages: those to measure instead of training.

    Costs and diagnostics are left out: they do not change what is advised per sample.
    """
    found = resolve(env)
    effort = replace(EFFORTS["normal"], diagnosed="none")
    # The exact answers that this is held against are those of the actor's gradient.
    options = {"objective": "actor", **options}
    request = make_advice_request(found, batch=BATCH, effort=effort, seed=seed, **options)
    given = given_stages(stages, found) if stages else []
    with tempfile.TemporaryDirectory() as folder:
        kept = open_folder(request, given, Path(folder) / "advice", force=False)
        return answer_request(request, kept, given=given, per="sample").data
