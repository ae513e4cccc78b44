"""`nbyt dialects`: the libraries and their words."""

from collections.abc import Mapping
from typing import Annotated, Any

from cyclopts import Parameter
from rich.table import Table
from rich.text import Text

from nbyt.cli.output import Common, Outcome, facts_table, show
from nbyt.dialects import describing
from nbyt.dialects.dialect import Dialect, Replay, every, load
from nbyt.dialects.vocabulary import MEANING

_LETTERS = {
    "envs": "N",
    "steps": "T",
    "fragment": "F",
    "batch": "B",
    "minibatch": "m",
    "minibatches": "k",
    "epochs": "K",
}
_LEGEND = """\
N envs, T steps of each, B = N x T the batch, F steps over which advantages are
computed, m size and k number of mini-batches, K epochs.
`nbyt dialects ID` shows one in full."""


def run(
    dialect: str | None = None, *, common: Annotated[Common, Parameter(name="*")] = Common()
) -> Outcome:
    """List the libraries and their words, or show one of them in full.

    Parameters
    ----------
    dialect
        One library; without it, all.
    """
    if dialect is not None:
        return _one(load(dialect), common)
    found = every()
    if not common.json:
        show(_table(found), "", _LEGEND)
    return Outcome({"dialects": [describing.described(one) for one in found]})


def _one(dialect: Dialect, common: Common) -> Outcome:
    if not common.json:
        show(Text(describing.title(dialect), style="bold"), "")
        show(facts_table(_words(dialect)), "", facts_table(_facts(dialect)))
        if dialect.replay:
            show("", Text(f"replay words, {dialect.replay.algorithm}", style="bold"))
            show(facts_table(_replay(dialect.replay)))
        show("", *(Text(f"- {note}") for note in dialect.notes))
    return Outcome(describing.described(dialect))


def _table(dialects: list[Dialect]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("id", no_wrap=True)
    table.add_column("version", no_wrap=True)
    table.add_column("its words")
    for dialect in dialects:
        table.add_row(dialect.id, dialect.version.partition(" (")[0], _line(dialect))
    return table


def _line(dialect: Dialect) -> str:
    """Write the words of one library, each after its letter in the legend."""
    words = dict(dialect.words)
    if dialect.rules.fixed_envs:
        words["envs"] = (f"always {dialect.rules.fixed_envs}",)
    parts = [(letter, words[word]) for word, letter in _LETTERS.items() if word in words]
    return ", ".join(f"{letter} {' x '.join(keys)}" for letter, keys in parts)


def _words(dialect: Dialect) -> list[tuple[str, str]]:
    rows = []
    for word, keys in dialect.words.items():
        shown = " x ".join(_with_default(key, dialect.defaults) for key in keys)
        name = MEANING[word.removesuffix("_or")]
        rows.append((f"or {name}" if word.endswith("_or") else name, shown))
    return rows


def _facts(dialect: Dialect) -> list[tuple[str, str]]:
    rules = {name: rule["text"] for name, rule in describing.rules(dialect.rules).items()}
    rows = [
        ("with more envs", rules["collect"]),
        ("remainder", rules["ragged"]),
        ("mixing", rules["mixing"]),
        ("advantages are", rules["normalise"]),
        ("time limits", rules["time_limits"]),
        ("a run", f"{rules['updates']}; its length counts {rules['total']}"),
    ]
    counted = "in the library itself" if dialect.live == "counted" else f"no: {dialect.live}"
    rows += [("read on", dialect.read_on), ("counted", counted)]
    if dialect.called:
        rows.append(("also called", ", ".join(dialect.called)))
    if dialect.derived:
        rows.append(("derived", ", ".join(dialect.derived)))
    if dialect.aliases:
        rows.append(("aliases", ", ".join(f"{a} for {key}" for a, key in dialect.aliases.items())))
    presets = dialect.presets.items()
    rows += [(f"preset={name}", describing.assigned(values)) for name, values in presets]
    return [*rows, ("source", ", ".join(dialect.source))]


def _replay(replay: Replay) -> list[tuple[str, str]]:
    keys = {
        "mini-batch": [replay.minibatch],
        "capacity": [replay.capacity],
        "start": [replay.start],
        "frequency": replay.frequency,
    }
    rows = [
        (name, ", ".join(_with_default(key, replay.defaults) for key in some))
        for name, some in keys.items()
    ]
    rows.append(("replacement", replay.replacement))
    return [*rows, ("note", replay.note)] if replay.note else rows


def _with_default(key: str, defaults: Mapping[str, Any]) -> str:
    return f"{key}={defaults[key]}" if key in defaults else key
