"""The nearest settings that leave no rest: one setting is changed, the others stay."""

from typing import Any

from nbyt.dialects.reading import Reading, reread
from nbyt.layout import nearest_divisors

_NEAR = 200
_ORDER = ("minibatch", "minibatch_or", "minibatches", "steps", "fragment", "batch", "envs")


def nearest_settings(reading: Reading) -> list[dict[str, Any]]:
    """Changes of one setting each after which the batch divides: the next below and above."""
    keys = [reading.dialect.key(word) for word in _ORDER]
    values = reading.settings.values
    usable = [key for key in dict.fromkeys(keys) if isinstance(values.get(key), int)]
    found = [(key, value) for key in usable for value in _nearest(reading, key, values[key])]
    close = [(key, value) for key, value in found if values[key] <= 2 * value <= 4 * values[key]]
    return [{key: value} for key, value in close or found]


def _nearest(reading: Reading, key: str, value: int) -> list[int]:
    """The nearest good values of one setting, one on each side."""
    far = {value * 2**power for power in range(1, 11)} | {
        value // 2**power for power in range(1, 11)
    }
    exact = (
        set(nearest_divisors(reading.sizes.batch, value)) if reading.sizes.batch < 10**9 else set()
    )
    near = set(range(max(value - _NEAR, 1), value + _NEAR))
    tried = sorted((near | far | exact) - {0, value}, key=lambda number: abs(number - value))
    below = next((n for n in tried if n < value and _is_good(reading, key, n)), None)
    above = next((n for n in tried if n > value and _is_good(reading, key, n)), None)
    return [number for number in (below, above) if number is not None]


def _is_good(reading: Reading, key: str, value: int) -> bool:
    found = reread(reading, {key: value})
    return found is not None and found.is_even and found.minibatch > 1
