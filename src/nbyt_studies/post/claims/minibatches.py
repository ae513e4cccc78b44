"""Claims on mini-batches: their mean, the variance that they add, and what shuffling is for."""

from operator import itemgetter

from nbyt.report.figures import lines, plane, row, series, slides, table
from nbyt.results.study import Figures, Lines, NumberSeries
from nbyt.results.values import Data
from nbyt_studies.charts import common_lines, grouped_bars
from nbyt_studies.study import Evidence, Results
from nbyt_studies.verdict import Check

# A sample in a hundred: less would hardly be called a mistake.
_NOTABLE = 0.01
_ONE_BY_ONE = "fetched one by one"


def _whole_batch(results: Results) -> list[Check]:
    words = "mean return over the run with mini-batches, less that with the whole batch"
    return [
        Check({"against": way, "env": case["env"]}, words, lead, low=0.0)
        for case in results["minibatch-learning"]["cases"]
        for way, lead in case["leads"].items()
    ]


def _whole_batch_figures(results: Results) -> Figures:
    charts = []
    axes = ("updates", "mean return of the update's episodes")
    for case in results["minibatch-learning"]["cases"]:
        updates = range(1, len(case["curves"]["whole batch"]) + 1)
        title = f"{case['env']}, 16x128, 10 epochs: {case['seeds']} runs each"
        charts.append(common_lines(title, axes, updates, case["curves"]))
    return [row(*charts)]


def _unused(results: Results) -> list[Check]:
    schemes = results["minibatch-coverage"]["schemes"]
    words = "share of samples in no mini-batch of an epoch"
    return [
        Check({"scheme": scheme}, words, numbers[0], low=_NOTABLE)
        for scheme, numbers in schemes.items()
        if scheme.startswith("fetched")
    ]


def _unused_figures(results: Results) -> Figures:
    data = results["minibatch-coverage"]
    head = ["scheme", *(f"after {epochs}" for epochs in data["epochs"])]
    measured = [[scheme, *numbers] for scheme, numbers in data["schemes"].items()]
    expected = [
        [f"formula: {scheme}", *(f"{value:.3g}" for value in values)]
        for scheme, values in data["formula"].items()
    ]
    title = "Share of a batch's 2,048 samples that no mini-batch of 64 has held, by epochs"
    axes = ("epochs of the update", "share of samples never used")
    chart = common_lines(title, axes, data["epochs"], data["schemes"])
    return [chart, table(title, head, [*measured, *expected])]


def _unused_values(results: Results) -> Data:
    data = results["minibatch-coverage"]
    last = data["formula"][_ONE_BY_ONE][-1]
    samples = last * data["layout"]["batch"]
    return {"epochs": data["epochs"][-1], "share": last, "samples": samples}


_ROUNDING = 1e-4
_ABOUT = 0.1
_USUAL = 64
# One percent more: a variance that is larger in the sixth digit only would be no cost.
_LARGER = 1.01


def _cases(results: Results) -> list[Data]:
    return results["minibatches"]["cases"]


def _by_part(results: Results) -> dict[str, list[Data]]:
    return {
        part: [case for case in _cases(results) if case["gradient"] == part]
        for part in ("actor", "critic")
    }


def _places(cases: list[Data]) -> list[str]:
    return [f"{case['env']}, {case['stage']}" for case in cases]


def _case(case: Data, **more: str) -> dict[str, str]:
    own = {key: case[key] for key in ("env", "stage", "gradient")}
    return {**own, **more}


def _parts(results: Results) -> list[Data]:
    return [
        {**one, "case": _case(case, minibatch=str(one["minibatch"]))}
        for case in _cases(results)
        for one in case["shuffled"]
        if "against_formula" in one
    ]


def _mean(results: Results) -> list[Check]:
    words = "|mean of an epoch's mini-batches - G_B| / |G_B|"
    return [
        Check(_case(case), words, one["apart"], high=_ROUNDING)
        for case in _cases(results)
        for one in case["shuffled"]
        if one["minibatch"] == _USUAL
    ]


def _normalised(results: Results) -> list[Check]:
    words = "cosine of the mean of an epoch's mini-batches with G_B"
    return [
        Check(_case(case), words, case["normalised"]["cosine"], low=1 - _ABOUT)
        for case in _cases(results)
        if "normalised" in case
    ]


def _variance(results: Results) -> list[Check]:
    checks = [
        Check(one["case"], "Var(G_mb) / Var(G_B)", one["total"], low=_LARGER)
        for one in _parts(results)
    ]
    for case in _cases(results):
        whole = case["shuffled"][-1]
        own = _case(case, minibatch=str(whole["minibatch"]))
        words = "variance that the whole batch adds, over S²/n"
        checks.append(Check(own, words, whole["added"], high=_ROUNDING))
    return checks


def _formula(results: Results) -> list[Check]:
    words = "added variance, measured over (1 - m/n) S²/m"
    return [
        Check(one["case"], words, one["against_formula"], 1 - _ABOUT, 1 + _ABOUT)
        for one in _parts(results)
    ]


_SCHEMES = {
    "consecutive": "consecutive steps of one env",
    "time_slabs": "a few steps of all envs",
    "whole_envs": "all steps of a few envs",
}


def _shuffling(results: Results) -> list[Check]:
    words = "Var of unshuffled mini-batches / Var of shuffled ones"
    return [
        Check(
            _case(case, scheme=_SCHEMES[one["scheme"]], minibatch=str(one["minibatch"])),
            words,
            one["ratio"],
            low=1.0,
        )
        for case in _cases(results)
        for one in case["in_order"]
    ]


def _plane_figures(results: Results) -> Figures:
    charts = []
    for case in _cases(results):
        if case["stage"] != "late" or "plane" not in case:
            continue
        pictures = []
        for cloud in case["plane"]:
            words = f"mini-batches of {cloud['minibatch']} of one batch of 16x128"
            title = f"{case['env']}, late ({case['updates']} updates), actor: {words}"
            pictures.append(plane(title, cloud, goal="G_B", points=words))
        charts.append(row(*pictures))
    return charts


def _variance_figures(results: Results) -> Figures:
    words = [(stage, part) for part in ("actor", "critic") for stage in ("early", "late")]
    frames = [
        [row(*(_sizes_chart(case) for case in _cases(results) if _is(case, *word)))]
        for word in words
    ]
    names = [f"{part}, {stage}" for stage, part in words]
    return [slides("minibatch-size", "gradient and stage", names, frames)]


def _is(case: Data, stage: str, part: str) -> bool:
    return case["stage"] == stage and case["gradient"] == part


def _sizes_chart(case: Data) -> Lines:
    shuffled, fetched = case["shuffled"], case["fetched"]
    some = [
        _along("shuffle and chop", shuffled, "total", line=False),
        _along("formula: (1 - m/n) S²/m", shuffled, "formula", line=True),
        _along("random fetching", fetched, "total", line=False),
        _along("formula: (n-1)/n S²/m", fetched, "formula", line=True),
    ]
    title = (
        f"{case['env']}, 16x128, {case['stage']} ({case['updates']} updates), {case['gradient']}"
    )
    sizes = [one["minibatch"] for one in shuffled]
    ticks = [(size, str(size)) for size in sizes]
    axes = ("mini-batch size (samples)", "Var(G_mb) / Var(G_B)")
    return lines(title, *axes, some, log_x=True, log_y=True, ticks=ticks)


def _along(name: str, rows: list[Data], key: str, *, line: bool) -> NumberSeries:
    numbers = [one[key] for one in rows]
    if line:  # both lines have the same uncertain Var(G_B) below: its band would hide the points
        numbers = [{"value": number["value"]} for number in numbers]
    return series(name, [one["minibatch"] for one in rows], numbers, line=line)


def _shuffling_figures(results: Results) -> Figures:
    charts = []
    for part, cases in _by_part(results).items():
        numbers = {
            f"{_SCHEMES[one['scheme']]}, {one['minibatch']}": [
                case["in_order"][place]["ratio"] for case in cases
            ]
            for place, one in enumerate(cases[0]["in_order"])
        }
        title = f"{part}, 16x128: variance of mini-batches that are not shuffled"
        charts.append(grouped_bars(title, _places(cases), "over that of shuffled ones", numbers))
    return charts


def _shuffling_values(results: Results) -> Data:
    values = {}
    for part, cases in _by_part(results).items():
        ratios = [one["ratio"] for case in cases for one in case["in_order"]]
        known = [ratio["value"] for ratio in ratios if ratio["value"] is not None]
        sure = sum(ratio["low"] is not None and ratio["low"] > 1 for ratio in ratios)
        values[part] = {"least": min(known), "most": max(known), "sure": sure, "all": len(ratios)}
    return values


EVIDENCE = {
    "minibatch-mean": Evidence(_mean),
    "minibatch-normalised": Evidence(_normalised, _plane_figures),
    "minibatch-variance": Evidence(_variance, _variance_figures),
    "minibatch-formula": Evidence(_formula),
    "minibatch-shuffling": Evidence(_shuffling, _shuffling_figures, _shuffling_values),
    "whole-batch-always": Evidence(
        _whole_batch, _whole_batch_figures, itemgetter("minibatch-learning")
    ),
    "random-fetching-unused": Evidence(_unused, _unused_figures, _unused_values),
}
