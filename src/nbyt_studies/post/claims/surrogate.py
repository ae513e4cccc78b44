"""Claims on the gradient of a batch: what PPO's loss follows before and within an update."""

from itertools import pairwise

from nbyt.report.figures import lines, row, series, table
from nbyt.results.values import Data
from nbyt_studies.study import Claim, Results
from nbyt_studies.verdict import Check

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
    """The place of the look after the first epoch."""
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
    return [
        Check(
            _case(case, moment=moment),
            "mean |ratio - 1| over the batch",
            case["ratio"][place],
            high=case["clip"],
        )
        for case in _cases(results)
        for moment, place in _moments(results).items()
    ]


def _direction(results: Results) -> list[Check]:
    return [
        Check(
            _case(case, moment=moment),
            "cosine of the whole batch's loss gradient with G_B",
            case["cosine"][place],
            low=_SAME_DIRECTION,
        )
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
    return [table(title, head, rows)]


def _drawn(results: Results, stage: str, title: str, y: str, quantities: dict[str, str]) -> Data:
    """A chart for each env, with a line for each quantity along the update."""
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
            some.append(series(word, looks if len(numbers) == len(looks) else middle, numbers))
        heading = f"{case['env']}, 16x128, {stage} ({case['updates']} updates): {title}"
        charts.append(lines(heading, "gradient steps of the update", y, some))
    return row(*charts)


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
        says=(
            "Before the first gradient step of an update, the gradient of PPO's loss on the batch "
            "is the mean of what every step contributes: its advantage times its score."
        ),
        measured=_words(
            "the gradient of the loss that training uses, on a whole batch, against the mean of "
            "2,048 gradients of single steps."
        ),
        asks=(
            f"That the two differ by at most {_ROUNDING:g} of their length, which is rounding, "
            "with advantages raw and normalised."
        ),
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
        asks=(
            "That the mean |ratio - 1| over the batch is at most the clip range, 0.2, after the "
            "first epoch and after the last."
        ),
        needs=("surrogate",),
        checks=_near_one,
        figures=_near_one_figures,
    ),
    Claim(
        id="direction-within-update",
        topic=TOPIC,
        says=(
            "As the ratio is about 1, the mean contribution G_B stands for the gradient that PPO "
            "follows, also in the course of an update."
        ),
        measured=_words(
            "the gradient of the loss on the whole batch is taken at the weights that an update of "
            "10 epochs of 32 mini-batches passes through."
        ),
        asks=(
            f"That its cosine with G_B is at least {_SAME_DIRECTION:g} after the first epoch and "
            "after the last. The text says this of the beginning only, where it is exact; this "
            "asks how far it carries."
        ),
        needs=("surrogate",),
        checks=_direction,
        figures=_direction_figures,
        notes=_direction_notes,
    ),
)
