"""A layout said in a library's words: the settings that come nearest to some sizes."""

from math import prod
from typing import Any

from nbyt.dialects.dialect import Dialect
from nbyt.dialects.reading import Reading
from nbyt.layout import nearest_divisors

Values = dict[str, Any]
_EVALUATIONS = 20


def solved(reading: Reading, target: Dialect) -> Values:
    """The target's settings for a reading's layout; what cannot be whole is rounded."""
    size, values = reading.sizes, dict[str, Any]()
    wanted = {
        "envs": size.envs,
        "steps": size.batch if target.rules.fixed_envs else size.steps,
        "fragment": size.fragment,
        "minibatches": size.minibatches or max(round(size.batch / reading.minibatch), 1),
        "minibatch": reading.minibatch,
        "batch": size.batch,
        "epochs": size.epochs,
    }
    if target.rules.collect == "spread":
        del wanted["steps"]
        if size.fragment != size.steps:
            wanted["steps"] = size.fragment
    for word, number in wanted.items():
        _put(target, values, word, number)
    _put_total(reading, target, values)
    for word in ("gamma", "lam", "learning_rate"):
        known = reading.settings.values.get(reading.dialect.key(word))
        if target.key(word) and isinstance(known, (int, float)):
            values[target.key(word)] = known
    return values


def _put(target: Dialect, values: Values, word: str, wanted: int) -> None:
    """Give the first setting behind a word what the others leave to do; these become 1."""
    keys = target.words.get(word, ())
    free = [key for key in keys if key not in values]
    if not free:
        return
    for key in free[1:]:
        if max(int(target.defaults.get(key, 0)), 1) != 1 or key not in target.defaults:
            values[key] = 1
    others = prod(values.get(key, 1) for key in keys if key != free[0])
    values[free[0]] = max(round(wanted / others), 1)


def _put_total(reading: Reading, target: Dialect, values: Values) -> None:
    """Say the length of the run in the target's unit, so that it makes as many updates."""
    updates, size = reading.updates, reading.sizes
    if not updates or not target.key("total"):
        return
    units = {
        "steps": updates * size.batch,
        "steps_per_env": updates * size.steps,
        "updates": updates,
    }
    total = units[target.rules.total]
    if (
        target.rules.total == "steps"
        and _makes(target, reading.total_steps or 0, size.batch) == updates
    ):
        total = reading.total_steps or total
    if target.key("evaluation"):
        # Evaluations that fall between updates would make the run longer.
        stretch = nearest_divisors(updates, max(updates // _EVALUATIONS, 1))[0]
        total, values[target.key("evaluation")] = updates * size.batch, stretch * size.batch
    _put(target, values, "total", total)


def _makes(target: Dialect, total: int, batch: int) -> int:
    """Updates that the target makes of a total of steps."""
    return total // batch if target.rules.updates == "floor" else -(-total // batch)
