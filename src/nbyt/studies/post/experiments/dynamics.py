"""Sensitive dynamics: what a start explains of a gradient, and where nearby starts lead."""

from typing import Any

from nbyt import exact as oracle
from nbyt.layout import Layout
from nbyt.measure.starts import separation, start_share
from nbyt.results.values import Data
from nbyt.stats import mean
from nbyt.stats.order import median
from nbyt.studies.bench import Bench, Training
from nbyt.studies.numbers import exact
from nbyt.studies.post.experiments.visits import RUNS, Run, training_of
from nbyt.studies.study import Experiment
from nbyt.train.settings import PPOSettings

STARTS = (256, 512)
AGAIN = 8
LENGTHS = (16, 64)
TABLE_LENGTHS = (4, 32)
POLICIES = ("uniform", "mid", "late")
_SHOWN = (1, 2, 4, 8, 16, 32, 64)
ACROBOT = Run(
    "acrobot", "gymnax:Acrobot-v1", Layout(16, 128, 64, 10), PPOSettings(), ((1, 20), (1, 40))
)


def run(bench: Bench) -> Data:
    """Shares of the start, and separations, of an early and a late stage of each env."""
    runs = bench.pick(RUNS[1:], (*RUNS[1:], ACROBOT))
    shares, apart = _exact_shares(bench), []
    for number, run in enumerate(runs):
        training = training_of(bench, run, 0)
        for words in ("early", "late"):
            case = {"env": run.env, "stage": words}
            bench.progress(f"rollouts from the same starts, {run.env}", number, len(runs))
            for steps, share in zip(LENGTHS, _shares(bench, training, words), strict=True):
                shares.append({**case, "steps": steps, "share": share})
            bench.progress(f"nearby starts, {run.env}", number, len(runs))
            apart.append({**case, **_separation(bench, training, words)})
    return {"shares": shares, "separation": apart}


def _exact_shares(bench: Bench) -> list[Data]:
    """Of FrozenLake, from the split of the variance by what was drawn."""
    found = []
    for policy in POLICIES:
        control = oracle.frozenlake(policy)
        for steps in TABLE_LENGTHS:
            options: Any = {"steps": steps, "gamma": control.gamma, "lam": control.lam}
            parts = oracle.sources(control.env, control.stage, **options, centre=True).actor
            share = exact(parts.start / parts.variance)
            case = {"env": "tabular:FrozenLake8x8-v1", "stage": policy}
            found.append({**case, "steps": steps, "share": share})
        bench.progress("the start's share on FrozenLake", len(found), 6)
    return found


def _shares(bench: Bench, training: Training, words: str) -> list[Data]:
    stage = training.stages[0 if words == "early" else -1]
    settings = stage.facts["settings"]
    found = start_share(
        training.env,  # type: ignore[arg-type]
        stage,
        starts=bench.pick(*STARTS),
        again=AGAIN,
        steps=LENGTHS,
        gamma=settings["gamma"],
        lam=settings["lambda"],
        seed=bench.seed,
    )
    return [one.as_dict() for one in found]


def _separation(bench: Bench, training: Training, words: str) -> Data:
    """Medians over starts: of the growth after some steps, and of unrelated starts."""
    env: Any = training.env
    stage = training.stages[0 if words == "early" else -1]
    longest = LENGTHS[-1]
    found = separation(env, stage, starts=bench.pick(*STARTS), steps=longest, seed=bench.seed)
    shown = [step for step in _SHOWN if step <= longest]
    return {
        "steps": shown,
        "growth": [median(found.growth[:, step - 1]).as_dict() for step in shown],
        "unrelated": median(found.unrelated).as_dict(),
        "mean": mean(found.growth[:, -1]).as_dict(),
        "pairs": len(found.growth),
    }


EXPERIMENTS = (Experiment("dynamics", "what the start decides", run),)
