"""Claims on schemes: how libraries cut PPO's batches, and whether it matters."""

from nbyt.report.figures import row, slides
from nbyt.results.study import Bars, Figures
from nbyt.results.values import Data
from nbyt_studies.charts import common_lines, grouped_bars
from nbyt_studies.study import Evidence, Results
from nbyt_studies.verdict import Check

_NAMES = {
    "shuffle_and_chop": "shuffle and chop",
    "another shuffle": "another shuffle",
    "rsl_rl": "one shuffle an update (rsl_rl)",
    "random_fetch": "random fetch",
    "time_slabs": "a few steps of all envs",
    "whole_envs": "all steps of a few envs",
    "brax": "whole unrolls (Brax)",
    "dopamine": "blocks of time (Dopamine)",
    "rl_games": "slices of rollouts (rl_games)",
}
_TOGETHER = ("time_slabs", "whole_envs", "brax", "dopamine", "rl_games")
_ABOUT = 0.1
_CLIP_MARGIN = 0.02
_COSINE_MARGIN = 0.05


def _rows(results: Results, part: str) -> list[tuple[dict[str, str], Data]]:
    return [
        (
            {
                "env": case["env"],
                "stage": case["stage"],
                "gradient": case["gradient"],
                "scheme": _NAMES[one["scheme"]],
                "mini-batch": str(one["minibatch"]),
            },
            one,
        )
        for case in results["schemes"]["cases"]
        if part in ("", case["gradient"])
        for one in case["rows"]
    ]


def _noise(results: Results) -> list[Check]:
    words = "Var(G_mb) / Var(G_mb) of shuffled mini-batches"
    return [
        Check(where, words, one["ratio"], low=1)
        for where, one in _rows(results, "")
        if one["scheme"] in _TOGETHER and not _same_as_another(results, one)
    ]


def _same_as_another(results: Results, one: Data) -> bool:
    within_rollouts = one["minibatch"] <= results["schemes"]["layout"]["steps"]
    return one["scheme"] == "rl_games" or (one["scheme"] == "brax" and within_rollouts)


def _formula(results: Results) -> list[Check]:
    words = "mean |G_mb - G_B|², measured over expected"
    return [
        Check(where, words, one["against_formula"], 1 - _ABOUT, 1 + _ABOUT)
        for where, one in _rows(results, "")
        if "against_formula" in one
    ]


def _ends(results: Results) -> list[Check]:
    asked = {
        "ratio": ("mean |ratio - 1|, over the shuffle's", 1 - _ABOUT, 1 + _ABOUT),
        "clip_fraction": ("clip fraction, less the shuffle's", -_CLIP_MARGIN, _CLIP_MARGIN),
        "cosine": ("cosine with G_B, less the shuffle's", -_COSINE_MARGIN, _COSINE_MARGIN),
    }
    checks = []
    for case in results["scheme-ends"]["cases"]:
        for scheme, own in case["ends"].items():
            if scheme in ("shuffle_and_chop", "another shuffle"):
                continue
            where = {"env": case["env"], "stage": case["stage"], "scheme": _NAMES[scheme]}
            for name, (words, low, high) in asked.items():
                checks.append(
                    Check({**where, "what": name.replace("_", " ")}, words, own[name], low, high)
                )
    return checks


def _noise_figures(results: Results) -> Figures:
    title = "Var(G_mb) over a shuffle's"
    return [
        row(*(_bars(results, part, size, "ratio", title) for size in ("64", "256")))
        for part in ("actor", "critic")
    ]


def _formula_figures(results: Results) -> Figures:
    title = "measured over expected"
    charts = (_bars(results, part, "256", "against_formula", title) for part in ("actor", "critic"))
    return [row(*charts)]


def _bars(results: Results, part: str, size: str, key: str, y_title: str) -> Bars:
    measured = [(w, one) for w, one in _rows(results, part) if w["mini-batch"] == size]
    stages = dict.fromkeys(f"{w['env'].removesuffix('-v1')}, {w['stage']}" for w, _ in measured)
    numbers = {}
    for scheme, name in _NAMES.items():
        own = [one[key] for _, one in measured if one["scheme"] == scheme and key in one]
        if own and (scheme, key) != ("shuffle_and_chop", "ratio"):
            numbers[name] = own
    return grouped_bars(f"{part}, mini-batches of {size}", list(stages), y_title, numbers)


def _end_figures(results: Results) -> Figures:
    data = results["scheme-ends"]
    asked = {
        "ratio": "mean |ratio - 1|",
        "clip_fraction": "clip fraction",
        "cosine": "cosine with G_B",
    }
    frames = []
    for case in data["cases"]:
        charts = []
        for name, words in asked.items():
            # Batches differ far more than schemes: bands over batches would hide every line.
            numbers = {
                _NAMES[scheme]: [{"value": one["value"]} for one in own[name]]
                for scheme, own in case["schemes"].items()
                if scheme != "another shuffle"
            }
            title = f"{case['env']}, {case['stage']}: {words}"
            charts.append(common_lines(title, ("epochs gone", words), data["looks"], numbers))
        frames.append([row(*charts)])
    stages = [f"{case['env'].removesuffix('-v1')}, {case['stage']}" for case in data["cases"]]
    return [slides("scheme-ends", "stage", stages, frames)]


def _end_values(results: Results) -> Data:
    again = [case["ends"]["another shuffle"] for case in results["scheme-ends"]["cases"]]
    return {"widest": max(abs(own["cosine"]["value"]) for own in again)}


EVIDENCE = {
    "scheme-noise": Evidence(_noise, _noise_figures),
    "scheme-formula": Evidence(_formula, _formula_figures),
    "scheme-ends": Evidence(_ends, _end_figures, _end_values),
}
