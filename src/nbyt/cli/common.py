"""How every command speaks; kept apart, so that light commands import nothing heavy."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Common:
    """How a command speaks."""

    json: bool = False
    """Print one JSON object on stdout."""

    quiet: bool = False
    """No progress and no remarks."""

    config: Path | None = None
    """Read options from this TOML file; the command line wins."""
