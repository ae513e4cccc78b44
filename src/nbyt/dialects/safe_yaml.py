"""YAML and JSON as plain data: the safe loader, bounded, with no key said twice."""

import json
from typing import Any

import yaml

_MOST_NODES = 10_000
_MOST_ALIASES = 500


def parsed(text: str, *, is_json: bool) -> Any:
    """The plain data of a text; a ValueError says why there is none."""
    try:
        if is_json:
            return json.loads(text, object_pairs_hook=_once)
        return yaml.load(text, Loader=_Loader)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except (yaml.YAMLError, OverflowError) as error:
        raise ValueError(" ".join(str(error).split())) from None


class _Loader(yaml.SafeLoader):
    """The safe loader, with an end to what few bytes can grow into and no key said twice."""

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
    """Whether both are plain, and the key is none that merges another mapping."""
    plain = isinstance(key, yaml.ScalarNode) and isinstance(value, yaml.ScalarNode)
    return plain and key.value != "<<"


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A mapping; a name with two values is refused."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found and found[key] != value:
            raise ValueError(f"{key} is given twice: {found[key]} and {value}")
        found[key] = value
    return found
