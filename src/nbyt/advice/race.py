"""The race: quarter trainings of a few layouts with the same seeds, and what they say."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import ceil

import numpy as np
from jaxtyping import Float

from nbyt.advice.costs import PARALLEL, UpdateCosts
from nbyt.advice.given import OwnRun
from nbyt.advice.request import AdviceRequest
from nbyt.collect import Progress
from nbyt.envs.protocol import HostEnv
from nbyt.errors import EnvError, RunInterruptedError, TrainingError, UsageError, remade
from nbyt.results.advice import Arm, Untrained
from nbyt.rng import numpy_stream, seeds
from nbyt.stats.prior import Known, Schedule
from nbyt.stats.race import FRACTION, Judged, judge_race, over_budget, promised
from nbyt.store.files import UNTRAINED
from nbyt.store.run import Folder
from nbyt.sweeps.cells import Runner
from nbyt.sweeps.grid import Cell, Grid
from nbyt.sweeps.trainings import Tally, curves_of, failures_of, run_cells
from nbyt.training.curves import Curve, untrained_returns

# A whole training has so many points, and device envs play so many episodes at each: as on the
# proving ground.
POINTS, EPISODES = 20, 16
# Moments of the part of a budget at which curves are compared, the untrained policy among them.
_MOMENTS = 11


@dataclass(frozen=True, eq=False)
class Race:
    """A race as it is planned: its arms and seeds, and how long each trains.

    given: runs of the user's own, whose trainings count like its own.
    """

    request: AdviceRequest
    costs: UpdateCosts
    known: Known
    schedule: Schedule
    given: tuple[OwnRun, ...] = ()

    @property
    def budget(self) -> float:
        """Return the cost of one whole training: with T = 32, for all samples."""
        return self.costs.unit * self.request.total / self.request.batch

    @cached_property
    def seeds(self) -> tuple[int, ...]:
        """Return the seeds, the same for every arm; a longer race begins with those of this one.

        A seed that was given is not trained again.
        """
        given = set(self.given_seeds)
        drawn = seeds(self.request.seed, "advise.race", self.schedule.seeds + len(given))
        return tuple(one for one in drawn if one not in given)[: self.schedule.seeds]

    @property
    def given_seeds(self) -> tuple[int, ...]:
        """Return the seeds of the given trainings."""
        return tuple(sorted({cell.seed for run in self.given for cell in run.curves}))

    @property
    def rounds(self) -> list[tuple[int, ...]]:
        """Return the seeds of the first half of the race and of the second."""
        half = ceil(len(self.seeds) / 2)
        return [part for part in (self.seeds[:half], self.seeds[half:]) if part]

    def updates(self, steps: int) -> tuple[int, int]:
        """Return the updates of a whole training with this T, and of the part that is trained."""
        whole = self.budget / self.costs.of(steps)
        return max(1, round(whole)), max(1, round(FRACTION * whole))

    def spent(self, steps: int, updates: int) -> float:
        """Return the share of a whole training's budget that so many updates cost."""
        return updates * self.costs.of(steps) / self.budget

    def grid(self, numbers: Sequence[int], arms: Sequence[int] = ()) -> Grid:
        """Return the trainings of all arms, or of these T, with some of the seeds."""
        request, arms = self.request, arms or self.schedule.arms
        every = request.total / request.batch / POINTS
        points = {max(1, round(every * place)) for place in range(1, 40 * POINTS)}
        return Grid(
            request.env,
            tuple(map(request.layout, arms)),
            tuple(numbers),
            request.total,
            tuple(sorted(points)),
            request.settings,
            request.vector,
            tuple(map(self.updates, arms)),
            0 if isinstance(request.env, HostEnv) else EPISODES,
        )


@dataclass
class Evidence:
    """What is known so far: the curves of the race's trainings, and of those that were given.

    given: by run, which of the curves are of its trainings. left_out: sentences about given
    trainings that do not count. done: the share of the race that is trained; running: the T that
    are trained now; over: True if no more are.
    """

    race: Race
    untrained: Mapping[int, float]
    curves: dict[Cell, Curve] = field(default_factory=dict)
    given: dict[OwnRun, list[Cell]] = field(default_factory=dict)
    left_out: list[str] = field(default_factory=list)
    interrupted: bool = False
    done: float = 0.0
    running: tuple[int, ...] = ()
    over: bool = False

    @property
    def start(self) -> float:
        """Return the mean return of the untrained policies."""
        return float(np.mean(list(self.untrained.values())))

    @property
    def tried(self) -> tuple[int, ...]:
        """Return the T that have a training, or will have one."""
        arms = self.race.schedule.arms if self.race.seeds else ()
        return tuple(sorted({*arms, *(cell.steps for cell in self.curves)}))

    @property
    def judgeable(self) -> bool:
        """Return True if two arms have been trained."""
        return len({cell.steps for cell in self.curves}) > 1

    @property
    def own(self) -> dict[Cell, Curve]:
        """Return the curves of the race's own trainings."""
        given = {cell for cells in self.given.values() for cell in cells}
        return {cell: curve for cell, curve in self.curves.items() if cell not in given}

    @property
    def trainings(self) -> float:
        """Return what the race's own trainings cost, in whole ones."""
        return sum(
            self.race.spent(cell.steps, curve.samples[-1] // self.race.request.batch)
            for cell, curve in self.own.items()
        )

    @property
    def samples(self) -> int:
        """Return the env steps of the race's own trainings."""
        return sum(curve.samples[-1] for curve in self.own.values())

    @property
    def gains(self) -> Float[np.ndarray, "arms seeds"]:
        """Return the scores that the curves promise, above the untrained policy; NaN without."""
        return np.array([[self._gain(t, one) for one in self._seeds] for t in self.tried])

    def judged(self) -> Judged:
        """Return what the trainings say so far, with a probability only where it may be stated."""
        race = self.race
        places = [race.known.steps.index(steps) for steps in self.tried]
        judged = judge_race(
            np.log2(np.array(race.known.steps, float)),
            places,
            self.gains,
            references=race.known.references,
            trainings=FRACTION * len(self.curves),
            generator=numpy_stream(race.request.seed, "advise.judge"),
        )
        # On the proving ground probabilities came true on parallel hardware, and nowhere else.
        return judged if race.costs.kind == PARALLEL else judged._replace(within=None)

    def moments(self, steps: int) -> Float[np.ndarray, "seeds moments"]:
        """Return an arm's curves at even moments of its part of the budget."""
        return np.array([self._at_moments(cell) for cell in self._cells(steps)])

    def arms(self) -> list[Arm]:
        """Return the learning curves of every arm that was trained, as they are kept."""
        found = []
        for steps, gains in zip(self.tried, self.gains, strict=True):
            cells = self._cells(steps)
            if not cells:
                continue
            samples = (0, *self.curves[cells[0]].samples)
            batch = self.race.request.batch
            arm = Arm(
                envs=batch // steps,
                steps=steps,
                seeds=tuple(cell.seed for cell in cells),
                samples=samples,
                spent=tuple(self.race.spent(steps, one // batch) for one in samples),
                returns=tuple(map(self._returns, cells)),
                gains=tuple(float(one) for one in gains if np.isfinite(one)),
            )
            found.append(arm)
        return found

    @property
    def _seeds(self) -> tuple[int, ...]:
        return (*self.race.seeds, *self.race.given_seeds)

    def _cells(self, steps: int) -> list[Cell]:
        envs = self.race.request.batch // steps
        every = [Cell(envs, steps, one) for one in self._seeds]
        return [cell for cell in every if cell in self.curves]

    def _returns(self, cell: Cell) -> tuple[float, ...]:
        return (self.untrained[cell.seed], *self.curves[cell].returns)

    def _at_moments(self, cell: Cell) -> Float[np.ndarray, " moments"]:
        race = self.race
        cost = race.costs.of(cell.steps) / race.request.batch
        samples = np.array([0, *self.curves[cell].samples], float)
        row = np.array([self._returns(cell)])
        curve: np.ndarray = over_budget(row, samples, cost, FRACTION * race.budget, _MOMENTS)[0]
        return curve

    def _gain(self, steps: int, seed: int) -> float:
        cell = Cell(self.race.request.batch // steps, steps, seed)
        if cell not in self.curves:
            return np.nan
        return float(promised(self._at_moments(cell)[None])[0] - self.start)


Watch = Callable[[Evidence], None]


def hold_race(
    race: Race,
    folder: Folder,
    *,
    runner: Runner | None = None,
    progress: Progress = lambda what, done, total: None,
    watch: Watch = lambda evidence: None,
) -> Evidence:
    """Train what the folder does not hold yet, in two rounds.

    An interruption ends the race early, if two arms have a training by then. watch: called whenever
    a training is done, and every now and then meanwhile.
    """
    evidence = _begin(race, folder, progress)
    for numbers in race.rounds:
        if evidence.judgeable and evidence.judged().sure:
            break
        grid = race.grid(numbers)
        try:
            _train(grid, folder, runner, evidence, progress, watch)
        except (KeyboardInterrupt, RunInterruptedError):
            evidence.curves |= curves_of(grid, folder)
            evidence.interrupted = True
            if not evidence.judgeable:
                raise
            break
    evidence.running, evidence.over = (), True
    watch(evidence)
    if not evidence.judgeable:
        raise UsageError(
            "trainings with one T alone compare nothing",
            where="trainings",
            fix="let the race train others too, such as --trainings 1",
        )
    return evidence


def _begin(race: Race, folder: Folder, progress: Progress) -> Evidence:
    """Play the policies that the trainings begin with; those of host envs for one seed."""
    kept = folder.read(UNTRAINED)
    host = isinstance(race.request.env, HostEnv)
    every = (*race.seeds, *race.given_seeds)
    numbers = every[:1] if host else every
    if kept is None or not set(numbers) <= set(kept.seeds):
        progress("playing episodes of untrained policies", 0, 1)
        grid = race.grid(numbers)
        layout = grid.layouts[0]
        plans = [grid.plan(Cell(layout.envs, layout.steps, one)) for one in numbers]
        played = untrained_returns(plans, race.request.env, episodes=EPISODES)
        returns = tuple(float(np.mean(one.returns)) for one in played)
        kept = Untrained(seeds=numbers, returns=returns)
        folder.write(UNTRAINED, kept)
    known = dict(zip(kept.seeds, kept.returns, strict=True))
    evidence = Evidence(race, {one: known.get(one, known[numbers[0]]) for one in every})
    for run in race.given:
        _add(run, evidence)
    return evidence


def _add(run: OwnRun, evidence: Evidence) -> None:
    """Add the trainings of a run that count; raise a UsageError if none does."""
    race = evidence.race
    played = not isinstance(race.request.env, HostEnv)
    found: dict[Cell, Curve] = {}
    why: dict[str, int] = {}
    for cell in run.curves:
        curve: Curve | str = f"T = {cell.steps} is not compared"
        if cell.steps in race.request.steps:
            plan = race.grid([cell.seed], [cell.steps]).plan(cell)
            curve = run.curve(cell, plan, evidence.untrained[cell.seed], played=played)
        if isinstance(curve, Curve):
            found[cell] = evidence.curves.get(cell, curve)
        else:
            why[curve] = why.get(curve, 0) + 1
    reasons = "; ".join(f"{count} of {len(run.curves)}: {one}" for one, count in why.items())
    if not found:
        raise UsageError(
            f"no training of {run.path} counts ({reasons or 'it has none'})",
            where="--from",
            fix="leave it out, or ask with another --total or --steps",
        )
    if why:
        evidence.left_out.append(f"trainings of {run.path} that do not count: {reasons}")
    # Two runs may hold the same training.
    new = [cell for cell in found if cell not in evidence.curves]
    evidence.curves |= found
    if new:
        evidence.given[run] = new


def _train(
    grid: Grid,
    folder: Folder,
    runner: Runner | None,
    evidence: Evidence,
    progress: Progress,
    watch: Watch,
) -> None:
    race, before = evidence.race, len(evidence.own)
    cells, known = len(race.seeds) * len(grid.layouts), -1

    def told(tally: Tally) -> None:
        nonlocal known
        running = tally.running or {}
        part = sum(
            len(job) * count / race.updates(job[0].steps)[1] for job, count in running.items()
        )
        evidence.done = (before + tally.done + part) / cells
        evidence.running = tuple(sorted({job[0].steps for job in running}))
        if tally.done != known:
            known = tally.done
            evidence.curves |= curves_of(grid, folder)
        watch(evidence)
        batch = race.request.batch
        names = ", ".join(f"{batch // steps}x{steps}" for steps in evidence.running[:3])
        what = f"quarter trainings{f', {names}' if names else ''}"
        progress(what, round(100 * cells * evidence.done), 100 * cells)

    # What failed before is tried again: the same command goes on.
    run_cells(grid, folder, runner=runner, retry_failed=True, progress=told)
    for failure in failures_of(grid, folder).values():
        kind = TrainingError if failure.code == TrainingError.code else EnvError
        raise remade(kind, failure.message, where=failure.where, fix=failure.fix)
