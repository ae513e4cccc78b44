"""Layouts at equal N x T: do they matter, and do their batches scatter around the truth."""

from nbyt.report import figures
from nbyt.results.values import Data
from nbyt_studies.numbers import distance
from nbyt_studies.post.claims.variance import MEASURED, over_layouts, stages
from nbyt_studies.study import Claim, Results, always
from nbyt_studies.verdict import Check, Number

_MATTERS = 0.1
_CLOSE = 0.9
_SHOWN = (2, 16, 128, 1024)
_TOPIC = "The same samples, split differently"
_AFTER_A_LOOK = always(
    "Stages and chains were settled after a first run: its late stages had learned all there was, "
    "and its intervals left most checks open. The bounds were not changed."
)


def _matters(results: Results) -> list[Check]:
    words = {
        "variance": ("raw", "distance from 1 of Var(1024x2) / Var(2x1024), advantages raw"),
        "along": (
            "normalised",
            "distance from 1 of the root alignment of 1024x2 over that of 2x1024",
        ),
    }
    return [
        Check(
            {"number": name, "env": stage["env"], "stage": stage["stage"]},
            text,
            distance(stage[form]["extremes"]["actor"][name], 1.0),
            low=_MATTERS,
        )
        for name, (form, text) in words.items()
        for stage in stages(results)
    ]


def _scatter(results: Results) -> list[Check]:
    return [
        Check(
            {
                "layout": f"{one['envs']}x{one['steps']}",
                "env": stage["env"],
                "stage": stage["stage"],
            },
            "cosine between a layout's mean gradient and the true one",
            number,
            low=_CLOSE,
        )
        for stage in stages(results)
        for one, number in _cosines(stage)
    ]


def _cosines(stage: Data) -> list[tuple[Data, Number]]:
    """Of four layouts: exact where there are tables, measured elsewhere."""
    if stage["exact"]:
        return [(one, one["cosine"]) for one in stage["exact"]]
    shown = [one for one in stage["normalised"]["layouts"] if one["steps"] in _SHOWN]
    return [(one, one["actor"]["cosine"]) for one in shown]


def _alignment_figure(results: Results) -> list[Data]:
    names = {"alignment": "alignment", "cosine": "cosine of the mean with the true gradient"}
    return [
        *over_layouts(results, "normalised", "actor", names, "share, or cosine", log=False),
        *over_layouts(results, "raw", "actor", {"variance": "Var(G_B)"}, "variance", log=True),
    ]


def _planes(results: Results) -> list[Data]:
    found = []
    for stage in stages(results):
        if stage["stage"] != "middle":
            continue
        found.append(
            figures.row(
                *(
                    figures.plane(
                        f"{stage['env']}, {one['envs']}x{one['steps']}",
                        {name: one[name] for name in ("mean", "covariance", "points")},
                        goal="true gradient",
                        points="gradients of single batches",
                    )
                    for one in stage["planes"]
                )
            )
        )
    return found


CLAIMS = (
    Claim(
        "layout-matters",
        _TOPIC,
        "At the same N x T, how a batch is split into envs and steps changes the gradient.",
        MEASURED + " Variance with raw advantages, alignment with normalised ones.",
        "Var(G_B), and the root of the alignment, of 1024x2 and of 2x1024 differ by at least 10 %.",
        ("layouts",),
        _matters,
        _alignment_figure,
        _AFTER_A_LOOK,
    ),
    Claim(
        "scatter-around-truth",
        _TOPIC,
        "Gradients of single batches scatter around the true gradient.",
        MEASURED + " The true gradient waits for all rewards (lambda 1), on the same chains; on "
        "FrozenLake8x8 it is exact.",
        "The mean gradient of a layout points along the true one: a cosine of at least .9.",
        ("layouts",),
        _scatter,
        _planes,
        _AFTER_A_LOOK,
    ),
)
