"""Propose a batch size for a budget of seconds or samples.

A scout measures stages at one batch; variance falls with N and cost is fitted over N and T, so
both are known for every other batch too. Per second: the highest alignment per second. Per sample
the smallest batch always wastes least, so the largest that loses little is taken.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from nbyt.advice.assemble import AdviceInputs
from nbyt.train.costs import Costs, costs_from, measure_costs
from nbyt.advice.rank import Answer, Place, StageEvidence, answer
from nbyt.advice.request import AdviceRequest
from nbyt.advice.stages import DRAWS, collected_by, measure, open_folder, train_stages
from nbyt.errors import UsageError
from nbyt.layout import Layout
from nbyt.measure.frozen_policy import Collector
from nbyt.measure.request import Progress
from nbyt.numbers import BUDGET
from nbyt.results.values import Data
from nbyt.rng import numpy_stream
from nbyt.stats.ranking import Rows
from nbyt.store.files import COSTS
from nbyt.store.paths import at_work, resolved_entry
from nbyt.store.text import slug

SCOUT = 2048
BATCHES = tuple(2**power for power in range(8, 15))
# A budget should pay for so many updates, or there is no learning to speak of.
_UPDATES = 20
_LITTLE = 0.1


@dataclass(frozen=True)
class Budget:
    """What a training run may cost, in seconds or in samples."""

    text: str
    kind: str
    amount: float


def budget_from(text: str) -> Budget:
    """Parse a budget: 90s, 10m and 2h are time; 500k, 2M and 1e6 are samples."""
    kind = "seconds" if text.strip().endswith(("s", "m", "h")) else "samples"
    return Budget(text, kind, BUDGET.read(text, "budget"))


def candidates(request: AdviceRequest) -> list[Layout]:
    """Return every layout of every batch whose T the scout measures."""
    # As many envs as the scout's batch has samples are no limit that anybody has set.
    most = max(BATCHES) if request.max_envs >= request.batch else request.max_envs
    return [
        Layout(batch // steps, steps, min(request.minibatch, batch), request.epochs)
        for batch in BATCHES
        for steps in request.steps
        if steps <= batch and batch // steps <= most
    ]


def propose(
    budget: Budget, request: AdviceRequest, stages: Sequence[StageEvidence], costs: Costs
) -> dict[str, Any]:
    """Return the batch to use, the best layout of every batch, and how many updates each gets."""
    layouts = candidates(request)
    splits = [(one.envs, one.steps) for one in layouts]
    prices = _prices(budget, splits, costs, request.seed)
    counts = [int(budget.amount / price) for price in prices[0]]
    kept = [place for place, count in enumerate(counts) if count >= _UPDATES]
    if not kept:
        message = f"a budget of {budget.text} pays for {max(counts)} updates at most"
        fix = f"give at least {_UPDATES / max(max(counts), 1):.0f} times as much"
        raise UsageError(message, where="budget", fix=fix)
    found = answer(
        [_columns(stage, [splits[place][1] for place in kept]) for stage in stages],
        [splits[place] for place in kept],
        prices[:, kept],
    )
    sizes = {splits[place]: (layouts[place], counts[place]) for place in kept}
    rows = [_row(place, *sizes[place.envs, place.steps]) for place in _best_of_each(found)]
    chosen = rows[0] if budget.kind == "seconds" else _largest(rows)
    return {**chosen, "given": budget.text, "kind": budget.kind, "rows": rows} | {
        "sentence": _sentence(budget, chosen)
    }


def _prices(budget: Budget, splits: list[tuple[int, int]], costs: Costs, seed: int) -> Rows:
    if budget.kind == "seconds":
        return costs.redrawn(splits, DRAWS, numpy_stream(seed, "advise.budget"))
    sizes = np.array([float(envs * steps) for envs, steps in splits])
    return np.broadcast_to(sizes, (1 + DRAWS, len(splits)))


def _columns(stage: StageEvidence, steps: list[int]) -> StageEvidence:
    """Return the stage with a column for each of these T, which may repeat."""
    own = stage.evidence
    places = [own.steps.index(length) for length in steps]
    picked = {name: getattr(own, name)[:, places] for name in ("along", "mean_sq", "variance")}
    return replace(
        stage,
        evidence=replace(own, steps=tuple(steps), **picked),
        rho=tuple(stage.rho[place] for place in places),
        alignments=tuple(stage.alignments[place] for place in places),
        partner=stage.partner and _columns(stage.partner, steps),
    )


def _best_of_each(found: Answer) -> list[Place]:
    first: dict[int, Place] = {}
    for place in found.places:
        first.setdefault(place.envs * place.steps, place)
    return list(first.values())


def _row(place: Place, layout: Layout, updates: int) -> dict[str, Any]:
    return {
        "batch": layout.batch,
        "envs": layout.envs,
        "steps": layout.steps,
        "relative": place.relative.as_dict(),
        "regret": place.regret.as_dict(),
        "win_share": place.win_share,
        "updates": updates,
        "minibatch": layout.minibatch,
        "minibatches": layout.minibatches,
        "gradient_steps": updates * layout.gradient_steps,
    }


def _largest(rows: list[dict[str, Any]]) -> dict[str, Any]:
    near = [row for row in rows if (row["regret"]["value"] or 0.0) <= _LITTLE]
    return max(near, key=lambda row: row["batch"])


def _sentence(budget: Budget, chosen: dict[str, Any]) -> str:
    what = "alignment per second" if budget.kind == "seconds" else "alignment per sample"
    limit = "" if budget.kind == "seconds" else f", of those that lose at most {_LITTLE:.0%},"
    kind = "highest" if budget.kind == "seconds" else "largest batch"
    return (
        f"With {budget.text} take a batch of {chosen['batch']:,}: the {kind}{limit} by {what}; "
        f"{chosen['updates']:,} updates with {chosen['gradient_steps']:,} gradient steps of "
        f"{chosen['minibatch']} samples."
    )


def scout(
    ask: Callable[[int], AdviceRequest],
    budget: Budget,
    out: Path | None,
    collector: Collector | None = None,
    progress: Progress = lambda what, done, total: None,
) -> Data:
    """Return the batch to use for a budget, from a quick measurement at one batch.

    ask: makes the request for a batch. The scout has its own folder next to that of the advice.
    """
    request = ask(SCOUT)
    scout = None if out is None else out.with_name(f"{out.name}-scout")
    name = slug(f"scout-{request.env.id.partition(':')[2]}-seed{request.seed}")
    path = resolved_entry(scout or Path("runs") / name)
    folder = open_folder(request, [], path, force=False, inner=True)
    with at_work(folder.path):
        known = folder.read(COSTS)
        costs = costs_from(known) if known is not None else _scout_costs(request, progress)
        folder.write(COSTS, costs.as_dict())
        stages = train_stages(request, folder, progress)
        stages = [collected_by(collector, stage) for stage in stages]
        finding = AdviceInputs(request, measure(request, stages, folder, progress), costs)
    return propose(budget, request, finding.evidence, costs)


def _scout_costs(request: AdviceRequest, progress: Progress) -> Costs:
    """Time the corners: the smallest and the largest batch, short and long T."""
    layouts = candidates(request)
    corners = []
    for size in (min(each.batch for each in layouts), max(each.batch for each in layouts)):
        same = sorted((each for each in layouts if each.batch == size), key=lambda each: each.steps)
        corners += [same[0], same[-1]]
    env, settings = request.env, request.settings
    return measure_costs(env, settings, corners, vector=request.vector, progress=progress)
