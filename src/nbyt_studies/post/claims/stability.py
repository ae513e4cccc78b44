"""Claims on the gradient within an update, on noise and stability, and on clipping."""

from itertools import pairwise

from nbyt.report import figures
from nbyt.results.values import Data
from nbyt_studies.numbers import mean_of, spread_of, spread_ratio, typical_ratio
from nbyt_studies.study import Claim, Results, always
from nbyt_studies.verdict import Check

_TOPIC = "The smaller statements"
_COMMON = (
    "CartPole-v1, batch 2,048 as 2 x 1024, 16 x 128, 128 x 16 and 1024 x 2, mini-batch 256, 4 "
    "epochs, learning rate .001, 8 seeds of 30 updates (quick: 3 of 12). A layout's noise is 1 "
    "less its noise factor |E G|² / (|E G|² + Var), the mean of three stages of one run with "
    "16 x 128. Beside these, 2, 8 and 32 envs of 128 steps, the whole batch at once: the same "
    "bias, and noise that falls as 1/N. "
)


def _size(row: Data) -> str:
    return f"{row['envs']} x {row['steps']}"


def _ordered(results: Results) -> list[Data]:
    return sorted(results["stability"]["rows"], key=lambda row: -_quietness(row))


def _quietness(row: Data) -> float:
    known = [one["value"] for one in row["noise_factors"] if one["value"] is not None]
    return sum(known) / len(known) if known else 0.0


def _of_seeds(row: Data, name: str) -> list[float]:
    return [seed[name] for seed in row["seeds"]]


def rank_correlation(values: list[float]) -> float:
    """Return Spearman's correlation of values with their places 0, 1, ...; values do not tie."""
    count = len(values)
    ranks = [sum(other < value for other in values) for value in values]
    apart = sum((place - rank) ** 2 for place, rank in enumerate(ranks))
    return 1 - 6 * apart / (count * (count**2 - 1))


def _kinds(results: Results) -> dict[str, list[Data]]:
    return {
        "the layout at the same N x T": _ordered(results),
        "the envs at the same T": results["stability"]["crowds"],
    }


def _directions(results: Results) -> list[Check]:
    found = []
    for words, rows in _kinds(results).items():
        quiet, noisy = (_of_seeds(row, "cosine") for row in (rows[0], rows[-1]))
        lost = mean_of([a - b for a, b in zip(quiet, noisy, strict=True)])
        each = zip(*(_of_seeds(row, "cosine") for row in rows), strict=True)
        rank = mean_of([rank_correlation(list(some)) for some in each])
        between = f"{_size(rows[0])} less {_size(rows[-1])}"
        found += [
            Check(
                {"what differs": words, "compared": "least and most noisy"},
                f"cosine of successive steps, {between}",
                lost.as_dict(),
                low=0,
            ),
            Check(
                {"what differs": words, "compared": "all"},
                "rank correlation of noise and cosine",
                rank.as_dict(),
                high=0,
            ),
        ]
    return found


def _spread(results: Results) -> list[Check]:
    found = []
    for words, rows in _kinds(results).items():
        noisy, quiet = (_of_seeds(row, "final_return") for row in (rows[-1], rows[0]))
        found.append(
            Check(
                {"what differs": words},
                f"standard deviation of the final return over seeds, {_size(rows[-1])} over "
                f"{_size(rows[0])}",
                spread_ratio(noisy, quiet).as_dict(),
                low=1,
            )
        )
    return found


def _table(results: Results) -> list[Data]:
    noise = [f"noise factor, update {update}" for update in results["stability"]["stages"]]
    head = ["layout", "cosine", "final return", "final return of each seed"]
    rows = [[*_outcome(row), *row["noise_factors"]] for row in _ordered(results)]
    crowds = [_outcome(row) for row in results["stability"]["crowds"]]
    title = "CartPole-v1, layouts of 2,048 samples, the least noisy first"
    return [
        figures.table(title, [*head, *noise], rows),
        figures.table("CartPole-v1, the same T, most envs first", head, crowds),
    ]


def _outcome(row: Data) -> list[str | Data]:
    returns = _of_seeds(row, "final_return")
    each = ", ".join(f"{value:.0f}" for value in sorted(returns))
    means = [mean_of(some).as_dict() for some in (_of_seeds(row, "cosine"), returns)]
    return [_size(row), *means, each]


def _cosines(results: Results) -> list[Data]:
    data = results["stability"]
    some = []
    for row in _ordered(results):
        columns = list(zip(*(seed["cosines"] for seed in row["seeds"]), strict=True))
        numbers = [mean_of(column).as_dict() for column in columns]
        some.append(figures.series(_size(row), range(2, len(columns) + 2), numbers))
    return [
        figures.lines(
            f"CartPole-v1, batch 2,048, {len(data['rows'][0]['seeds'])} seeds",
            "update",
            "cosine of the actor's step with the next",
            some,
        ),
        *_table(results),
    ]


def _bars(results: Results) -> list[Data]:
    rows = _ordered(results)
    numbers = [spread_of(_of_seeds(row, "final_return")).as_dict() for row in rows]
    title = "CartPole-v1, spread of the final return over seeds, least noisy layout first"
    some = [figures.series("", range(len(rows)), numbers)]
    return [figures.bars(title, [_size(row) for row in rows], "standard deviation", some)]


_notes = always(
    "Layouts of the same N x T differ in bias as well as in noise; with the same T only the "
    "noise differs. That comparison was added when the order of the layouts was seen to depend "
    "on the stage at which their noise is measured.",
    "The noise factor compares a layout's noise with its own mean gradient, biased or not; the "
    "table shows it at each of the stages, which may order the layouts differently.",
    "A layout that hardly learns also takes steady steps and ends with returns that differ "
    "little: the table shows the returns beside the cosines.",
    "Adam's moving average alone gives successive steps a positive cosine.",
)


def _name(data: Data) -> str:
    return data["env"].partition(":")[2]


def _means(data: Data, side: str) -> list[float]:
    return [sum(seed[side]["divergence"]) / len(data["at"]) for seed in data["seeds"]]


def _clipping_checks(results: Results) -> list[Check]:
    words = "KL per update, with clipping over without"
    return [
        Check(
            {"env": _name(data)},
            words,
            typical_ratio(_means(data, "with"), _means(data, "without")).as_dict(),
            high=1,
        )
        for data in results["clipping"]["envs"]
    ]


def _clipping_figures(results: Results) -> list[Data]:
    drawn = []
    for data in results["clipping"]["envs"]:
        some = []
        for side, words in (("with", f"clip {data['clip']}"), ("without", "no clipping")):
            columns = zip(*(seed[side]["divergence"] for seed in data["seeds"]), strict=True)
            numbers = [mean_of(column).as_dict() for column in columns]
            some.append(figures.series(words, data["at"], numbers))
        title = f"{_name(data)}, 16 x 128, {len(data['seeds'])} seeds"
        drawn.append(figures.lines(title, "update", "KL(before | after)", some))
    return [figures.row(*drawn)]


TOPIC = "The gradient of a batch"

# Float32 has seven digits; in a sum of thousands of terms that mostly cancel some are lost.
_ROUNDING = 1e-4
# More of its length along G_B than at 60 degrees: the mildest sense of "the same direction".
_SAME_DIRECTION = 0.5

_MEASURED = (
    "FrozenLake 8x8 (table), CartPole-v1 and Pendulum-v1 (64x64), each trained with 16x128 samples "
    "an update and frozen early and late; {} Intervals are over 24 independent batches (quick: 7, "
    "and no Pendulum)."
)


def _cases(results: Results) -> list[Data]:
    return results["surrogate"]["cases"]


def _case(case: Data, **more: str) -> dict[str, str]:
    return {"env": case["env"], "stage": case["stage"], **more}


def _end_of_epoch(results: Results) -> int:
    looks, layout = results["surrogate"]["looks"], results["surrogate"]["layout"]
    return next(i for i, step in enumerate(looks) if step >= layout["minibatches"])


def _moments(results: Results) -> dict[str, int]:
    return {"after the first epoch": _end_of_epoch(results), "after the last epoch": -1}


def _equality(results: Results) -> list[Check]:
    quantity = "relative difference of the loss's gradient and the mean contribution"
    return [
        Check(_case(case, advantages=word), quantity, number, high=_ROUNDING)
        for case in _cases(results)
        for word, number in case["gap"].items()
    ]


def _near_one(results: Results) -> list[Check]:
    words = "mean |ratio - 1| over the batch"
    return [
        Check(_case(case, moment=moment), words, case["ratio"][place], high=case["clip"])
        for case in _cases(results)
        for moment, place in _moments(results).items()
    ]


def _direction(results: Results) -> list[Check]:
    words = "cosine of the whole batch's loss gradient with G_B"
    return [
        Check(_case(case, moment=moment), words, case["cosine"][place], low=_SAME_DIRECTION)
        for case in _cases(results)
        for moment, place in _moments(results).items()
    ]


def _equality_figures(results: Results) -> list[Data]:
    rows = [
        [case["env"], case["stage"], str(case["updates"]), *case["gap"].values()]
        for case in _cases(results)
    ]
    head = ["env", "stage", "updates", *(f"advantages {w}" for w in _cases(results)[0]["gap"])]
    title = "|gradient of the loss + mean contribution| / |mean contribution|, layout 16x128"
    return [figures.table(title, head, rows)]


def _drawn(results: Results, stage: str, title: str, y: str, quantities: dict[str, str]) -> Data:
    looks = results["surrogate"]["looks"]
    charts = []
    for case in _cases(results):
        if case["stage"] != stage:
            continue
        some = []
        for word, name in quantities.items():
            numbers = case[name]
            # What is averaged over the steps between two looks stands in the middle of them.
            middle = [(a + b) / 2 for a, b in pairwise(looks)]
            some.append(
                figures.series(word, looks if len(numbers) == len(looks) else middle, numbers)
            )
        heading = f"{case['env']}, 16x128, {stage} ({case['updates']} updates): {title}"
        charts.append(figures.lines(heading, "gradient steps of the update", y, some))
    return figures.row(*charts)


def _near_one_figures(results: Results) -> list[Data]:
    quantities = {"mean |ratio - 1|": "ratio", "share outside the clip range": "clip_fraction"}
    return [
        _drawn(results, stage, "ratio and clipping", "over the whole batch", quantities)
        for stage in ("early", "late")
    ]


def _direction_figures(results: Results) -> list[Data]:
    quantities = {"whole batch": "cosine", "a mini-batch of 64": "minibatch_cosine"}
    return [
        _drawn(results, stage, "direction", "cosine with G_B", quantities)
        for stage in ("early", "late")
    ]


def _direction_notes(results: Results) -> list[str]:
    ends = [case["length"][-1]["value"] for case in _cases(results)]
    return [
        "The loss is climbed within an update, so its gradient on the same batch shrinks and turns "
        "as the top comes near: a cosine below 1 is no fault of PPO, but the simple form is then "
        "no longer its gradient.",
        f"At the end of an update the gradient is {min(ends):.2g} to {max(ends):.2g} times as long "
        "as G_B.",
        "The bound was chosen after a trial with one batch, in which cosines fell below 0.",
    ]


def _words(sentence: str) -> str:
    return _MEASURED.format(sentence)


CLAIMS = (
    Claim(
        id="mean-of-contributions",
        topic=TOPIC,
        says="Before the first gradient step of an update, the gradient of PPO's loss on the batch "
        "is the mean of what every step contributes: its advantage times its score.",
        measured=_words(
            "the gradient of the loss that training uses, on a whole batch, against the mean of "
            "2,048 gradients of single steps."
        ),
        asks=f"That the two differ by at most {_ROUNDING:g} of their length, which is rounding, "
        "with advantages raw and normalised.",
        needs=("surrogate",),
        checks=_equality,
        figures=_equality_figures,
    ),
    Claim(
        id="ratio-near-one",
        topic=TOPIC,
        says="The probability ratio stays near 1 while an update makes its gradient steps.",
        measured=_words(
            "one whole update of 10 epochs of 32 mini-batches is followed, as training does it."
        ),
        asks="That the mean |ratio - 1| over the batch is at most the clip range, 0.2, after the "
        "first epoch and after the last.",
        needs=("surrogate",),
        checks=_near_one,
        figures=_near_one_figures,
    ),
    Claim(
        id="direction-within-update",
        topic=TOPIC,
        says="As the ratio is about 1, the mean contribution G_B stands for the gradient that PPO "
        "follows, also in the course of an update.",
        measured=_words(
            "the gradient of the loss on the whole batch is taken at the weights that an update of "
            "10 epochs of 32 mini-batches passes through."
        ),
        asks=f"That its cosine with G_B is at least {_SAME_DIRECTION:g} after the first epoch and "
        "after the last. The text says this of the beginning only, where it is exact; this "
        "asks how far it carries.",
        needs=("surrogate",),
        checks=_direction,
        figures=_direction_figures,
        notes=_direction_notes,
    ),
    Claim(
        id="noise-directions",
        topic=_TOPIC,
        says="Where the gradient varies more, successive updates point in more different "
        "directions.",
        measured=_COMMON + "Cosine of an update's step of the actor's weights with the next "
        "update's, mean over a run.",
        asks="The least noisy layout's cosine less the noisiest one's is above 0, and the rank "
        "correlation of noise and cosine over the four layouts, seed by seed, is below 0; "
        "intervals over seeds.",
        needs=("stability",),
        checks=_directions,
        figures=_cosines,
        notes=_notes,
    ),
    Claim(
        id="noise-instability",
        topic=_TOPIC,
        says="Where the gradient varies more, learning is less stable.",
        measured=_COMMON + "Mean return of 64 whole episodes of each run's last policy.",
        asks="Its standard deviation over seeds, noisiest layout over least noisy, is above 1.",
        needs=("stability",),
        checks=_spread,
        figures=_bars,
        notes=_notes,
    ),
    Claim(
        id="clipping-near",
        topic="The smaller statements",
        says="Clipping keeps the policy after several mini-batch steps near the one that "
        "collected the batch.",
        measured="CartPole-v1 and Pendulum-v1, 16 x 128, mini-batch 64, 10 epochs, 5 seeds "
        "(quick: 3), each trained twice from the same weights: ratio clipped at .2, and not at "
        "all. KL between the policies before and after three updates of the first eighth of the "
        "run, in states that are visited before.",
        asks="Each env's KL per update, with clipping over without, is below 1; interval over "
        "seeds.",
        needs=("clipping",),
        checks=_clipping_checks,
        figures=_clipping_figures,
    ),
)
