"""Output of commands: one JSON object, or text for people; errors in three parts."""

import contextlib
import errno
import json
import os
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TextIO, cast

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from nbyt import __version__
from nbyt.errors import NbytError, RunInterruptedError, own_lines
from nbyt.store.text import plain

# Each has a function `run_NAME` in `nbyt.cli.train`, with its options.
Algo = Literal["ppo", "dqn"]


@dataclass(frozen=True)
class Common:
    """Options of every command."""

    json: bool = False
    """Print one JSON object on stdout."""

    quiet: bool = False
    """Print no progress and no remarks."""

    config: Path | None = None
    """Read options from this TOML file; the command line wins."""


@contextlib.contextmanager
def kept_streams(*, quiet_stdout: bool) -> Iterator[None]:
    """Restore stdout and stderr afterwards.

    quiet_stdout: meanwhile all that is written to stdout goes to stderr, also by C code, so that
    stdout belongs to one JSON object.
    """
    before = sys.stdout, sys.stderr
    kept = [_copy(stream, number) for number, stream in enumerate(before, start=1)]
    if quiet_stdout:
        sys.stdout = sys.stderr
        if None not in kept:
            os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
        for number, copy in enumerate(kept, start=1):
            _restore(number, copy)


def _copy(stream: TextIO | None, number: int) -> int | None:
    """Duplicate the descriptor of a stream that writes to it; None for any other stream."""
    try:
        if stream is None or stream.fileno() != number:
            return None
        stream.flush()
        return os.dup(number)
    except (OSError, ValueError):
        return None


def _restore(number: int, copy: int | None) -> None:
    if copy is None:
        return
    name = "stdout" if number == 1 else "stderr"
    with contextlib.suppress(OSError, ValueError):  # the env has closed the copy, too
        if not getattr(sys, name).closed:
            getattr(sys, name).flush()
        os.dup2(copy, number)
        os.close(copy)
    if getattr(sys, name).closed:
        setattr(sys, name, open(number, "w", encoding="utf-8", closefd=False))  # noqa: SIM115


@dataclass(frozen=True)
class Outcome:
    """The result of a command: data for JSON, warnings, status and exit code."""

    data: dict[str, Any]
    warnings: list[str] = field(default_factory=list)
    status: str = "ok"
    exit_code: int = 0


def print_json(command: str, outcome: Outcome) -> None:
    """Print one JSON object on stdout."""
    _dump(_record(command, outcome.status, outcome.data, outcome.warnings))


def print_error(error: NbytError, command: str, *, as_json: bool) -> None:
    """Print the error as text on stderr, and as JSON on stdout where JSON was asked for."""
    if as_json:
        status = "interrupted" if isinstance(error, RunInterruptedError) else "failed"
        _dump(_record(command, status, None, [], error=error.as_dict()))
    console = talk()
    for line in own_lines(error.__cause__):
        console.print(Text(plain(line), style="dim"), soft_wrap=True)
    word = "stopped" if isinstance(error, RunInterruptedError) else "error"
    console.print(Text(f"{word}: ", style="bold red") + Text(plain(error.message)))
    if error.where:
        console.print(Text("  where: ", style="dim") + Text(plain(error.where)))
    if error.fix:
        console.print(Text("  fix:   ", style="dim") + Text(plain(error.fix)))


class PlainConsole(Console):
    """A console that shows texts as they are.

    Paths, ids, messages of envs and contents of files are never taken for markup, emoji codes or
    commands to the terminal.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, emoji=False, highlight=False, **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Render to segments without control or invisible characters; rich adds its own later."""
        for segment in super().render(renderable, options):
            text = segment.text if segment.control else plain(segment.text, lines=True)
            yield segment._replace(text=text)


class _Stderr:
    """The current sys.stderr; an env that has closed it does not end the command."""

    def __getattr__(self, name: str) -> Any:
        return getattr(sys.stderr, name)

    def write(self, text: str) -> int:
        with _unless_closed():
            sys.stderr.write(text)
        return len(text)

    def flush(self) -> None:
        with _unless_closed():
            sys.stderr.flush()

    def isatty(self) -> bool:
        return sys.stderr is not None and not sys.stderr.closed and sys.stderr.isatty()


@contextlib.contextmanager
def _unless_closed() -> Iterator[None]:
    try:
        yield
    except (AttributeError, ValueError):  # None, or closed in Python
        return
    except OSError as error:
        if error.errno != errno.EBADF:  # closed below Python
            raise


def talk(*, quiet: bool = False) -> Console:
    """Return the console for progress and remarks: stderr."""
    return PlainConsole(file=cast(TextIO, _Stderr()), quiet=quiet)


def facts_table(rows: list[tuple[str, str]]) -> Table:
    """Build a table of two columns without frames: name and value."""
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows:
        table.add_row(name, Text(plain(value)))
    return table


def dry_run(data: dict[str, Any], common: Common, warnings: Sequence[str] = ()) -> "Outcome":
    """Show what a dry run would do, under the names of its parts, and return it."""
    if not common.json:
        show(facts_table([(name.replace("_", " "), _said(one)) for name, one in data.items()]))
    return Outcome(data, list(warnings))


def _said(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def show(*things: Any) -> None:
    """Print for people, on stdout."""
    console = PlainConsole()
    for thing in things:
        console.print(thing)


def show_verbatim(text: str) -> None:
    """Print lines on stdout without wrapping, so that they can be pasted."""
    console = PlainConsole(soft_wrap=True)
    for line in text.split("\n"):
        console.print(Text(plain(line)))


def show_next(*words: object) -> None:
    """Print the command that is useful next, ready to paste; paths below here are relative."""
    here = Path.cwd()
    near = [
        one.relative_to(here) if isinstance(one, Path) and one.is_relative_to(here) else one
        for one in words
    ]
    show_verbatim(f"next: {shlex.join(['nbyt', *map(str, near)])}")


def warn(console: Console, warnings: list[str]) -> None:
    """Print each warning on its own line of stderr."""
    for warning in warnings:
        console.print(Text("warning: ", style="yellow") + Text(plain(warning)))


def _record(command: str, status: str, data: Any, warnings: list[str], **more: Any) -> Any:
    """Return the object that --json prints; the schemas of `nbyt.results.schema` describe it."""
    record = {"nbyt": __version__, "command": command, "status": status, "data": data}
    return {**record, "warnings": [plain(warning) for warning in warnings], **more}


def _dump(record: Any) -> None:
    json.dump(record, sys.stdout, allow_nan=False)
    sys.stdout.write("\n")
    sys.stdout.flush()
