"""`nbyt explain`, `translate` and `compare`: questions about other libraries' settings."""

from collections.abc import Sequence
from difflib import get_close_matches
from itertools import takewhile
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich.table import Table
from rich.text import Text

from nbyt.cli.output import (
    Common,
    Outcome,
    facts_table,
    print_error,
    show,
    show_verbatim,
    talk,
    warn,
)
from nbyt.dialects import describing
from nbyt.dialects.commands import read_words
from nbyt.dialects.comparing import Change, Comparison, compared
from nbyt.dialects.dialect import Dialect, load, meant
from nbyt.dialects.explaining import Explanation, explained
from nbyt.dialects.missing import MissingSettingsError
from nbyt.dialects.settings import Pair
from nbyt.dialects.settings import settings as parsed_settings
from nbyt.dialects.translating import Translation, translated
from nbyt.dialects.traps import CODES, Trap
from nbyt.errors import UsageError
from nbyt.store.text import plain

_DIVIDER = "--"


Words = Annotated[str, Parameter(allow_leading_hyphen=True)]


def explain(
    dialect: str,
    *settings: Words,
    file: Path | None = None,
    entry: str | None = None,
    strict: bool = False,
    allow: list[str] | None = None,
    common: Annotated[Common, Parameter(name="*")] = Common(),
) -> Outcome:
    """Explain another library's settings: layout, schedule, rules and traps.

    Parameters
    ----------
    dialect
        The library; `nbyt dialects` lists them.
    settings
        Its own names and values, as key=value or as flags; preset=NAME takes one of its own sets of
        defaults.
    file
        Read settings from this file: a command line, YAML or JSON; those given here win.
    entry
        Which entry of the file, where it has several.
    strict
        Exit with 1 if there is a trap or the library refuses the settings.
    allow
        With --strict: a trap that does not count, by its code; may be repeated.
    """
    allowed = allowed_traps(allow)
    try:
        explanation = read_explanation(dialect, settings, file, entry)
    except MissingSettingsError as error:
        return _partial(error, common)
    warnings = _warned(common, explanation)
    if not common.json:
        _show_explanation(explanation)
    code = _strict_code(explanation.traps, allowed) if strict else 0
    return Outcome(explanation.as_dict(), warnings, exit_code=code)


def _strict_code(traps: Sequence[Trap], allowed: set[str], *, fails: bool = False) -> int:
    """Return 1 if a trap is not allowed, or something else fails."""
    return int(fails or any(trap.code not in allowed for trap in traps))


def allowed_traps(allow: Sequence[str] | None) -> set[str]:
    """Return codes of traps that do not count; raise UsageError for one that does not exist."""
    codes = {code for one in allow or () for code in one.split(",")}
    for code in sorted(codes - set(CODES)):
        near = get_close_matches(code, CODES, n=1, cutoff=0.5)
        fix = f"did you mean {near[0]}?" if near else f"codes: {', '.join(CODES)}"
        raise UsageError(f"there is no trap '{code}'", where="--allow", fix=fix)
    return codes


def _partial(error: MissingSettingsError, common: Common) -> Outcome:
    """Show what some settings say although others are missing."""
    if not common.json:
        show(Text(describing.title(error.given.dialect), style="bold"), "")
        show(facts_table(describing.partial_facts(error)), "")
    print_error(error, "explain", as_json=False)
    return Outcome(error.partial(), [error.message], status="partial", exit_code=error.exit_code)


def translate(
    source: str,
    target: str,
    *settings: Words,
    file: Path | None = None,
    entry: str | None = None,
    strict: bool = False,
    allow: list[str] | None = None,
    common: Annotated[Common, Parameter(name="*")] = Common(),
) -> Outcome:
    """Translate a layout to another library's words, and say what cannot be made equal.

    Parameters
    ----------
    source
        The library whose settings are given.
    target
        The library to translate to.
    settings
        Names and values of the source, as key=value.
    file
        Read settings from this file: a command line, YAML or JSON; those given here win.
    entry
        Which entry of the file, where it has several.
    strict
        Exit with 1 if there is a trap; of the target, or if the layout is not the same.
    allow
        With --strict: a trap that does not count, by its code; may be repeated.
    """
    wanted, allowed = load(target), allowed_traps(allow)
    explanation = read_explanation(source, settings, file, entry)
    warnings = _warned(common, explanation)
    translation = translated(explanation, wanted)
    if not common.json:
        _show_translation(translation)
    code = 0
    if strict:
        code = _strict_code(translation.target.traps, allowed, fails=not translation.is_exact)
    return Outcome(translation.as_dict(), warnings, exit_code=code)


def compare(
    *words: Annotated[str, Parameter(allow_leading_hyphen=True)],
    file: list[Path] | None = None,
    entry: list[str] | None = None,
    strict: bool = False,
    allow: list[str] | None = None,
    common: Annotated[Common, Parameter(name="*")] = Common(),
) -> Outcome:
    """Compare two settings: nbyt compare sb3 n_envs=8 -- sb3 n_envs=64.

    Parameters
    ----------
    words
        A library and its settings as key=value, then --, then another or the same.
    file
        Read settings from this file; once for the first side, a second time for the second.
    entry
        Which entry of the file, in the same order.
    strict
        Exit with 1 if there is a trap on the second side.
    allow
        With --strict: a trap that does not count, by its code; may be repeated.
    """
    allowed = allowed_traps(allow)
    sides = zip(_sides(words), _two(file), _two(entry), strict=True)
    before, after = (
        read_explanation(name, settings, path, chosen) for (name, *settings), path, chosen in sides
    )
    warnings = _warned(common, before, after)
    comparison = compared(before, after)
    if not common.json:
        _show_comparison(comparison)
    code = _strict_code(after.traps, allowed) if strict else 0
    return Outcome(comparison.as_dict(), warnings, exit_code=code)


def read_explanation(
    name: str, words: Sequence[str], file: Path | None = None, entry: str | None = None
) -> Explanation:
    """Explain the settings of the command line, and behind them those of a file."""
    dialect, given = library(name, words)
    if file is None:
        if entry is not None:
            raise UsageError("--entry without --file", where="--entry", fix="add --file")
        return explained(dialect, given)
    from nbyt.dialects.files import read_file  # brings YAML, which most questions do not need

    # The user's own words are checked strictly; a file may hold settings of other things as well.
    named = set(parsed_settings(dialect, given).given)
    behind = [pair for pair in read_file(dialect, file, entry) if _key(dialect, pair) not in named]
    return explained(dialect, [*behind, *given], lenient=True)


def library(name: str, words: Sequence[str]) -> tuple[Dialect, list[Pair]]:
    """Find the library of a name that may be of several words, and its settings."""
    plain_words = list(takewhile(lambda word: "=" not in word and not word.startswith("-"), words))
    for count in range(len(plain_words), 0, -1):
        longer = " ".join([name, *words[:count]])
        if meant(longer):
            name, words = longer, words[count:]
            break
    given = pairs(words)
    return load(name, [key for key, _ in given]), given


def pairs(words: Sequence[str]) -> list[Pair]:
    """Split key=value words and flags into (name, value) pairs."""
    if any(_is_flag(word) for word in words):
        return list(read_words(list(words)))
    result = []
    for word in words:
        key, equals, value = word.partition("=")
        if not (key and equals and value):
            raise UsageError(
                f"'{word}' is not a setting", where="settings", fix="write them as key=value"
            )
        result.append((key, value))
    return result


def _is_flag(word: str) -> bool:
    return word.startswith("--") and word != _DIVIDER


def _key(dialect: Dialect, pair: Pair) -> str:
    return dialect.own(pair[0])


def _warned(common: Common, *explanations: Explanation) -> list[str]:
    """Print warnings about unknown names of a file and lists cut short, and return them."""
    warnings = []
    for explanation in explanations:
        dialect = explanation.dialect
        for name in explanation.reading.settings.ignored:
            if name not in dialect.other:
                near = get_close_matches(name, dialect.keys, n=1, cutoff=0.8)
                hint = f"; did you mean {near[0]}?" if near else ""
                warnings.append(f"{dialect.library} has no setting '{name}' here: ignored{hint}")
        if explanation.schedule["minibatch_sizes"] is None:
            warnings.append("too many mini-batches to list: see minibatch_runs")
    warn(talk(quiet=common.quiet), warnings)
    return warnings


def _sides(words: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    odd = [word for word in words if word.startswith("-") and word != _DIVIDER]
    if odd:
        raise UsageError(
            f"unknown option {odd[0]}", where="nbyt compare", fix="see `nbyt compare --help`"
        )
    place = words.index(_DIVIDER) if words.count(_DIVIDER) == 1 else 0
    before, after = words[:place], words[place + 1 :]
    if not before or not after:
        message = "two settings are needed, with -- between them"
        fix = "nbyt compare sb3 n_envs=8 -- sb3 n_envs=64"
        raise UsageError(message, where="nbyt compare", fix=fix)
    return before, after


def _two(given: list | None) -> list:
    values = list(given or [])
    if len(values) > 2:
        raise UsageError("more than two files or entries", where="nbyt compare", fix="give two")
    return [*values, None, None][:2]


def _show_explanation(explanation: Explanation) -> None:
    show(Text(describing.title(explanation.dialect), style="bold"), "")
    show(facts_table(describing.facts(explanation.reading)), "")
    if not explanation.traps:
        show(Text("no traps found", style="green"))
    _show_traps(explanation, fixes=True)


def _show_traps(explanation: Explanation, *, fixes: bool) -> None:
    for trap in explanation.traps:
        show(Text(f"trap {trap.code}: ", style="bold yellow") + Text(plain(trap.message)))
        if fixes:
            show(Text(f"  fix: {plain(trap.fix)}"))


def _show_translation(translation: Translation) -> None:
    sides = [("from", translation.source), ("to", translation.target)]
    names = [(word, describing.title(side.dialect)) for word, side in sides]
    show(facts_table([*names, ("layout", describing.grid(translation.target.reading))]), "")
    show_verbatim(translation.paste)
    show("")
    if translation.is_exact:
        show(Text(_same(translation), style="green"))
    for difference in translation.differences:
        style = "bold red" if difference.kind in ("lost", "left") else "bold"
        show(Text(f"{difference.kind} ", style=style) + Text(plain(difference.message)))
    _show_traps(translation.target, fixes=False)


def _same(translation: Translation) -> str:
    """Say that the layout is the same, never without how much beside it is not."""
    count = len(translation.not_same)
    if not count:
        return "the layout is the same, and so is every setting that was read"
    be = "1 setting or rule is" if count == 1 else f"{count} settings or rules are"
    return f"the layout is the same; {be} not"


def _show_comparison(comparison: Comparison) -> None:
    for word, explanation in (("before", comparison.before), ("after", comparison.after)):
        show(Text(f"{word:7}", style="bold") + Text(describing.title(explanation.dialect)))
        show(Text(f"{'':7}{describing.grid(explanation.reading)}"))
    show("", _change_table(comparison.changes), "")
    for finding in comparison.findings:
        show(Text("- ") + Text(plain(finding["message"])))
    for settings in comparison.equal_batch:
        show(Text("equal batch: ", style="bold") + Text(plain(describing.assigned(settings))))


def _change_table(changes: tuple[Change, ...]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("")
    for name in ("before", "after", "factor"):
        table.add_column(name, justify="right")
    for change in changes:
        factor = "same" if change.is_same else f"x {change.factor:.4g}"
        table.add_row(change.name, f"{change.before:,.6g}", f"{change.after:,.6g}", factor)
    return table
