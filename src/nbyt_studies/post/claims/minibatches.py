"""Claims on mini-batches: their mean, the variance that they add, and what shuffling is for."""

from functools import partial

from nbyt.report.figures import bars, lines, plane, row, series, slides, table
from nbyt.results.values import Data
from nbyt_studies.study import Claim, Results, always
from nbyt_studies.verdict import Check

# A sample in a hundred: less would hardly be called a mistake.
_NOTABLE = 0.01
_ONE_BY_ONE = "fetched one by one"


def _whole_batch(results: Results) -> list[Check]:
    words = "mean return over the run with mini-batches, less that with the whole batch"
    return [
        Check({"env": case["env"]}, words, case["lead"], low=0.0)
        for case in results["minibatch-learning"]["cases"]
    ]


def _whole_batch_figures(results: Results) -> list[Data]:
    charts = []
    for case in results["minibatch-learning"]["cases"]:
        some = [
            series(word, range(1, len(curve) + 1), curve) for word, curve in case["curves"].items()
        ]
        title = f"{case['env']}, 16x128, 10 epochs: {case['seeds']} runs each"
        charts.append(lines(title, "updates", "mean return of the update's episodes", some))
    return [row(*charts)]


def _whole_batch_notes(results: Results) -> list[str]:
    data = results["minibatch-learning"]
    steps = data["gradient_steps"]
    return [
        f"In {data['epochs']} epochs of a batch of {data['batch']:,}, mini-batches of "
        f"{data['minibatch']} make {steps['mini-batches']} gradient steps an update, the whole "
        f"batch {steps['whole batch']}. Each of those few has the least variance that the batch "
        "allows; the step size is the same for both."
    ]


def _unused(results: Results) -> list[Check]:
    schemes = results["minibatch-coverage"]["schemes"]
    words = "share of samples in no mini-batch of an epoch"
    return [
        Check({"scheme": scheme}, words, numbers[0], low=_NOTABLE)
        for scheme, numbers in schemes.items()
        if scheme.startswith("fetched")
    ]


def _unused_figures(results: Results) -> list[Data]:
    data = results["minibatch-coverage"]
    head = ["scheme", *(f"after {epochs}" for epochs in data["epochs"])]
    measured = [[scheme, *numbers] for scheme, numbers in data["schemes"].items()]
    expected = [
        [f"formula: {scheme}", *(f"{value:.3g}" for value in values)]
        for scheme, values in data["formula"].items()
    ]
    title = "Share of a batch's 2,048 samples that no mini-batch of 64 has held, by epochs"
    some = [series(scheme, data["epochs"], numbers) for scheme, numbers in data["schemes"].items()]
    chart = lines(title, "epochs of the update", "share of samples never used", some)
    return [chart, table(title, head, [*measured, *expected])]


def _unused_notes(results: Results) -> list[str]:
    data = results["minibatch-coverage"]
    last = data["formula"][_ONE_BY_ONE][-1]
    return [
        f"After all {data['epochs'][-1]} epochs the expected share is {last:.2g}, "
        f"{last * data['layout']['batch']:.2g} samples a batch: with many epochs random fetching "
        "wastes almost nothing, but uses some samples far more often than others."
    ]


def _fetching_noise(results: Results) -> list[Check]:
    words = "Var of an epoch's mean gradient / Var(G_B)"
    return [
        Check(
            {key: case[key] for key in ("env", "stage", "gradient")},
            words,
            case["epoch_of_fetching"]["total"],
            low=_LARGER,
        )
        for case in results["minibatches"]["cases"]
    ]


def _fetching_figures(results: Results) -> list[Data]:
    charts = []
    for part in ("actor", "critic"):
        own = [case for case in results["minibatches"]["cases"] if case["gradient"] == part]
        names = [f"{case['env']}, {case['stage']}" for case in own]
        some = [
            series(word, range(len(own)), [case["epoch_of_fetching"][key] for case in own])
            for word, key in (("measured", "total"), ("formula", "formula"))
        ]
        title = f"{part}, 16x128: an epoch's mean gradient when samples are fetched at random"
        charts.append(bars(title, names, "Var / Var(G_B); 1 with shuffle and chop", some))
    return charts


TOPIC = "Mini-batches"

_ROUNDING = 1e-4
_ABOUT = 0.1
# One percent more: a variance that is larger in the sixth digit only would be no cost.
_LARGER = 1.01
_SIZES = "mini-batches of 16 to 2,048"
_MEASURED = (
    "FrozenLake 8x8 (table), CartPole-v1 and Pendulum-v1 (64x64), frozen early and late in "
    "training; 64 independent batches of 16x128 (quick: 16, and no Pendulum), each cut into {}, at "
    "ratio 1. "
)


def _cases(results: Results) -> list[Data]:
    return results["minibatches"]["cases"]


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
    checks = []
    for case in _cases(results):
        usual = next(one for one in case["shuffled"] if one["minibatch"] == 64)
        fetched = next(one for one in case["fetched"] if one["minibatch"] == 64)
        shuffled, random = (_case(case, scheme=w) for w in ("shuffle and chop", "random fetching"))
        words = "|mean of an epoch's mini-batches - G_B| / |G_B|"
        checks.append(Check(shuffled, words, usual["apart"], high=_ROUNDING))
        words = "mean of the mini-batches along G_B, over |G_B|"
        checks.append(Check(random, words, fetched["along"], 1 - _ABOUT, 1 + _ABOUT))
        if "normalised" in case:
            own = _case(case, scheme="shuffle and chop, advantages normalised in each mini-batch")
            words = "cosine of the mean of an epoch's mini-batches with G_B"
            checks.append(Check(own, words, case["normalised"]["cosine"], low=1 - _ABOUT))
    return checks


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


def _plane_figures(results: Results) -> list[Data]:
    found = []
    for case in _cases(results):
        if case["stage"] != "late" or "plane" not in case:
            continue
        pictures = []
        for cloud in case["plane"]:
            words = f"mini-batches of {cloud['minibatch']} of one batch of 16x128"
            title = f"{case['env']}, late ({case['updates']} updates), actor: {words}"
            pictures.append(plane(title, cloud, goal="G_B", points=words))
        found.append(row(*pictures))
    return found


_plane_notes = always(
    "In the pictures G_B is the arrow of length 1. The second axis is the direction across it "
    "in which the mini-batches of 64 scatter most, so what is seen there is the most that any "
    "direction shows."
)


def _variance_figures(results: Results) -> list[Data]:
    words = [(stage, part) for part in ("actor", "critic") for stage in ("early", "late")]
    frames = [
        [row(*(_sizes_chart(case) for case in _cases(results) if _is(case, *word)))]
        for word in words
    ]
    names = [f"{part}, {stage}" for stage, part in words]
    return [slides("minibatch-size", "gradient and stage", names, frames)]


def _is(case: Data, stage: str, part: str) -> bool:
    return case["stage"] == stage and case["gradient"] == part


def _sizes_chart(case: Data) -> Data:
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


def _along(name: str, rows: list[Data], key: str, *, line: bool) -> Data:
    numbers = [one[key] for one in rows]
    if line:  # both lines have the same uncertain Var(G_B) below: its band would hide the points
        numbers = [{"value": number["value"]} for number in numbers]
    return series(name, [one["minibatch"] for one in rows], numbers, line=line)


def _shuffling_figures(results: Results) -> list[Data]:
    charts = []
    for part in ("actor", "critic"):
        own = [case for case in _cases(results) if case["gradient"] == part]
        categories = [f"{case['env']}, {case['stage']}" for case in own]
        some = []
        for place, one in enumerate(own[0]["in_order"]):
            numbers = [case["in_order"][place]["ratio"] for case in own]
            name = f"{_SCHEMES[one['scheme']]}, {one['minibatch']}"
            some.append(series(name, range(len(own)), numbers))
        title = f"{part}, 16x128: variance of mini-batches that are not shuffled"
        charts.append(bars(title, categories, "over that of shuffled ones", some))
    return charts


def _shuffling_notes(results: Results) -> list[str]:
    notes = []
    for part in ("actor", "critic"):
        own = [case for case in _cases(results) if case["gradient"] == part]
        ratios = [one["ratio"]["value"] for case in own for one in case["in_order"]]
        known = [ratio for ratio in ratios if ratio is not None]
        lows = [one["ratio"]["low"] for case in own for one in case["in_order"]]
        sure = sum(low is not None and low > 1 for low in lows)
        notes.append(
            f"The {part}'s ratios lie between {min(known):.2f} and {max(known):.2f}; {sure} of "
            f"{len(lows)} are surely above 1."
        )
    cut = "A few steps of all envs also share their place in the rollout: where the critic is off, "
    return [*notes, cut + "late steps' advantages, cut sooner, may have another mean."]


_claim = partial(Claim, topic=TOPIC)

CLAIMS = (
    _claim(
        id="minibatch-mean",
        says="On average over mini-batches, their gradient is that of the whole batch.",
        measured=_MEASURED.format("mini-batches of 64")
        + "Actor and critic apart; random fetching is with replacement.",
        asks="Shuffle and chop: that the mean of an epoch's mini-batches is G_B to rounding "
        f"({_ROUNDING:g}). Random fetching: that the mean along G_B is within 10 % of |G_B|. "
        "Advantages normalised in every mini-batch, as PPO does: a cosine of at least 0.9.",
        needs=("minibatches",),
        checks=_mean,
        figures=_plane_figures,
        notes=_plane_notes,
    ),
    _claim(
        id="minibatch-variance",
        says="A mini-batch's gradient has a larger variance than that of its batch.",
        measured=_MEASURED.format(_SIZES)
        + "Var(G_B) is over the independent batches; Var(G_mb) over these and the shuffles.",
        asks="That Var(G_mb) is at least 1 % larger than Var(G_B) for every size below the batch, "
        "and that the whole batch adds nothing but rounding.",
        needs=("minibatches",),
        checks=_variance,
        figures=_variance_figures,
    ),
    _claim(
        id="minibatch-formula",
        says="That variance is added because a mini-batch is a smaller sample of the batch: it is "
        "what drawing m of n samples without replacement gives.",
        measured=_MEASURED.format(_SIZES)
        + "The mean of |G_mb - G_B|² over shuffles, against (1 - m/n) S²/m of the same batch.",
        asks="That measured and expected variance agree within 10 %.",
        needs=("minibatches",),
        checks=_formula,
    ),
    _claim(
        id="minibatch-shuffling",
        says="Neighbouring steps are alike, so a batch must be shuffled before it is chopped: "
        "mini-batches of neighbours are noisier.",
        measured=_MEASURED.format(
            "mini-batches of 64 consecutive steps of an env, of 4 or 16 steps of all envs, and of "
            "2 whole envs"
        )
        + "Each against shuffled mini-batches of the same size.",
        asks="That the variance without a shuffle is larger than with one.",
        needs=("minibatches",),
        checks=_shuffling,
        figures=_shuffling_figures,
        notes=_shuffling_notes,
    ),
    _claim(
        id="whole-batch-always",
        says="To use the whole batch at every gradient step is a mistake.",
        measured="CartPole-v1 and Pendulum-v1 trained with 16x128 samples an update and 10 epochs, "
        "once in mini-batches of 64 and once with the whole batch, 6 seeds each, all else "
        "alike (quick: 3 seeds of CartPole-v1).",
        asks="That runs with mini-batches have the higher mean return over the run, seed by seed.",
        needs=("minibatch-learning",),
        checks=_whole_batch,
        figures=_whole_batch_figures,
        notes=_whole_batch_notes,
    ),
    _claim(
        id="random-fetching-unused",
        says="Mini-batches that are fetched at random leave samples of the batch unused.",
        measured="100 (quick: 20) updates of 10 epochs on 2,048 samples in mini-batches of 64, "
        "fetched one by one from all, and as subsets without a sample twice.",
        asks="That at least 1 % of the samples are in no mini-batch of an epoch.",
        needs=("minibatch-coverage",),
        checks=_unused,
        figures=_unused_figures,
        notes=_unused_notes,
    ),
    _claim(
        id="random-fetching-noise",
        says="Random fetching costs variance: some samples count twice, others not at all.",
        measured="FrozenLake 8x8, CartPole-v1 and Pendulum-v1, early and late; 64 independent "
        "batches of 16x128 (quick: 16, and no Pendulum), 8 epochs of 2,048 fetched samples "
        "each, at ratio 1. With shuffle and chop an epoch's mean gradient is G_B itself.",
        asks="That the mean gradient of a fetched epoch has at least 1 % more variance than G_B.",
        needs=("minibatches",),
        checks=_fetching_noise,
        figures=_fetching_figures,
    ),
)
