"""An experiment of a study, and its context: a folder, a seed, a size, and trainings."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from nbyt.envs import resolve
from nbyt.envs.protocol import DeviceEnv, HostEnv
from nbyt.layout import Layout
from nbyt.measure.chains import Progress
from nbyt.policy.stage import Stage
from nbyt.results.values import Data
from nbyt.store.atomic import canonical
from nbyt.store.files import METRICS, RESULT, STUDY_TRAINING
from nbyt.store.manifest import manifest
from nbyt.store.paths import locked
from nbyt.store.run import Folder, open_run
from nbyt.store.text import slug
from nbyt.train import hardware
from nbyt.train.algorithms.ppo import initial_learner
from nbyt.train.algorithms.registry import Row
from nbyt.train.loop import Watch, kept_stages, train
from nbyt.train.plan import PPOPlan, PPOSettings

Choice = TypeVar("Choice")


@dataclass(frozen=True)
class Training:
    """A run: its stages in order, each after so many updates, and the row of every update."""

    env: DeviceEnv | HostEnv
    layout: Layout
    stages: tuple[Stage, ...]
    rows: tuple[Row, ...]

    def at(self, updates: int) -> Stage:
        """The stage after so many updates."""
        return next(one for one in self.stages if one.facts["updates"] == updates)


@dataclass(frozen=True)
class Context:
    """What an experiment is given. Its results depend on `seed` and `quick` alone."""

    folder: Folder
    seed: int
    quick: bool
    progress: Progress

    def pick(self, quick: Choice, full: Choice) -> Choice:
        """One of two sizes: for a first look, or for the whole study."""
        return quick if self.quick else full

    def named(self, words: str) -> "Context":
        """The same bench, whose progress begins with these words."""
        return replace(self, progress=self.saying(words))

    def saying(self, words: str) -> Progress:
        """Progress whose parts all begin with these words."""
        return lambda what, done, total: self.progress(f"{words}, {what}", done, total)

    def trained(
        self,
        env: str | DeviceEnv | HostEnv,
        layout: Layout,
        *,
        stages: tuple[int, ...],
        settings: PPOSettings | None = None,
        seed: int = 0,
    ) -> Training:
        """A run with stages after these updates, the last of which ends it; trained once only.

        seed: counted from the study's own.
        """
        found = resolve(env)
        last = max(stages)
        plan = PPOPlan(
            found.id,
            layout,
            last * layout.batch,
            self.seed + seed,
            settings or PPOSettings(),
            tuple(sorted(stages)),
        )
        words = f"{found.id.partition(':')[2]}-{layout.envs}x{layout.steps}-{plan.seed}"
        # Runs that differ in anything have folders of their own.
        mark = hashlib.sha256(canonical(plan.identity())).hexdigest()[:8]
        made_by = manifest("reproduce", plan.identity(), plan.seed, hardware.describe())
        folder = self.folder.path_of(STUDY_TRAINING, slug(f"{words}-{mark}"))
        # Another experiment may want the same run at the same time.
        with locked(folder.with_name(f"{folder.name}.lock")):
            run = open_run(folder, plan.identity(), manifest=made_by, inner=True)
            if run.read(RESULT) is None:
                watch = Watch(self.progress, f"training {words}", last)
                train(plan, run, (watch,), env=found)
        kept = tuple(kept_stages(plan, run))
        return Training(found, layout, kept, tuple(run.read(METRICS) or []))

    def untrained(
        self,
        env: str | DeviceEnv | HostEnv,
        layout: Layout,
        settings: PPOSettings | None = None,
        seed: int = 0,
    ) -> Stage:
        """The stage before the first update of such a run."""
        found = resolve(env)
        settings = settings or PPOSettings()
        plan = PPOPlan(found.id, layout, layout.batch, self.seed + seed, settings, (1,))
        policy, learner = initial_learner(plan, found)
        facts: dict[str, Any] = {
            "env": found.id,
            "updates": 0,
            "steps": 0,
            "layout": layout.as_dict(),
            "settings": settings.as_dict(),
        }
        return Stage(policy, learner.params, facts)


@dataclass(frozen=True)
class Experiment:
    """A measurement whose result is plain data: numbers, texts, lists and dicts.

    run: a function at the top level of its module, so that a worker can import it by name. alone:
    it measures time, so no other experiment may run at the same time.
    """

    name: str
    words: str
    run: Callable[[Context], Data]
    alone: bool = False
