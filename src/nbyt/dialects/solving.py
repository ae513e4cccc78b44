"""A layout said in a library's words: the settings that come nearest to some sizes."""

from collections.abc import Mapping
from dataclasses import replace
from math import floor, prod
from typing import Any

from nbyt.dialects.cut import MinibatchOrder, cut
from nbyt.dialects.dialect import Dialect
from nbyt.dialects.reading import Reading
from nbyt.layout import nearest_divisors

Values = dict[str, Any]
_EVALUATIONS = 20


def solved(reading: Reading, target: Dialect, kept: Mapping[str, Any] = {}) -> Values:
    """The target's settings for a reading's layout; what cannot be whole is rounded.

    kept: settings of the target that stay as they are, such as the number of workers.
    """
    size, values = reading.sizes, dict(kept)
    wanted = {
        "envs": size.envs,
        "steps": size.batch if target.rules.fixed_envs else size.steps,
        "fragment": size.fragment,
        "minibatches": _count(reading, target) if "minibatches" in target.words else 0,
        "minibatch": _size(reading, target) if "minibatch" in target.words else 0,
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
    return {key: value for key, value in values.items() if key not in kept}


def factors(reading: Reading) -> Values:
    """The settings that only multiply another one, such as workers with several envs each."""
    words, values = reading.dialect.words.values(), reading.settings.values
    first = {keys[0] for keys in words}
    others = [key for keys in words for key in keys if key not in first]
    return {key: values[key] for key in others if isinstance(values.get(key), int)}


def spoken(reading: Reading) -> Dialect:
    """The dialect with the one of two names for a size that the user chose."""
    words, given = dict(reading.dialect.words), reading.settings.given
    for word in ("batch", "minibatch"):
        other = words.pop(f"{word}_or", ("",))
        if other[0] in given:
            words[word] = other
    return replace(reading.dialect, words=words)


def _count(reading: Reading, target: Dialect) -> int:
    """The number of mini-batches that the target cuts as they are, or else about as many."""
    size = reading.sizes
    usual = [reading.minibatch, *(number for number, _ in reading.cut.runs[:1])]
    near = [whole(size.batch / number) for number in usual for whole in (round, floor)]
    counts = [n for n in (size.minibatches, *near, reading.cut.count, 1) if 0 < n <= size.batch]
    orders = [
        MinibatchOrder(size.batch, size.batch // count, count, size.epochs) for count in counts
    ]
    return next((one.minibatches for one in orders if _is_cut(reading, target, one)), counts[0])


def _size(reading: Reading, target: Dialect) -> int:
    """The size of mini-batches that the target cuts as they are, or else the usual one."""
    size, runs = reading.sizes, reading.cut.runs
    sizes = [reading.minibatch, *(number for number, _ in runs[:1])]
    orders = [MinibatchOrder(size.batch, number, 0, size.epochs) for number in sizes]
    return next((one.minibatch for one in orders if _is_cut(reading, target, one)), sizes[0])


def _is_cut(reading: Reading, target: Dialect, order: MinibatchOrder) -> bool:
    pieces, epochs = cut(target.rules.ragged, order), order.epochs
    return pieces is not None and pieces.signature(epochs) == reading.cut.signature(epochs)


def _put(target: Dialect, values: Values, word: str, wanted: int) -> None:
    """Give the first setting behind a word what the others leave to do; these become 1."""
    keys = target.words.get(word, ())
    free = [key for key in keys if key not in values]
    if not free:
        return
    for key in free[1:]:
        if max(int(target.defaults.get(key, 0)), 1) != 1 or key not in target.defaults:
            values[key] = 1
    # No workers at all count as one, where a library allows 0.
    others = prod(max(values.get(key, 1), 1) for key in keys if key != free[0])
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
