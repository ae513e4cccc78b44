"""Errors that a user can act on: what happened, where, and what to do.

Every error that nbyt raises on purpose is an `NbytError`. The command line prints its three
parts and exits with its code; nothing else is shown, so the message has to be enough.
"""

import errno
import sysconfig
import traceback
from pathlib import Path

# Characters of a foreign exception's words that a message repeats.
_LONGEST = 2_000


class NbytError(Exception):
    """An error with a place and a remedy.

    `code` names the kind in JSON output; `exit_code` is what the command line returns.
    """

    code = "error"
    exit_code = 1

    def __init__(self, message: str, *, where: str = "", fix: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.where = where
        self.fix = fix

    def __str__(self) -> str:
        place = f" ({self.where})" if self.where else ""
        remedy = f"\n  fix: {self.fix}" if self.fix else ""
        return f"{self.message}{place}{remedy}"

    def as_dict(self) -> dict[str, str]:
        """Return the four fields that `--json` promises."""
        return {"code": self.code, "message": self.message, "where": self.where, "fix": self.fix}

    def as_facts(self) -> dict[str, str]:
        """Return plain values for another process; `error_from` rebuilds the error from them."""
        return {"kind": type(self).__name__, **self.as_dict()}


class UsageError(NbytError):
    """The request itself is wrong: a value, an option, a combination."""

    code = "usage"
    exit_code = 2


class LayoutError(UsageError):
    """Sizes that cannot be a layout."""

    code = "layout"


class DialectError(UsageError):
    """Settings that another library would not understand, or that contradict each other."""

    code = "dialect"


class EnvError(NbytError):
    """An environment broke one of its promises while it ran."""

    code = "env"


class EnvUsageError(UsageError):
    """An environment that does not exist, cannot be built, or has spaces we do not serve."""

    code = "env"


class StoreError(UsageError):
    """A file or folder that is damaged, hostile, not ours, or not writable."""

    code = "store"


DISK_FAULTS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO})
"""Numbers of the OSErrors that are a `DiskError`."""


class DiskError(NbytError):
    """The disk refused a write; what was there before is still there."""

    code = "disk"


class TrainingError(NbytError):
    """Training stopped because its numbers stopped being numbers."""

    code = "training"


class MissingExtraError(UsageError):
    """An optional package is needed and is not installed."""

    code = "missing_extra"

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(
            f"this needs the package '{package}', which is not installed",
            fix=f"pip install 'nbyt[{extra}]'",
        )


class RunInterruptedError(NbytError):
    """The user pressed Ctrl-C and the state was saved."""

    code = "interrupted"
    exit_code = 130


def remade(kind: type[NbytError], message: str, *, where: str, fix: str) -> NbytError:
    """Return an error of that kind with these three parts, whatever else its kind asks for."""
    error = kind.__new__(kind)
    NbytError.__init__(error, message, where=where, fix=fix)
    return error


def error_from(facts: dict[str, str]) -> NbytError:
    """Rebuild the error that `as_facts` described."""
    kind = globals().get(facts["kind"], EnvError)
    return remade(kind, facts["message"], where=facts["where"], fix=facts["fix"])


def described(error: BaseException) -> str:
    """Name an exception and repeat its words, whatever comes of asking for them."""
    try:
        words = str(error)
    except BaseException as raised:
        words = f"(no words: its __str__ raised {type(raised).__name__})"
    if len(words) > _LONGEST:
        words = f"{words[:_LONGEST]} [cut: {len(words):,} characters]"
    return f"{type(error).__name__}: {words}" if words else type(error).__name__


def shown(value: object) -> str:
    """Show a foreign value in a few characters, whatever comes of asking for them."""
    try:
        return f"{value!r:.80}"
    except BaseException:
        return f"a {type(value).__name__} that cannot be shown"


def own_lines(cause: BaseException | None) -> list[str]:
    """List where in the user's own code an exception arose, outermost first."""
    if cause is None:
        return []
    frames = traceback.extract_tb(cause.__traceback__)
    own = [frame for frame in frames if not _is_installed(Path(frame.filename))]
    places = [f"  {frame.filename}:{frame.lineno} in {frame.name}: {frame.line}" for frame in own]
    return ["in your code:", *places] if own else []


def _is_installed(file: Path) -> bool:
    """Return True if a file belongs to nbyt, an installed package or Python, not to the user."""
    ours = Path(__file__).resolve().parent
    roots = (ours, *map(Path, sysconfig.get_paths().values()))
    return str(file).startswith("<") or any(file.is_relative_to(root) for root in roots)
