"""Parse a configuration file into a mapping: YAML, JSON, INI and gin; nothing is executed."""

import configparser
import json
import re
from typing import Any

import yaml

_MOST_NODES = 10_000
_MOST_ALIASES = 500


_BINDING = re.compile(r"^([A-Za-z_][\w./@]*)[ \t]*=[ \t]*([^#\n]*)", re.MULTILINE)


def parsed(text: str, suffix: str) -> Any:
    """Parse a text as its file's suffix says; raise ValueError with the reason if that fails."""
    if suffix in (".ini", ".cfg"):
        return _ini(text)
    if suffix == ".gin":
        return _gin(text)
    try:
        if suffix == ".json" or text.lstrip().startswith("{"):
            return json.loads(text, object_pairs_hook=_once)
        return yaml.load(text, Loader=_Loader)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except (yaml.YAMLError, OverflowError) as error:
        raise ValueError(" ".join(str(error).split())) from None


class _Loader(yaml.SafeLoader):
    """The safe YAML loader, with limits on aliases and entries, and without duplicate keys."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._aliases = 0

    def compose_node(self, parent: Any, index: Any) -> Any:
        self._aliases += self.check_event(yaml.AliasEvent)
        if self._aliases > _MOST_ALIASES:
            raise ValueError(f"more than {_MOST_ALIASES} aliases")
        return super().compose_node(parent, index)

    def flatten_mapping(self, node: Any) -> None:
        _once([(key.value, value.value) for key, value in node.value if _is_own(key, value)])
        super().flatten_mapping(node)
        if len(node.value) > _MOST_NODES:
            raise ValueError(f"more than {_MOST_NODES} entries in one place")


def _is_own(key: Any, value: Any) -> bool:
    """Return True if both are scalars and the key does not merge another mapping."""
    plain = isinstance(key, yaml.ScalarNode) and isinstance(value, yaml.ScalarNode)
    return plain and key.value != "<<"


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Build a mapping; raise ValueError for a name with two values."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found and found[key] != value:
            raise ValueError(f"{key} is given twice: {found[key]} and {value}")
        found[key] = value
    return found


def _ini(text: str) -> dict[str, dict[str, Any]]:
    """Parse sections of an INI file, without interpolation."""
    parser = configparser.ConfigParser(interpolation=None, strict=True)
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    try:
        parser.read_string(text)
    except configparser.Error as error:
        raise ValueError(" ".join(str(error).split())) from None
    return {name: dict(parser[name]) for name in parser.sections()}


def _gin(text: str) -> dict[str, Any]:
    """Parse the bindings of a gin file; names of the form Class.setting stay whole."""
    return _once([(name, value.strip().strip("'\"")) for name, value in _BINDING.findall(text)])
