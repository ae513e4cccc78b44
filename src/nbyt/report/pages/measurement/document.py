"""The whole page of a measurement: the best layouts, then the charts that an advice has too."""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import asdict, replace

from nbyt.report.advice_words import hundredths
from nbyt.report.html.element import Child, Markup, bullets, join, tag
from nbyt.report.html.glossary import definitions, term
from nbyt.report.html.page import Page, Part, facts, section
from nbyt.report.html.quantity import big_layout, shown
from nbyt.report.pages.advice.diagnostics import source_section, surface_section
from nbyt.report.pages.advice.tradeoff import Probed, factor_charts, tradeoff_section
from nbyt.report.pages.advice.variance import variance_section
from nbyt.report.tables.probes import verdict
from nbyt.results.advice import StageAdvice
from nbyt.results.measurement import Look, MeasuredLayout, Measurement, Ranked, Rankings
from nbyt.results.values import Data, Objective

_NAME = "this policy"
_HEADS: dict[Objective, str] = {"actor": "For the actor", "critic": "For the critic"}


def measurement_page(record: Measurement) -> Page:
    """Build the page of a measurement."""
    probed = _probed(record)
    sections = [
        _answer(record, probed.stages[0]),
        tradeoff_section(probed),
        variance_section(probed),
        *_closer(record, probed.stages[0]),
        _made(record),
        section("words", "The words", None, definitions(), link="Words"),
    ]
    pool = record.pool
    return Page(
        kind="probe",
        title=f"N by T: probe of {record.env}, batch {record.batch}",
        brand="nbyt probe",
        heading=join(["The gradient under every N × T on ", tag("span", record.env, class_="env")]),
        about=[
            f"A frozen policy, a batch of {record.batch:,} samples, measured on {pool.chains:,} "
            f"chains of {pool.steps:,} steps"
        ],
        skip="Skip to the answer",
        sections=sections,
        lazy=False,
    )


def measurement_chart(record: Measurement) -> Data:
    """Draw bias factor, noise factor and alignment of the actor's gradient over T."""
    return factor_charts(_probed(record))[0]


def _probed(record: Measurement) -> Probed:
    """Return the measurement at its first lambda as a stage, with the best layout to mark."""
    names = {"actor", "critic", "total"}
    ranks = {name: _first(record, getattr(record.ranking, name)) for name in names}
    own = tuple(one for one in record.layouts if one.lam == record.lam)
    fields: dict[str, Any] = asdict(replace(record, layouts=own, ranking=Rankings(**ranks)))
    fields |= dict.fromkeys(("updates", "samples", "trained_with", "closer"))
    stage = StageAdvice(**fields, name=_NAME)
    best = ranks["actor"][0]
    marked = [("best for the actor", best)] if best.regret.value is not None else []
    return Probed((stage,), marked)


def _first(record: Measurement, ranks: Sequence[Ranked]) -> tuple[Ranked, ...]:
    return tuple(one for one in ranks if one.lam == record.lam)


def _answer(record: Measurement, stage: StageAdvice) -> Part:
    cards = [_card(record, stage, objective, head) for objective, head in _HEADS.items()]
    warned = bullets(list(record.warnings))
    loud = tag("div", warned, class_="notice loud") if warned else None
    content = [tag("div", *cards, class_="answers"), loud]
    return section("answer", "The answer", None, *content, link="Answer", quiet=True)


def _card(record: Measurement, stage: StageAdvice, objective: Objective, head: str) -> Markup:
    """Show the best layout for one gradient, and what is left of a step with it."""
    best, *others = stage.ranking.of(objective)
    kind = tag("p", tag("strong", head), class_="kind")
    said = tag("p", verdict(record, objective).partition(": ")[2].capitalize(), ".", class_="said")
    if best.regret.value is None or all(one.tied_with_best for one in others):
        return tag("article", kind, tag("p", "no difference", class_="big"), said, class_=_OPEN)
    layout = next(one for one in stage.layouts if one.steps == best.steps)
    return tag("article", kind, big_layout(best), said, _left(layout, objective), class_="answer")


_OPEN = "answer open"


def _left(layout: MeasuredLayout, objective: Objective) -> Markup:
    gradient = layout.of(objective)
    left = gradient.alignment
    steps = "undetermined" if left.value is None else hundredths(left)
    rows: list[tuple[Child, Child]] = [
        (join(["of 100 ideal steps are left (", term("alignment"), ")"]), steps),
        (join(["independent samples in a sample (", term("ess"), ")"]), shown(gradient.ess_ratio)),
    ]
    inside = [join([tag("dt", name), tag("dd", value)]) for name, value in rows]
    return tag("dl", *inside, class_="facts")


def _closer(record: Measurement, stage: StageAdvice) -> list[Part]:
    """Return sources of noise and the phase where measured, and T against lambda if several."""
    look = Look(lambdas=record.lambdas, layouts=record.layouts, sources=record.sources, plane=())
    found = [source_section(stage, look)]
    if len(record.lambdas) > 1:
        found.append(surface_section(record, stage, look))
    return found


def _made(record: Measurement) -> Part:
    """List what the numbers rest on."""
    pool, engine = record.pool, record.engine
    rows: list[tuple[Child, Child]] = [
        ("environment", record.env),
        (term("batch"), f"{record.batch:,}"),
        (term("gamma"), f"{record.gamma:g}"),
        (term("lambda"), ", ".join(f"{lam:g}" for lam in record.lambdas)),
        ("advantages", record.advantages),
        ("start", record.start),
        (term("pool"), f"{pool.chains:,} chains of {pool.steps:,} steps, {pool.samples:,} in all"),
        ("mean return", shown(record.mean_return)),
        (term("explained_variance"), shown(record.critic.explained_variance)),
        ("gradients", f"{engine.gradients}, in {engine.wall_seconds:.1f} s"),
    ]
    if isinstance(record.stage, str):
        rows.insert(1, ("policy", record.stage))
    return section("made", "What this rests on", None, facts(rows), link="What it rests on")
