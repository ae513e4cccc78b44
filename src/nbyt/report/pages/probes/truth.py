"""The training's gradient against the true one, if pools of chains were collected for it."""

from collections.abc import Sequence

from nbyt.report import figures
from nbyt.report.figures.figure import figures_part
from nbyt.report.html.element import tag
from nbyt.report.html.page import Part, merged, section
from nbyt.report.html.quantity import shown_brief
from nbyt.report.numbers import layout_name
from nbyt.report.pages.probes.records import SAMPLES, over_samples, side_by_side, unknown_section
from nbyt.results.measurement import MeasuredLayout
from nbyt.results.probes import ProbedPool, ProbedTraining, ProbeRecord
from nbyt.results.study import Lines
from nbyt.results.values import Layout, Number, Objective

_TITLE, _LINK = "Against the true gradient", "True gradient"
_FACTORS = {
    "alignment": "alignment",
    "bias_factor": "bias factor",
    "noise_factor": "noise factor",
}
_NETWORKS: tuple[Objective, ...] = ("actor", "critic")
Pooled = Sequence[tuple[ProbeRecord, ProbedPool]]


def truth_section(training: ProbedTraining) -> Part:
    """Build charts of alignment and its factors over training, and against T if compared."""
    pooled = [(record, record.pool) for record in training.records if record.pool is not None]
    if not pooled:
        why = (
            "No pool of long chains was collected beside the training. A batch by itself shows its "
            "noise but not its bias, so how far its gradient is from the true one is not known."
        )
        return unknown_section("truth", _TITLE, why, link=_LINK)
    last = pooled[-1]
    content = [_over_training(training, pooled), _over_steps(*last), _pool_table(training, *last)]
    lead = (
        "Long chains of the frozen policy tell what the gradient would be with rollouts without "
        "end and no noise. Alignment is the share of the best one-step improvement that a batch "
        "keeps: the bias factor times the noise factor. Measured at "
        f"{len(pooled)} of {len(training.records)} probes."
    )
    return section("truth", _TITLE, lead, *content, link=_LINK)


def _over_training(training: ProbedTraining, pooled: Pooled) -> Part:
    records = [record for record, _ in pooled]
    layouts = [_own_layout(training, pool) for _, pool in pooled]
    named = ", ".join(dict.fromkeys(map(layout_name, layouts)))
    charts = [
        figures.lines(
            f"Alignment and its factors, {network}, {named}",
            SAMPLES,
            "1 is the best",
            [
                over_samples(word, records, [layout.of(network).of(key) for layout in layouts])
                for key, word in _FACTORS.items()
            ],
        )
        for network in _NETWORKS
    ]
    return side_by_side(charts, "truth")


def _own_layout(training: ProbedTraining, pool: ProbedPool) -> MeasuredLayout:
    """Return the measured layout nearest to the training's; the first if none is near."""
    layout, settings = training.layout, training.settings
    sizes = (layout.steps, layout.envs) if isinstance(layout, Layout) else (None, None)
    lam = settings.get("lambda") if isinstance(settings, dict) else None

    def agreement(one: MeasuredLayout) -> list[bool]:
        # In this order: a training may not have said its lambda, but its T decides most.
        return [one.steps == sizes[0], one.envs == sizes[1], one.lam == lam]

    return max(pool.layouts, key=agreement)


def _over_steps(last: ProbeRecord, pool: ProbedPool) -> Part:
    """Draw the last pool's alignment against T, a line for each lambda; empty for a single T."""
    if len({layout.steps for layout in pool.layouts}) < 2:
        return merged([])
    charts = [_against_steps(pool.layouts, network) for network in _NETWORKS]
    head = tag("h3", f"Against T, at update {last.update:,}")
    return merged([head, side_by_side(charts, "steps")])


def _against_steps(layouts: Sequence[MeasuredLayout], network: Objective) -> Lines:
    some = []
    for lam in dict.fromkeys(layout.lam for layout in layouts):
        same = sorted((x for x in layouts if x.lam == lam), key=lambda x: x.steps)
        numbers = [layout.of(network).alignment for layout in same]
        some.append(figures.series(f"lambda {lam:g}", [x.steps for x in same], numbers))
    marks = [(0.0, "no improvement")]
    title = f"Alignment, {network}"
    return figures.lines(title, "T steps", "alignment", some, log_x=True, marks=marks)


def _pool_table(training: ProbedTraining, last: ProbeRecord, pool: ProbedPool) -> Part:
    """Build a table of every layout's alignment in the last pool."""
    columns = [f"{word}, {name}" for name in _NETWORKS for word in _FACTORS.values()]
    rows: list[list[str | Number]] = [
        [*_named(training, layout), *_factors(layout)] for layout in pool.layouts
    ]
    size = f"{pool.chains:,} chains of {pool.steps:,} steps"
    title = f"Measured at update {last.update:,} on {size}"
    said = tag(
        "p",
        "The critic explains ",
        shown_brief(pool.explained_variance),
        " of the variance of returns; the policy's mean return is ",
        shown_brief(pool.mean_return),
        ".",
    )
    table = figures.table(title, ["N × T", "lambda", *columns], rows)
    return merged([figures_part([table], "pool"), said])


def _named(training: ProbedTraining, layout: MeasuredLayout) -> list[str]:
    """Return the name of a layout and its lambda."""
    trained = training.layout
    same = isinstance(trained, Layout) and layout_name(trained) == layout_name(layout)
    return [layout_name(layout) + ", this training" * same, f"{layout.lam:g}"]


def _factors(layout: MeasuredLayout) -> list[Number]:
    return [layout.of(name).of(key) for name in _NETWORKS for key in _FACTORS]
