"""The probe against brute force, at equal interval width."""

import math
import time
from typing import Any

import numpy as np

from benchmarks.agreement.stages import CARTPOLE, trained
from benchmarks.probe.brute import OBJECTIVES, Layout, interval
from benchmarks.timing.rounds import median
from nbyt.envs import DeviceEnv, resolve
from nbyt.measure.measurement import Measurement
from nbyt.measure.probe import probe
from nbyt.policy.actor_critic import Stage

BATCH = 2048
TARGET = 20.0
APART, GOING_ON = "an episode apart", "going on"


def equal_width(*, rounds: int, quick: bool) -> dict[str, Any]:
    """Widths of both sides' intervals, seconds of both in every round, and the ratios."""
    stage, env = trained(CARTPOLE), resolve(CARTPOLE.env)
    assert isinstance(env, DeviceEnv), "brute force runs on the device"
    ours = _widths(_probe(env, stage, 0))
    counts = (32, 64) if quick else (128, 512)
    layouts = {
        way: [Layout(env, stage, BATCH // t, t, gap=gap) for t in ours["actor"]]
        for way, gap in {APART: env.time_limit, GOING_ON: 0}.items()
    }
    theirs = _brute_widths(layouts[APART], counts)
    wide = {count: _mean(found) for count, found in theirs.items()}
    needed = counts[-1] * (wide[counts[-1]] / _mean(ours)) ** 2
    seconds = _rounds(env, stage, layouts, rounds, 2 if quick else 16)
    return {
        "widths": {"probe": ours, "brute": {str(n): found for n, found in theirs.items()}},
        "mean_width": {"probe": _mean(ours), **{str(n): value for n, value in wide.items()}},
        # By the law of 1/sqrt(R) this is sqrt(counts[1] / counts[0]).
        "law": {
            "expected": math.sqrt(counts[1] / counts[0]),
            "found": wide[counts[0]] / wide[counts[1]],
        },
        "replicates_needed": needed,
        "seconds": seconds,
        "ratios": {way: _ratio(seconds, way, needed) for way in layouts},
    }


def _ratio(seconds: dict[str, list[float]], way: str, needed: float) -> dict[str, Any]:
    rounds = [needed * a / b for a, b in zip(seconds[way], seconds["probe"], strict=True)]
    ratio, target = median(rounds).as_dict(), TARGET if way == APART else None
    reached = None if target is None else ratio["value"] >= target
    return {"rounds": rounds, "ratio": ratio, "target": target, "reached": reached}


def _rounds(
    env: DeviceEnv, stage: Stage, layouts: dict[str, list[Layout]], rounds: int, count: int
) -> dict[str, list[float]]:
    """Seconds of a probe, and of one batch of every layout, in each round."""
    found: dict[str, list[float]] = {"probe": [], **{way: [] for way in layouts}}
    for layout in (layout for some in layouts.values() for layout in some):
        layout.seconds(1)  # compiles, where nobody has yet
    for _ in range(rounds):
        began = time.perf_counter()
        _probe(env, stage, 0)
        found["probe"].append(time.perf_counter() - began)
        for way, some in layouts.items():
            found[way].append(sum(layout.seconds(count) for layout in some))
    return found


def _probe(env: DeviceEnv, stage: Stage, seed: int) -> Measurement:
    return probe(env, stage, batch=BATCH, advantages="raw", seed=seed, phase=False)


def _widths(measured: Measurement) -> dict[str, dict[int, float]]:
    return {
        name: {
            one.steps: math.log(one.gradient(name).variance.high / one.gradient(name).variance.low)
            for one in measured.layouts
        }
        for name in OBJECTIVES
    }


def _brute_widths(
    layouts: list[Layout], counts: tuple[int, int]
) -> dict[int, dict[str, dict[int, float]]]:
    """Log-widths of the intervals from R batches, for both R."""
    found: dict[int, dict[str, dict[int, float]]] = {
        count: {name: {} for name in OBJECTIVES} for count in counts
    }
    for layout in layouts:
        made = layout.gradients(max(counts))
        for count in counts:
            for name in OBJECTIVES:
                one = interval(made[name][:count])
                found[count][name][layout.steps] = math.log(one.high / one.low)
    return found


def _mean(widths: dict[str, dict[int, float]]) -> float:
    return float(np.mean([width for own in widths.values() for width in own.values()]))
