"""Reduce pages, JSON and help texts to what must stay: structure and numbers, not wording."""

import functools
import json
import math
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
FOLDERS = HERE / "folders"
_NUMBER = re.compile(r"(?<![\w.#-])[-−]?(?:\d[\d,]*)?\.?\d+(?:e[-+]?\d+)?")
_VOID = {"meta", "br", "input", "img", "link", "hr", "col", "path", "line", "rect", "circle"}


class _Reader(HTMLParser):
    """Collect ids, table sizes and numbers of each section, and the data of the charts."""

    def __init__(self) -> None:
        super().__init__()
        self.sections: dict[str, dict[str, Any]] = {}
        self.charts: Any = {}
        self._open: list[tuple[str, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {key: value or "" for key, value in attrs}
        if tag not in _VOID:
            self._open.append((tag, found.get("id", "")))
        section = self._section()
        if "id" in found and tag != "section":
            section["ids"].append(found["id"])
        if tag in ("table", "tr", "th", "td", "details", "button", "input", "svg"):
            section["tags"][tag] = section["tags"].get(tag, 0) + 1

    def handle_endtag(self, tag: str) -> None:
        if any(tag == one for one, _ in self._open):
            while self._open.pop()[0] != tag:
                pass

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] == ("script", "page-data"):
            self.charts = json.loads(data)
        elif self._open and self._open[-1][0] not in ("script", "style"):
            self._section()["numbers"] += _NUMBER.findall(data)

    def _section(self) -> dict[str, Any]:
        named = [name for tag, name in self._open if tag in ("section", "article") and name]
        name = named[-1] if named else "page"
        return self.sections.setdefault(name, {"ids": [], "tags": {}, "numbers": []})


def outline(html: str) -> dict[str, Any]:
    """Return the sections of a page with their ids, tables and numbers, and its charts' data."""
    reader = _Reader()
    reader.feed(html)
    return {"sections": reader.sections, "charts": rounded(_numbers_only(reader.charts))}


def _numbers_only(tree: Any) -> Any:
    """Keep the numbers of chart data, under their keys."""
    if isinstance(tree, dict):
        pairs = {key: _numbers_only(value) for key, value in tree.items()}
        return {key: value for key, value in pairs.items() if value not in (None, {}, [])}
    if isinstance(tree, list):
        kept = [_numbers_only(value) for value in tree]
        return [value for value in kept if value not in (None, {}, [])]
    return tree if isinstance(tree, int | float) and not isinstance(tree, bool) else None


def rounded(tree: Any) -> Any:
    """Round floats to five significant digits."""
    if isinstance(tree, dict):
        return {key: rounded(value) for key, value in tree.items()}
    if isinstance(tree, list):
        return [rounded(value) for value in tree]
    if isinstance(tree, float) and math.isfinite(tree):
        return float(f"{tree:.5g}")
    return tree


def shape(tree: Any) -> Any:
    """Return the keys of a JSON value and the kinds of its leaves; a list as one merged member."""
    if isinstance(tree, dict):
        return {key: shape(tree[key]) for key in sorted(tree)}
    if isinstance(tree, list):
        return [functools.reduce(_merged, map(shape, tree))] if tree else []
    if isinstance(tree, bool):
        return "bool"
    if tree is None:
        return None
    return "number" if isinstance(tree, int | float) else "text"


def _merged(one: Any, other: Any) -> Any:
    """Merge the shapes of two members of a list; None and empty lists give way."""
    if isinstance(one, dict) and isinstance(other, dict):
        return {key: _merged(one.get(key), other.get(key)) for key in sorted({*one, *other})}
    if isinstance(one, list) and isinstance(other, list) and one and other:
        return [_merged(one[0], other[0])]
    return one or other


def differences(pinned: Any, found: Any, path: str = "") -> list[str]:
    """List where two shapes differ; what one of them leaves empty is not compared."""
    if pinned in (None, []) or found in (None, []) or pinned == found:
        return []
    if isinstance(pinned, list) and isinstance(found, list):
        return differences(pinned[0], found[0], f"{path}[]")
    if isinstance(pinned, dict) and isinstance(found, dict):
        return [
            line
            for key in sorted({*pinned, *found})
            for line in (
                differences(pinned[key], found[key], f"{path}.{key}")
                if key in pinned and key in found
                else [f"{path}.{key} is {'new' if key in found else 'gone'}"]
            )
        ]
    return [f"{path} is {found}, not {pinned}"]


def flags(help_text: str) -> list[str]:
    """List the options of a help text."""
    return sorted(set(re.findall(r"(?<![\w-])--[a-z][a-z0-9-]*", help_text)))


def read(name: str) -> Any:
    """Read what is pinned under a name."""
    return json.loads((HERE / "pins" / f"{name}.json").read_text())


def write(name: str, value: Any) -> None:
    """Pin a value under a name."""
    path = HERE / "pins" / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(value, indent=None, sort_keys=True, separators=(",", ":")) + "\n")
