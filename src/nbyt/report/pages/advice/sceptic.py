"""What a sceptic asks: what was trained, what it cost, what was not measured, and the record."""

from msgspec import UNSET, to_builtins

from nbyt.report.advice_words import (
    claimed_steps,
    count_words,
    part_words,
    time_words,
    tracked_tasks,
)
from nbyt.report.html.element import Child, Markup, bullets, join, tag
from nbyt.report.html.glossary import definitions, term
from nbyt.report.html.page import Part, command, facts, merged, row, section, table
from nbyt.report.html.quantity import layout_mark, shown
from nbyt.report.numbers import short
from nbyt.report.pages.advice.curves import ordered
from nbyt.results.advice import Advice, Arm, Race, StageAdvice
from nbyt.results.prior import Loss, TrackRecord
from nbyt.results.values import Estimate


def sceptic_sections(data: Advice) -> Part:
    """Answer what a sceptic asks, and list the words."""
    content = [
        tag("h3", "What was trained?"),
        _trained(data),
        tag("h3", "What did it cost?"),
        _cost(data),
        tag("h3", "What was not measured?"),
        bullets(unmeasured(data)),
        tag("h3", "How good has this rule been elsewhere?"),
        _track(data.track_record),
        tag("h3", "Which reference tasks?"),
        _prior(data),
        tag("h3", "With which settings?"),
        facts(_settings(data)),
        _stages(data),
        _reproduce(data),
        _versions(data),
    ]
    return merged(
        [
            section("rests", "What this rests on", None, *content, link="What it rests on"),
            section("glossary", "The words", None, definitions(), link="Words"),
        ]
    )


def _trained(data: Advice) -> Markup:
    race = data.race
    if race is None:
        return tag("p", "Nothing: no layout was trained on this task for this advice.")
    head: list[Child] = ["N × T", part_words(race), "seeds", "env steps each", "gain promised"]
    rows = [_arm(arm) for arm in ordered(race)]
    said = (
        "The gain is the score that the curve promises, above the untrained policy "
        f"({short(race.untrained)}): the mean over the seeds, with the lowest and the highest."
    )
    return join([table("What was trained", head, rows), tag("p", said, class_="muted")])


def _arm(arm: Arm) -> Markup:
    gains = arm.gains
    mean = Estimate(value=sum(gains) / len(gains), low=min(gains), high=max(gains))
    seeds = ", ".join(map(str, arm.seeds))
    gain = shown(mean) if len(gains) > 1 else f"{short(gains[0])} (one seed)"
    return row(layout_mark(arm), str(len(arm.seeds)), seeds, f"{arm.samples[-1]:,}", gain)


def _cost(data: Advice) -> Markup:
    cost, race = data.cost, data.race
    rows: list[tuple[Child, Child]] = [
        ("trainings", f"{cost.trainings:.3g} whole ones"),
        ("env steps", f"{cost.samples:,} ({count_words(cost.samples)})"),
        ("time", time_words(cost.seconds)),
    ]
    if race is not None and race.unit_seconds is not None:
        rows.append(("one whole training", time_words(race.unit_seconds)))
    return facts(rows)


def unmeasured(data: Advice) -> list[str]:
    """List what the advice says nothing about."""
    low, high = claimed_steps(data)
    found = [] if data.race is None else _beyond(data.race, data)
    if data.race is None:
        found.append(
            "This task: the losses are means over the reference tasks, with the costs given."
        )
    found += [
        f"Layouts with T below {low} or above {high}, and other batches than {data.batch:,}.",
        "Other mini-batches, epochs, networks, learning rates, gamma or lambda: with them another "
        "layout may be best.",
    ]
    source = data.costs_from
    if source is None:
        found.append("The time of an update, so nothing is said about equal time.")
    elif source.split(":")[0] == "parallel":
        found.append(f"The time of an update on your hardware: the profile {source} was taken.")
    elif source == "measured":
        found.append("The time of an update on any machine but this one.")
    else:
        found.append(f"The time of an update on this machine: it was read from {source}.")
    if data.answer.p_within_5 is None:
        found.append(
            "How probable it is that the answer is within 5 % of the best: with so little training "
            "such numbers were no better than the base rate on the reference tasks."
        )
    return found


def _beyond(race: Race, data: Advice) -> list[str]:
    found = []
    if race.fraction < 1:
        found.append(
            f"The end of a training: each made {100 * race.fraction:.3g} % of its steps, and what "
            "comes after counts as its last return."
        )
    untried = sum(not one.trainings for one in data.layouts)
    if untried:
        found.append(
            f"The {untried} layout{'s' * (untried > 1)} without a training of "
            f"{'their' if untried > 1 else 'its'} own."
        )
    return found


def _track(track: TrackRecord | None) -> Markup:
    if track is None:
        said = "There is no record of this rule at this cost and these costs of an update."
        return tag("p", said)
    pairs = [
        (f"race of {track.trainings} trainings", track.race),
        ("a constant T, for free", track.constant),
        (f"{track.search}, the best search at this cost", track.search_loss),
    ]
    top = max(loss.high for _, loss in pairs)
    rows = [
        tag("tr", tag("td", name), tag("td", loss_bar(loss, top), _shown(loss), class_="with-bar"))
        for name, loss in pairs
    ]
    said = (
        f"{tracked_tasks(track)}. Losses are means over the tasks, with 95 % intervals; costs of "
        f"an update: {track.costs}."
    )
    head: list[Child] = ["rule", term("expected_loss", "mean loss")]
    return join([tag("p", said, class_="muted"), table("Track record", head, rows)])


def _shown(loss: Loss) -> Markup:
    return shown(Estimate(value=loss.value, low=loss.low, high=loss.high), 100, " %")


def loss_bar(loss: Loss, top: float) -> Markup:
    """Draw a loss with its interval, on a scale from 0 to `top`."""
    ends = (loss.low, loss.high, loss.value)
    low, high, value = (min(max(x / (top or 1.0), 0.0), 1.0) for x in ends)
    style = f"--low:{low:.4f};--high:{high:.4f};--value:{value:.4f}"
    return tag("span", tag("i"), tag("b"), class_="bar", style=style, aria_hidden="true")


def _prior(data: Advice) -> Markup:
    prior = data.prior
    rows: list[tuple[Child, Child]] = [
        ("tasks", str(prior.tasks)),
        ("version", prior.version),
        ("sha256", prior.sha256),
    ]
    return facts(rows)


def _settings(data: Advice) -> list[tuple[Child, Child]]:
    lambdas = ", ".join(f"{one:g}" for one in data.lambdas)
    rows: list[tuple[Child, Child]] = [
        ("environment", data.env),
        (term("batch"), f"{data.batch:,}"),
        ("steps of a training", f"{data.total:,}"),
        ("compared for", "the same time" if data.objective == "time" else "the same samples"),
        ("costs of an update", data.costs_from or "unknown"),
        (term("gamma"), f"{data.gamma:g}"),
        (term("lambda"), f"{data.lam:g}" + (f" (measured: {lambdas})" if data.stages else "")),
        ("most envs", f"{data.max_envs:,}"),
        ("effort", data.effort),
        ("seed", str(data.seed)),
        ("machine", ", ".join(map(str, to_builtins(data.machine).values()))),
    ]
    return rows


def _stages(data: Advice) -> Markup | None:
    if not data.stages:
        return None
    head: list[Child] = [
        term("stage"),
        "trained with",
        "steps of training",
        "mean return",
        term("explained_variance"),
        join([term("pool"), ": ", term("chain", "chains"), " × steps"]),
    ]
    body = table("Stages", head, [_stage(one) for one in data.stages])
    return join([tag("h3", "Which policies were probed?"), body])


def _stage(stage: StageAdvice) -> Markup:
    samples, split = stage.samples, stage.trained_with
    cells: list[Child] = [
        stage.name,
        "given" if split is None else f"{split[0]}\u202f×\u202f{split[1]}",
        "unknown" if samples is None else f"{samples:,}",
        shown(stage.mean_return),
        shown(stage.critic.explained_variance),
        f"{stage.pool.chains:,} × {stage.pool.steps:,}",
    ]
    return row(*cells)


def _reproduce(data: Advice) -> Markup | None:
    if data.reproduce is UNSET:
        return None
    return tag("div", tag("h3", "How to get this again"), command(data.reproduce))


def _versions(data: Advice) -> Markup | None:
    if data.versions is UNSET:
        return None
    rows: list[tuple[Child, Child]] = [(k, str(v)) for k, v in data.versions.items()]
    return join([tag("h3", "Versions"), facts(rows)])
