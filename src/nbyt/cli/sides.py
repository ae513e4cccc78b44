"""Settings on the command line: a library, key=value pairs, and perhaps a file behind them."""

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from nbyt.dialects.dialect import Dialect, load
from nbyt.dialects.explaining import Explanation, explained
from nbyt.dialects.settings import Pair, settings
from nbyt.errors import UsageError


def side(name: str, words: Sequence[str], file: Path | None, entry: str | None) -> Explanation:
    """What a library does with the settings of a file and of the command line, which wins."""
    dialect, given = load(name), pairs(words)
    if file is None:
        if entry is not None:
            raise UsageError("--entry without --file", where="--entry", fix="add --file")
        return explained(dialect, given)
    from nbyt.dialects.files import read_file  # brings YAML, which most questions do not need

    # The words of the user are checked strictly; a file may talk about other things as well.
    named = set(settings(dialect, given).given)
    behind = [pair for pair in read_file(dialect, file, entry) if _key(dialect, pair) not in named]
    return explained(dialect, [*behind, *given], lenient=True)


def pairs(words: Sequence[str]) -> list[Pair]:
    """The (name, value) pairs of key=value words."""
    found = []
    for word in words:
        key, equals, value = word.partition("=")
        if not (key and equals and value):
            raise UsageError(
                f"'{word}' is no setting", where="settings", fix="write them as key=value"
            )
        found.append((key, value))
    return found


def remarks(explanation: Explanation) -> list[str]:
    """What deserves a warning: names of a file that are not known, lists cut short."""
    found = []
    dialect = explanation.dialect
    for name in explanation.reading.settings.ignored:
        if name not in dialect.other:
            near = get_close_matches(name, dialect.keys, n=1, cutoff=0.8)
            hint = f"; did you mean {near[0]}?" if near else ""
            found.append(f"{dialect.library} has no setting '{name}' here: left aside{hint}")
    if explanation.schedule["minibatch_sizes"] is None:
        found.append("too many mini-batches to list: see minibatch_runs")
    return found


def _key(dialect: Dialect, pair: Pair) -> str:
    name = pair[0].replace("-", "_")
    return dialect.aliases.get(name, name)
