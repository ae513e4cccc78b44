"""Questions about settings, which need no JAX: nbyt.explain, nbyt.translate, nbyt.compare."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from nbyt.api.calling import public
from nbyt.dialects.comparing import Comparison, compared
from nbyt.dialects.dialect import Dialect, load
from nbyt.dialects.explaining import Explanation, explained
from nbyt.dialects.settings import settings as parsed
from nbyt.dialects.translating import Translation, translated

Settings = Mapping[str, Any]


@public
def explain(
    library: str,
    settings: Settings | None = None,
    *,
    file: Path | str | None = None,
    entry: str | None = None,
) -> Explanation:
    """Explain another library's settings: layout, schedule, rules and traps.

    Parameters
    ----------
    library
        Its name, such as "sb3"; `nbyt dialects` lists them.
    settings
        By the library's own names. What is not given has the library's defaults.
    file, entry
        A configuration file to read settings from, behind those given here, and which of its
        entries.

    Returns
    -------
    Explanation

    Examples
    --------
    >>> import nbyt
    >>> nbyt.explain("sb3", {"n_envs": 8, "n_steps": 125}).layout["batch"]
    1000
    """
    dialect = load(library, list(settings or {}))
    given = list((settings or {}).items())
    if file is None:
        return explained(dialect, given)
    return explained(dialect, [*_behind(dialect, given, Path(file), entry), *given], lenient=True)


def _behind(dialect: Dialect, given: list, file: Path, entry: str | None) -> list:
    from nbyt.dialects.files import read_file  # brings YAML, which most questions do not need

    named = set(parsed(dialect, given).given)
    return [pair for pair in read_file(dialect, file, entry) if dialect.own(pair[0]) not in named]


@public
def translate(source: str, target: str, settings: Settings | None = None) -> Translation:
    """Translate settings to another library's words, and say what cannot be made equal.

    Parameters
    ----------
    source, target
        Names of libraries.
    settings
        By the names of the source.

    Returns
    -------
    Translation

    Examples
    --------
    >>> import nbyt
    >>> nbyt.translate("sb3", "cleanrl", {"n_envs": 8}).settings["num_envs"]
    8
    """
    return translated(explain(source, settings), load(target))


@public
def compare(before: tuple[str, Settings], after: tuple[str, Settings]) -> Comparison:
    """Compare two settings in terms that matter for learning.

    Parameters
    ----------
    before, after
        Each a library and its settings.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import nbyt
    >>> nbyt.compare(("sb3", {"n_envs": 8}), ("sb3", {"n_envs": 64})).changes[0].factor
    8.0
    """
    return compared(explain(*before), explain(*after))
