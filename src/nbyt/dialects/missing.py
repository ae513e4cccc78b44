"""Settings that are missing: all of them at once, where each is set, and what is known already."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

from nbyt.dialects.dialect import Dialect, Rules
from nbyt.dialects.vocabulary import MEANING
from nbyt.errors import DialectError

_NEEDED = {
    "per_env": (("envs",), ("steps",)),
    "total_up": (("envs",), ("batch",)),
    "total_down": (("envs",), ("batch",)),
    "spread": (("envs",), ("batch_or", "batch")),
    "fragments": (("fragment",), ("batch", "envs")),
}


@dataclass(frozen=True)
class Given:
    """The values of some settings, by our words, whether or not they are enough."""

    dialect: Dialect
    rules: Rules
    values: Mapping[str, Any]

    def number(self, key: str) -> int | None:
        """Return the size that a setting states; None without one."""
        value = self.values.get(key)
        if value is None or value == "auto":
            return None
        return max(int(value), 1) if key in self.rules.zero_is_one else int(value)

    def known(self, word: str) -> int | None:
        """Return the product of the settings behind a word; None if one of them has no value."""
        found = [self.number(key) for key in self.dialect.words.get(word, ())]
        sizes = [size for size in found if size is not None]
        return prod(sizes) if found and len(sizes) == len(found) else None

    def absent(self) -> list[str]:
        """Return the settings without which nothing can be worked out."""
        words = self.dialect.words
        needed = [*_NEEDED[self.rules.collect], *self._minibatch(), ("epochs",)]
        if self.rules.fixed_envs:
            needed = [one for one in needed if one != ("envs",)]
        found = []
        for several in needed:
            if all(self.known(word) is None for word in several):
                word = next((one for one in reversed(several) if one in words), "")
                found += [key for key in words.get(word, ()) if self.number(key) is None]
        return list(dict.fromkeys(found))

    def _minibatch(self) -> list[tuple[str, ...]]:
        words, key = self.dialect.words, self.dialect.key("minibatch")
        either = tuple(w for w in ("minibatch_or", "minibatches", "minibatch") if w in words)
        return [either] if either and key not in self.rules.none_is_batch else []


class MissingSettingsError(DialectError):
    """Sizes that have no default were not given; `given` has what was."""

    def __init__(self, given: Given, unset: tuple[str, ...]) -> None:
        self.given, self.unset, self.missing = given, unset, given.absent()
        library, names = given.dialect.library, " and ".join(self.missing)
        super().__init__(
            f"{library} has no default for {names}",
            where=given.dialect.id,
            fix=f"add {' '.join(f'{key}=' for key in self.missing)}{self._places()}",
        )

    def _places(self) -> str:
        where = self.given.dialect.where
        told = [f"{key}: {where[key]}" for key in self.missing if key in where]
        return f" ({'; '.join(told)})" if told else ""

    def partial(self) -> dict[str, Any]:
        """Return what can be said already, as plain data."""
        dialect, known = self.given.dialect, self.given.known
        sizes = ("envs", "steps", "fragment", "batch", "minibatch", "minibatches", "epochs")
        return {
            "dialect": dialect.id,
            "library": dialect.library,
            "known": {word: known(word) for word in sizes if known(word) is not None},
            "says": self.says(),
            "missing": [self._missing(key) for key in self.missing],
        }

    def says(self) -> list[str]:
        """Say in sentences what holds whatever the missing settings are."""
        given = self.given
        count, epochs = given.known("minibatches"), given.known("epochs")
        envs, steps = given.known("envs"), given.known("steps")
        told = []
        if given.rules.collect == "per_env" and (envs is None) != (steps is None):
            key = given.dialect.key("steps" if steps is None else "envs")
            told.append(f"the batch is {steps or envs:,} x {key} samples")
        if count and epochs and given.rules.ragged != "extra_short":
            told.append(
                f"an update is {count * epochs:,} gradient steps: {count:,} mini-batches x "
                f"{epochs:,} epochs"
            )
        size = given.known("minibatch")
        if size and not count:
            told.append(f"a mini-batch has {size:,} samples, and an update {epochs or '?'} epochs")
        return told

    def _missing(self, key: str) -> dict[str, str]:
        dialect = self.given.dialect
        role = dialect.role(key)
        factor = "a factor of " if len(dialect.words.get(role, ())) > 1 else ""
        left = "; the file leaves it to be filled in" if key in self.unset else ""
        place = dialect.where.get(key, "not given, and without a default")
        return {"key": key, "meaning": f"{factor}{MEANING[role]}", "where": f"{place}{left}"}
