"""Claims on two mistakes: the whole batch at every gradient step, and random fetching."""

from nbyt.report.figures import bars, lines, row, series, table
from nbyt.results.values import Data
from nbyt_studies.study import Claim, Results
from nbyt_studies.verdict import Check

TOPIC = "Mini-batches"

# A sample in a hundred: less would hardly be called a mistake.
_NOTABLE = 0.01
_LARGER = 1 + _NOTABLE
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


CLAIMS = (
    Claim(
        id="whole-batch-always",
        topic=TOPIC,
        says="To use the whole batch at every gradient step is a mistake.",
        measured=(
            "CartPole-v1 and Pendulum-v1 trained with 16x128 samples an update and 10 epochs, "
            "once in mini-batches of 64 and once with the whole batch, 6 seeds each, all else "
            "alike (quick: 3 seeds of CartPole-v1)."
        ),
        asks=(
            "That runs with mini-batches have the higher mean return over the run, seed by seed."
        ),
        needs=("minibatch-learning",),
        checks=_whole_batch,
        figures=_whole_batch_figures,
        notes=_whole_batch_notes,
    ),
    Claim(
        id="random-fetching-unused",
        topic=TOPIC,
        says="Mini-batches that are fetched at random leave samples of the batch unused.",
        measured=(
            "100 (quick: 20) updates of 10 epochs on 2,048 samples in mini-batches of 64, fetched "
            "one by one from all, and as subsets without a sample twice."
        ),
        asks="That at least 1 % of the samples are in no mini-batch of an epoch.",
        needs=("minibatch-coverage",),
        checks=_unused,
        figures=_unused_figures,
        notes=_unused_notes,
    ),
    Claim(
        id="random-fetching-noise",
        topic=TOPIC,
        says="Random fetching costs variance: some samples count twice, others not at all.",
        measured=(
            "FrozenLake 8x8, CartPole-v1 and Pendulum-v1, early and late; 64 independent "
            "batches of 16x128 (quick: 16, and no Pendulum), 8 epochs of 2,048 fetched samples "
            "each, at ratio 1. With shuffle and chop an epoch's mean gradient is G_B itself."
        ),
        asks="That the mean gradient of a fetched epoch has at least 1 % more variance than G_B.",
        needs=("minibatches",),
        checks=_fetching_noise,
        figures=_fetching_figures,
    ),
)
