"""Refusals: why a library would stop with some settings, in words."""

from collections.abc import Mapping
from math import prod
from typing import Any

from nbyt.dialects.cut import Cut
from nbyt.dialects.dialect import Check
from nbyt.dialects.sizes import BatchSizes, Source


def refusals(source: Source, size: BatchSizes, pieces: Cut | None) -> tuple[str, ...]:
    """Why the library would stop, in words; nothing if it would not."""
    rules, library = source.rules, source.dialect.library
    found = [_check(source, size, check) for check in source.dialect.checks]
    if size.minibatch < rules.least_minibatch and size.minibatch >= 1:
        found.append(f"{library} refuses mini-batches of {size.minibatch}: nothing to normalise")
    if rules.minibatch_within_batch and size.minibatch > size.batch:
        found.append(
            f"{library} refuses a mini-batch of {size.minibatch} from {size.batch} samples"
        )
    if rules.collect == "spread" and source.known("steps") and size.batch > 1.1 * size.asked:
        found.append(
            f"{library} refuses fragments of {size.fragment}: {size.envs} envs then give "
            f"{size.batch} samples, over 10 % more than asked"
        )
    if pieces is None:
        found.append(_does_not_split(source, size))
    return tuple(reason for reason in found if reason)


def _does_not_split(source: Source, size: BatchSizes) -> str:
    """Why a batch could not be cut."""
    if size.minibatch < 1:
        return f"{size.minibatches} mini-batches of {size.batch} samples would be empty"
    wanted = (
        f"{size.minibatches} mini-batches" if size.minibatches else f"pieces of {size.minibatch}"
    )
    said = f"{size.batch} samples do not split into {wanted}"
    if source.rules.ragged == "unread":
        return f"{said}; what {source.dialect.library} does then was not read in its code"
    return f"{said}: {source.dialect.library} stops with {source.rules.ragged_says}"


def _check(source: Source, size: BatchSizes, check: Check) -> str:
    """What one demand of the library says about these sizes; empty if it is met."""
    values: Mapping[str, Any] = {**size.as_dict(), **source.values}
    if any(values.get(key) != value for key, value in check.when.items()):
        return ""
    # A size that fell away (no N where N does not matter) has nothing to divide.
    if any(values.get(key) is None for key in (*check.of, *check.by)):
        return ""
    whole, part = (prod(int(values[key]) for key in keys) for keys in (check.of, check.by))
    if whole % part == 0:
        return ""
    total, share = (" x ".join(keys) for keys in (check.of, check.by))
    library = source.dialect.library
    return f"{library} stops: {total} = {whole} is no multiple of {share} = {part}"
