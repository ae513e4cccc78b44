"""The whole page of a study."""

from pathlib import Path
from typing import Any


def render_study(data: dict[str, Any]) -> str:
    """The page of a study as one HTML text that needs no other file and no network."""
    raise NotImplementedError


def write_study_page(data: dict[str, Any], path: Path) -> None:
    """Nothing; `path` then holds the page, or what it held before."""
    raise NotImplementedError
