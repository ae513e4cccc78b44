"""What was assumed and measured, how to reproduce it, and the glossary."""

from msgspec import to_builtins

from nbyt.report.html.element import Child, Markup, join, tag
from nbyt.report.html.glossary import definitions, term
from nbyt.report.html.page import Part, command, facts, merged, row, section, table
from nbyt.report.html.quantity import layout_mark, shown
from nbyt.report.numbers import share
from nbyt.results.advice import Advice, StageAdvice

_WEIGHED = {
    "learning": "a stage counts by how much was learned around it",
    "samples": "a stage counts by the samples of training that it stands for",
}


def assumption_sections(data: Advice) -> Part:
    """Return the settings of the measurement, its stages, versions, and the glossary."""
    content = [
        facts(_settings(data)),
        tag("h3", "Stages"),
        _stages(data),
        _reproduce(data),
        _versions(data),
    ]
    lead = (
        "Every layout has the same batch, mini-batch size and epochs; only N and T differ. "
        "Stages are frozen policies, so the answer is about the gradients of such policies, "
        "not about a whole training."
    )
    title = "What was assumed and measured"
    return merged(
        [
            section("assumed", title, lead, *content, link="Assumptions"),
            section("glossary", "The words", None, definitions(), link="Words"),
        ]
    )


def _settings(data: Advice) -> list[tuple[Child, Child]]:
    lambdas = ", ".join(f"{one:g}" for one in data.lambdas)
    rows: list[tuple[Child, Child]] = [
        ("environment", data.env),
        (term("batch"), str(data.batch)),
        ("objective", data.decided_by or data.objective),
        ("effort", data.effort),
        (term("gamma"), f"{data.gamma:g}"),
        (term("lambda"), f"{data.lam:g} (measured: {lambdas})"),
        ("advantages", data.advantages),
        ("most envs", str(data.max_envs)),
        ("seed", str(data.seed)),
        (term("weight", "weights"), _WEIGHED[data.weigh]),
        ("trained with", _trained(data)),
        ("machine", ", ".join(map(str, to_builtins(data.machine).values()))),
    ]
    return rows


def _trained(data: Advice) -> Child:
    rows = data.training
    if not rows:
        return "stages that were given"
    said = [
        join([layout_mark(one), f", {one.epochs} epochs, {one.total:,} steps in all"])
        for one in rows
    ]
    return join(tag("div", one) for one in said)


def _stages(data: Advice) -> Markup:
    head: list[Child] = [
        term("stage"),
        "steps of training",
        "mean return",
        term("weight"),
        "counts",
        term("explained_variance"),
        join([term("pool"), ": ", term("chain", "chains"), " × steps"]),
    ]
    rows = [_stage(one) for one in data.stages]
    return table("Stages", head, rows)


def _stage(stage: StageAdvice) -> Markup:
    samples = stage.samples
    cells: list[Child] = [
        stage.name,
        "unknown" if samples is None else f"{samples:,}",
        shown(stage.mean_return),
        share(stage.weight),
        "yes" if stage.clear else term("left_out"),
        shown(stage.critic.explained_variance),
        f"{stage.pool.chains:,} × {stage.pool.steps:,}",
    ]
    return row(*cells)


def _reproduce(data: Advice) -> Markup | None:
    text = data.reproduce
    if not text:
        return None
    return tag("div", tag("h3", "How to get this again"), command(text))


def _versions(data: Advice) -> Markup | None:
    versions = data.versions
    if not versions:
        return None
    rows: list[tuple[Child, Child]] = [(k, str(v)) for k, v in versions.items()]
    return join([tag("h3", "Versions"), facts(rows)])
