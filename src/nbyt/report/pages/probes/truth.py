"""The training's gradient against the true one, if pools of chains were collected for it."""

from collections.abc import Sequence

from nbyt.report import figures
from nbyt.report.figures.figure import figures_part
from nbyt.report.html.element import tag
from nbyt.report.html.page import Part, merged, section
from nbyt.report.html.quantity import shown_brief
from nbyt.report.numbers import layout_name
from nbyt.report.pages.probes.records import (
    SAMPLES,
    bare,
    course,
    present,
    side_by_side,
    unknown_section,
)
from nbyt.results.values import Data

_TITLE, _LINK = "Against the true gradient", "True gradient"
_FACTORS = {
    "alignment": "alignment",
    "bias_factor": "bias factor",
    "noise_factor": "noise factor",
}


def truth_section(data: Data) -> Part:
    """Build charts of alignment and its factors over training, and against T if compared."""
    pooled = [one for one in data["records"] if (one.get("pool") or {}).get("layouts")]
    if not pooled:
        why = (
            "No pool of long chains was collected beside the training. A batch by itself shows its "
            "noise but not its bias, so how far its gradient is from the true one is not known."
        )
        return unknown_section("truth", _TITLE, why, link=_LINK)
    last = pooled[-1]
    content = [_over_training(data, pooled), _over_steps(last), _pool_table(data, last)]
    lead = (
        "Long chains of the frozen policy tell what the gradient would be with rollouts without "
        "end and no noise. Alignment is the share of the best one-step improvement that a batch "
        "keeps: the bias factor times the noise factor. Measured at "
        f"{len(pooled)} of {len(data['records'])} probes."
    )
    return section("truth", _TITLE, lead, *content, link=_LINK)


def _over_training(data: Data, pooled: Sequence[Data]) -> Part:
    own = [_own_layout(data, one["pool"]) for one in pooled]
    named = ", ".join(dict.fromkeys(layout_name(one) for one in own))
    charts = [
        figures.lines(
            f"Alignment and its factors, {network}, {named}",
            SAMPLES,
            "1 is the best",
            [
                course(word, pooled, [_number(one, network, key) for one in own])
                for key, word in _FACTORS.items()
            ],
        )
        for network in present(own)
    ]
    return side_by_side(charts, "truth")


def _own_layout(data: Data, pool: Data) -> Data:
    """Return the measured layout nearest to the training's; the first if none is near."""
    layout, settings = data.get("layout") or {}, data.get("settings") or {}
    wanted = (layout.get("envs"), layout.get("steps"), settings.get("lambda"))

    def agreement(one: Data) -> list[bool]:
        # In this order: a training may not have said its lambda, but its T decides most.
        return [one["steps"] == wanted[1], one["envs"] == wanted[0], one.get("lambda") == wanted[2]]

    return max(pool["layouts"], key=agreement)


def _over_steps(last: Data) -> Part:
    """Draw the last pool's alignment against T, a line for each lambda; empty for a single T."""
    layouts = last["pool"]["layouts"]
    if len({one["steps"] for one in layouts}) < 2:
        return merged([])
    charts = [_against_steps(layouts, network) for network in present(layouts)]
    head = tag("h3", f"Against T, at update {last['update']:,}")
    return merged([head, side_by_side(charts, "steps")])


def _against_steps(layouts: Sequence[Data], network: str) -> Data:
    lambdas = list(dict.fromkeys(one.get("lambda") for one in layouts))
    some = []
    for lam in lambdas:
        own = sorted((x for x in layouts if x.get("lambda") == lam), key=lambda x: x["steps"])
        name = "alignment" if lam is None else f"lambda {lam:g}"
        numbers = [_number(one, network, "alignment") for one in own]
        some.append(figures.series(name, [one["steps"] for one in own], numbers))
    title = f"Alignment, {network}"
    return figures.lines(
        title, "T steps", "alignment", some, log_x=True, marks=[(0.0, "no improvement")]
    )


def _pool_table(data: Data, last: Data) -> Part:
    """Build a table of every layout's alignment in the last pool."""
    pool = last["pool"]
    networks = present(pool["layouts"])
    head = [
        "N × T",
        "lambda",
        *(f"{word}, {name}" for name in networks for word in _FACTORS.values()),
    ]
    rows = [
        [_named(data, one), "" if one.get("lambda") is None else f"{one['lambda']:g}"]
        + [_number(one, name, key) for name in networks for key in _FACTORS]
        for one in pool["layouts"]
    ]
    size = f"{pool['chains']:,} chains of {pool['steps']:,} steps"
    title = f"Measured at update {last['update']:,} on {size}"
    said = tag(
        "p",
        "The critic explains ",
        shown_brief(pool["explained_variance"]),
        " of the variance of returns; the policy's mean return is ",
        shown_brief(pool["mean_return"]),
        ".",
    )
    return merged([figures_part([figures.table(title, head, rows)], "pool"), said])


def _named(data: Data, one: Data) -> str:
    own = data.get("layout") or {}
    same = (one["envs"], one["steps"]) == (own.get("envs"), own.get("steps"))
    return f"{layout_name(one)}, this training" if same else layout_name(one)


def _number(layout: Data, network: str, key: str) -> Data:
    return (layout.get(network) or {}).get(key) or bare(None)
