"""The command: draw pools of every case, and put what the gate says into result.json.

    python -m benchmarks.calibration.run [--pools 1000] [--cases NAME ...]

Products and estimates of every pool are kept in runs/calibration, under a name for the sources
that made them. So it can be stopped at any time, and the same command goes on; and when only the
statistics have changed, the same products are judged again. All cases advance together.
"""

import argparse
import hashlib
import json
import os
import platform
import time
from functools import cache, cached_property
from importlib import metadata
from pathlib import Path
from typing import Any

# One thread: the programs are small, and a second thread would only wait for the first.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault(
    "XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
)

import jax

import nbyt
from benchmarks.calibration.cases import BY_NAME, CASES, Case
from benchmarks.calibration.estimates import Estimator, Found
from benchmarks.calibration.gate import Interval, judge, limits
from benchmarks.calibration.pools import Drawer, Pooled, load, save
from benchmarks.calibration.truths import Key, truths
from nbyt.store.atomic import write_text

POOLS = 1000
RESULT = Path(__file__).parent / "result.json"
WORK = Path(__file__).parents[2] / "runs" / "calibration"
_CHUNK = 20
# Sources that a pool's products depend on, and those that its intervals depend on besides.
_DRAWING = (
    "collect/*pool.py",
    "collect/device.py",
    "collect/segment.py",
    "envs/tabular.py",
    "gradients/[!s]*.py",
    "policy/*.py",
)
_STATISTICS = ("stats/[!s]*.py", "stats/samples.py", "stats/summary.py", "measure/critic.py")
_DRAWERS, _ESTIMATORS = ("pools.py", "sampler.py"), ("estimates.py",)
_PACKAGES = ("jax", "numpy", "scipy", "gymnasium")
_COMPILED = "/jax/core/compile/backend_compile_duration"


def main() -> None:
    """Draw the pools and judge them."""
    options = _options()
    options.work.mkdir(parents=True, exist_ok=True)
    jax.config.update("jax_compilation_cache_dir", str(options.work / "programs"))
    cases = [BY_NAME[name] for name in options.cases]
    compiled = _count_compilations()
    _draw_all(cases, options, compiled)
    write_text(options.out, json.dumps(summary(cases, options.work), indent=1) + "\n")
    print(f"written to {options.out}")


def summary(cases: list[Case], work: Path) -> dict[str, Any]:
    """What the gate says of every case, and what it was made with."""
    return {
        "level": 0.95,
        "sources": f"{fingerprint(_DRAWING, _DRAWERS)}-{fingerprint(_STATISTICS, _ESTIMATORS)}",
        "versions": {
            "python": platform.python_version(),
            "nbyt": nbyt.__version__,
            **{name: metadata.version(name) for name in _PACKAGES},
        },
        "cases": [judged(case, read(lines_of(work, case))) for case in cases],
    }


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    names = [case.name for case in CASES]
    parser.add_argument("--pools", type=int, default=POOLS, help="pools of every case")
    parser.add_argument("--cases", nargs="+", choices=names, default=names)
    parser.add_argument("--work", type=Path, default=WORK, help="where pools are kept")
    parser.add_argument("--out", type=Path, default=RESULT)
    return parser.parse_args()


def _draw_all(cases: list[Case], options: argparse.Namespace, compiled: list[str]) -> None:
    workers = [Worker(case, options.work) for case in cases]
    after_first = None
    for goal in range(_CHUNK, options.pools + _CHUNK, _CHUNK):
        before = time.monotonic()
        for worker in workers:
            worker.advance(min(goal, options.pools))
        took = time.monotonic() - before
        print(f"{goal} pools, {took:.0f} s, {len(compiled)} programs compiled", flush=True)
        after_first = len(compiled) if after_first is None else after_first
    print(f"{len(compiled) - (after_first or 0)} programs were compiled after the first round")


class Worker:
    """One case on its way: pools that are drawn, and lines of estimates that are written."""

    def __init__(self, case: Case, work: Path) -> None:
        self.case = case
        self._products = work / case.name / f"pools-{pools_name(case)}"
        self._lines = lines_of(work, case)
        self._done = len(read(self._lines))

    def advance(self, goal: int) -> None:
        """Go on until so many pools are drawn and estimated."""
        if self._done >= goal:
            return
        with self._lines.open("a") as file:
            for place in range(self._done, goal):
                found = self._estimator.estimates(self._pooled(place), place)
                file.write(json.dumps({"place": place, "found": _rows(found)}) + "\n")
                file.flush()
        self._done = goal

    def _pooled(self, place: int) -> Pooled:
        file = self._products / f"{place:05}.npz"
        if not file.exists():
            save(file, self._drawer.draw(place))
        return load(file, self.case)

    @cached_property
    def _drawer(self) -> Drawer:
        return Drawer(self.case)

    @cached_property
    def _estimator(self) -> Estimator:
        return Estimator(self.case)


def _rows(found: Found) -> dict[str, list[Any]]:
    """Value, bounds and mark of every estimate, under its key as text."""
    return {
        "|".join(map(str, key)): [one.value, one.low, one.high, int(one.approximate)]
        for key, one in found.items()
    }


def lines_of(work: Path, case: Case) -> Path:
    """The file of a case's estimates by the sources as they are now."""
    file = (
        work
        / case.name
        / f"estimates-{pools_name(case)}-{fingerprint(_STATISTICS, _ESTIMATORS)}.jsonl"
    )
    file.parent.mkdir(parents=True, exist_ok=True)
    return file


def pools_name(case: Case) -> str:
    """A short name for all that a case's pools depend on: its settings and the sources."""
    settings = (case.name, case.steps, case.chains, case.chain_steps, case.normalise)
    text = (
        f"{settings} {case.start} {case.collected} {case.phase} {fingerprint(_DRAWING, _DRAWERS)}"
    )
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def read(file: Path) -> list[dict[str, Any]]:
    """The lines that are there; one that a stop cut short is taken away."""
    if not file.exists():
        return []
    text = file.read_text()
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        write_text(file, whole)
    return [json.loads(line) for line in whole.splitlines()]


def judged(case: Case, lines: list[dict[str, Any]]) -> dict[str, Any]:
    gates = []
    for key, truth in truths(case).items():
        gate: dict[str, Any] = dict(zip(("steps", "gradient", "field"), key, strict=True))
        if isinstance(truth, str):
            gates.append({**gate, "skipped": truth})
            continue
        intervals = [_interval(line, key) for line in lines]
        gates.append({**gate, **judge(intervals, truth, key[2])})
    return {
        "name": case.name,
        "words": case.words,
        "chains": case.chains,
        "chain_steps": case.chain_steps,
        "steps": list(case.steps),
        "batch": case.control.batch,
        "pools": len(lines),
        "limits": list(limits(len(lines))) if lines else None,
        "gates": gates,
    }


def _interval(line: dict[str, Any], key: Key) -> Interval:
    value, low, high, flag = line["found"]["|".join(map(str, key))]
    return Interval(value, low, high, bool(flag))


@cache
def fingerprint(sources: tuple[str, ...], own: tuple[str, ...]) -> str:
    """A short name for these sources of nbyt and of this folder as they are now."""
    root, here = Path(nbyt.__file__).parent, Path(__file__).parent
    files = sorted(file for pattern in sources for file in root.glob(pattern))
    text = b"".join(file.read_bytes() for file in (*files, *(here / name for name in own)))
    return hashlib.sha256(text).hexdigest()[:8]


def _count_compilations() -> list[str]:
    """A list that grows by one with every program that is compiled from now on."""
    seen: list[str] = []
    jax.monitoring.register_event_duration_secs_listener(
        lambda name, seconds, **_: seen.append(name) if name == _COMPILED else None
    )
    return seen


if __name__ == "__main__":
    main()
