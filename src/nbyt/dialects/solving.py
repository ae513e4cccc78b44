"""Find the settings of a library that come nearest to some sizes."""

from collections.abc import Mapping
from dataclasses import replace
from math import floor, prod
from typing import Any

from nbyt.dialects.dialect import Dialect
from nbyt.dialects.reading import Reading, reread
from nbyt.dialects.sizes import Cut, MinibatchOrder, cut
from nbyt.layout import Layout, nearest_divisors

_NEAR = 200
_ORDER = ("minibatch", "minibatch_or", "minibatches", "steps", "fragment", "batch", "envs")


def nearest_settings(reading: Reading) -> list[dict[str, Any]]:
    """Find changes of one setting, the next below and above, after which the batch divides."""
    keys = [reading.dialect.key(word) for word in _ORDER]
    values = reading.settings.values
    usable = [key for key in dict.fromkeys(keys) if isinstance(values.get(key), int)]
    found = [(key, value) for key in usable for value in _nearest(reading, key, values[key])]
    close = [(key, value) for key, value in found if values[key] <= 2 * value <= 4 * values[key]]
    return [{key: value} for key, value in close or found]


def _nearest(reading: Reading, key: str, value: int) -> list[int]:
    far = {number for power in range(1, 11) for number in (value << power, value >> power)}
    batch = reading.sizes.batch
    exact = set(nearest_divisors(batch, value)) if batch < 10**9 else set()
    near = set(range(max(value - _NEAR, 1), value + _NEAR))
    tried = sorted((near | far | exact) - {0, value}, key=lambda number: abs(number - value))
    below = next((n for n in tried if n < value and _is_good(reading, key, n)), None)
    above = next((n for n in tried if n > value and _is_good(reading, key, n)), None)
    return [number for number in (below, above) if number is not None]


def _is_good(reading: Reading, key: str, value: int) -> bool:
    found = reread(reading, {key: value})
    return found is not None and found.is_even and found.minibatch > 1


Values = dict[str, Any]
_EVALUATIONS = 20


def solved(reading: Reading, target: Dialect, kept: Mapping[str, Any] = {}) -> Values:
    """Return the target's settings for a reading's layout; fractions are rounded.

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
    """Return the settings that only multiply another, such as workers with several envs each."""
    words, values = reading.dialect.words.values(), reading.settings.values
    first = {keys[0] for keys in words}
    others = [key for keys in words for key in keys if key not in first]
    return {key: values[key] for key in others if isinstance(values.get(key), int)}


def with_chosen_names(reading: Reading) -> Dialect:
    """Return the dialect with only that name of a size that the user chose."""
    words, given = dict(reading.dialect.words), reading.settings.given
    for word in ("batch", "minibatch"):
        other = words.pop(f"{word}_or", ("",))
        if other[0] in given:
            words[word] = other
    return replace(reading.dialect, words=words)


def _count(reading: Reading, target: Dialect) -> int:
    """Return a number of mini-batches that the target cuts into the same ones, or about as many."""
    size = reading.sizes
    usual = [reading.minibatch, *(number for number, _ in reading.cut.runs[:1])]
    near = [whole(size.batch / number) for number in usual for whole in (round, floor)]
    counts = [n for n in (size.minibatches, *near, reading.cut.count, 1) if 0 < n <= size.batch]
    orders = [MinibatchOrder(size.batch, size.batch // n, n, size.epochs) for n in counts]
    return next((one.minibatches for one in orders if _is_cut(reading, target, one)), counts[0])


def _size(reading: Reading, target: Dialect) -> int:
    """Return a size of mini-batch that the target cuts into the same ones, or the usual one."""
    size, runs = reading.sizes, reading.cut.runs
    sizes = [reading.minibatch, *(number for number, _ in runs[:1])]
    orders = [MinibatchOrder(size.batch, number, 0, size.epochs) for number in sizes]
    return next((one.minibatch for one in orders if _is_cut(reading, target, one)), sizes[0])


def _is_cut(reading: Reading, target: Dialect, order: MinibatchOrder) -> bool:
    pieces, epochs = cut(target.rules.ragged, order), order.epochs
    return pieces is not None and pieces.signature(epochs) == reading.cut.signature(epochs)


def _put(target: Dialect, values: Values, word: str, wanted: int) -> None:
    """Set the first setting behind a word to what the others leave to do; those become 1."""
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
    """Set the length of the run in the target's unit, for the same number of updates."""
    updates, size = reading.updates, reading.sizes
    if not updates or not target.key("total"):
        return
    units = {"steps": size.batch, "steps_per_env": size.steps, "updates": 1}
    total = updates * units[target.rules.total]
    steps = reading.total_steps or 0
    makes = steps // size.batch if target.rules.updates == "floor" else -(-steps // size.batch)
    if target.rules.total == "steps" and makes == updates:
        total = steps or total
    if target.key("evaluation"):
        # Evaluations that fall between updates would make the run longer.
        stretch = nearest_divisors(updates, max(updates // _EVALUATIONS, 1))[0]
        total, values[target.key("evaluation")] = updates * size.batch, stretch * size.batch
    _put(target, values, "total", total)


def fewest_changes(reading: Reading, layout: Layout, *, same_minibatch: bool) -> Values | None:
    """Find the settings to change for this layout; None if the library cannot have it.

    Workers and the like stay as they are where that is possible, and so does the length of the run.
    same_minibatch: the mini-batch stays the user's, whatever the layout says.
    """
    wanted = _wanted(reading, layout, same_minibatch=same_minibatch)
    for kept in (factors(reading), {}):
        tried = solved(wanted, with_chosen_names(reading), kept).items()
        change = {key: value for key, value in tried if value != reading.settings.values.get(key)}
        for one in (_without_length(reading, change), change):
            if _reaches(reading, one, wanted):
                return _needed(reading, one, wanted)
    return None


def _without_length(reading: Reading, change: Values) -> Values:
    words = reading.dialect.words
    length = {*words["total"], *words.get("evaluation", ())}
    return {key: value for key, value in change.items() if key not in length}


def _wanted(reading: Reading, layout: Layout, *, same_minibatch: bool) -> Reading:
    shape = {"envs": layout.envs, "steps": layout.steps, "fragment": layout.steps}
    batch = {"batch": layout.batch, "asked": layout.batch, "epochs": layout.epochs}
    sizes = replace(reading.sizes, **shape, **batch)
    if reading.total is not None and reading.rules.total == "steps_per_env":
        reading = replace(reading, total=reading.total * reading.sizes.envs // layout.envs)
    if same_minibatch:
        return replace(reading, sizes=sizes)
    sizes = replace(sizes, minibatch=layout.minibatch, minibatches=0)
    return replace(reading, sizes=sizes, cut=Cut(((layout.minibatch, layout.minibatches),)))


def _reaches(reading: Reading, change: Mapping[str, Any], wanted: Reading) -> bool:
    found = reread(reading, change)
    return found is not None and _essence(found) == _essence(wanted)


def _essence(reading: Reading) -> tuple[int | None, ...]:
    """Return what decides an update, and how many updates there are."""
    size = reading.sizes
    return size.batch, size.fragment, reading.minibatch, size.epochs, reading.updates


def _needed(reading: Reading, change: Values, wanted: Reading) -> Values:
    """Drop the settings that a change does not need."""
    for key in list(change):
        less = {other: value for other, value in change.items() if other != key}
        if _reaches(reading, less, wanted):
            change = less
    return change
