"""`nbyt check-config`: every setting of configuration files, for hooks and CI."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from nbyt.cli.libraries import allowed_traps, pairs
from nbyt.cli.output import Common, Outcome, show_verbatim
from nbyt.dialects import describing
from nbyt.dialects.dialect import Dialect, load
from nbyt.dialects.explaining import Explanation, explained
from nbyt.dialects.files import read_entries
from nbyt.dialects.missing import MissingSettingsError
from nbyt.dialects.settings import Pair
from nbyt.errors import DialectError, UsageError


def run(
    dialect: str,
    *files: Path,
    set_: Annotated[list[str] | None, Parameter(name="--set")] = None,
    allow: list[str] | None = None,
    common: Annotated[Common, Parameter(name="*")] = Common(),
) -> Outcome:
    """Check configuration files of a library; exit with 1 if one has a trap.

    Parameters
    ----------
    dialect
        The library; `nbyt dialects` lists them.
    files
        YAML, JSON, INI or gin files, or command lines; every entry is checked. Files without
        settings of the library are skipped.
    set_
        A setting that no file has, such as num_envs=4096; may be repeated.
    allow
        A trap that does not count, by its code; may be repeated.
    """
    library, given, allowed = load(dialect), pairs(set_ or []), allowed_traps(allow)
    if not files:
        raise UsageError("no file to check", where="nbyt check-config", fix="name at least one")
    rows = [row for path in files for row in _checked(library, path, given, allowed)]
    if not common.json:
        lines = [line for row in rows for line in _lines(row)]
        show_verbatim("\n".join([*lines, _total(rows, len(files))]))
    bad = any(row["traps"] or row["error"] for row in rows)
    return Outcome({"checked": rows, "files": len(files)}, exit_code=int(bad))


def _checked(
    library: Dialect, path: Path, given: Sequence[Pair], allowed: set[str]
) -> list[dict[str, Any]]:
    """Check every entry of a file: a row for each."""
    rows = []
    own = {library.own(key) for key, _ in given}
    for name, settings in read_entries(library, path).items():
        row: dict[str, Any] = {"file": str(path), "entry": name, "traps": [], "error": ""}
        behind = [pair for pair in settings if library.own(pair[0]) not in own]
        try:
            found = explained(library, [*behind, *given], lenient=True)
        except MissingSettingsError as error:
            rows.append({**row, "missing": error.missing, "layout": None})
            continue
        except DialectError as error:
            rows.append({**row, "error": error.message, "layout": None})
            continue
        rows.append({**row, **_facts(found, allowed)})
    return rows


def _facts(found: Explanation, allowed: set[str]) -> dict[str, Any]:
    traps = [trap.as_dict() for trap in found.traps if trap.code not in allowed]
    return {"traps": traps, "layout": describing.grid(found.reading)}


def _lines(row: dict[str, Any]) -> list[str]:
    """Write what was found in an entry, a line for each finding, as a log can be searched."""
    place = f"{row['file']} {row['entry']}".strip()
    if row["error"]:
        return [f"{place}: {row['error']}"]
    if row["layout"] is None:
        return [f"{place}: not checked: no {' and '.join(row['missing'])}; give --set"]
    found = [
        line
        for trap in row["traps"]
        for line in (f"{place}: trap {trap['code']}: {trap['message']}", f"  fix: {trap['fix']}")
    ]
    return found or [f"{place}: {row['layout']}"]


def _total(rows: list[dict[str, Any]], files: int) -> str:
    bad = sum(bool(row["traps"] or row["error"]) for row in rows)
    return f"checked: {len(rows)} (files: {files}), with a trap or an error: {bad}"
