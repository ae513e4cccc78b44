"""Traps: settings that fail, or do not do what one would expect; one function per trap."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from nbyt.dialects.reading import Reading, reread
from nbyt.dialects.solving import nearest_settings, with_chosen_names
from nbyt.dialects.vocabulary import MIXING, ONE_SAMPLE, PROCESSES

FEW_UPDATES = 10
CODES = (
    "refused",
    "nothing_trained",
    "size_one",
    "no_update",
    "tail_dropped",
    "short_tail",
    "tiny_tail",
    "minibatch_larger",
    "wraps",
    "tail_merged",
    "uneven_envs",
    "uneven_sizes",
    "short_run",
    "long_run",
    "unshuffled",
    "first_pass_unshuffled",
    "blocks",
    "same_permutation",
    "per_process",
    "unusual_default",
)
_TINY = 0.25


@dataclass(frozen=True)
class Trap:
    """A warning about a run: what happens, what to change, and to which values.

    fix: empty where sizes that divide help: `traps` finds the nearest.
    """

    code: str
    message: str
    fix: str = ""
    nearest: tuple[dict[str, Any], ...] = field(default=())

    def as_dict(self) -> dict[str, Any]:
        """Return the fields of the JSON output."""
        return {**vars(self), "nearest": list(self.nearest)}


def traps(reading: Reading) -> tuple[Trap, ...]:
    """Return every trap that applies, the worst first."""
    tried = [trap(reading) for trap in (_REFUSED if reading.refusals else _ALL)]
    found = [trap for trap in tried if trap]
    if all(trap.fix for trap in found):
        return tuple(found)
    near = tuple(nearest_settings(reading))
    fix = _offer(near) or "choose sizes that divide"
    return tuple(trap if trap.fix else replace(trap, fix=fix, nearest=near) for trap in found)


def _offer(near: tuple[dict[str, Any], ...]) -> str:
    """Write the nearest values in words: key=below or above, or another key."""
    by_key: dict[str, list[str]] = {}
    for change in near:
        for key, value in change.items():
            by_key.setdefault(key, []).append(str(value))
    return "; or ".join(f"{key}={' or '.join(values)}" for key, values in by_key.items())


def _refused(reading: Reading) -> Trap:
    return Trap("refused", "; ".join(reading.refusals))


def _nothing_trained(reading: Reading) -> Trap | None:
    if reading.cut.count:
        return None
    size = reading.sizes
    message = (
        f"a mini-batch of {size.minibatch} is larger than the batch of {size.batch}: "
        f"{reading.dialect.library} makes no gradient step at all"
    )
    return Trap("nothing_trained", message)


def _no_update(reading: Reading) -> Trap | None:
    if reading.updates != 0:
        return None
    size = reading.sizes
    return Trap(
        "no_update",
        f"the run of {reading.total_steps} steps is shorter than one batch of {size.batch}: "
        f"{reading.dialect.library} makes no update",
        _long_enough(reading),
    )


def _short_run(reading: Reading) -> Trap | None:
    updates = reading.updates
    if not updates or updates >= FEW_UPDATES:
        return None
    size = reading.sizes
    return Trap(
        "short_run",
        f"the run is only {updates} batch{'es' if updates > 1 else ''} of {size.batch} samples: "
        "it ends before it has learned much",
        f"{_long_enough(reading)}, or a smaller batch",
    )


def _long_enough(reading: Reading) -> str:
    """Suggest a length with enough updates, in the library's own unit if one setting holds it."""
    size, keys = reading.sizes, reading.dialect.words["total"]
    units = {"steps": size.batch, "steps_per_env": size.steps, "updates": 1}
    if len(keys) > 1:
        return f"ask for at least {FEW_UPDATES * size.batch} steps"
    return f"{keys[0]}={FEW_UPDATES * units[reading.rules.total]} or more"


def _long_run(reading: Reading) -> Trap | None:
    """Warn that rounding up between evaluations can double a run."""
    if not _is_stretched(reading):
        return None
    key, batch, total = reading.dialect.key("evaluation"), reading.sizes.batch, reading.total_steps
    steps = (reading.updates or 0) * batch
    near = batch * max(1, round((reading.evaluation or 1) / batch))
    # As often as there are updates, if the total is not a multiple of the nearest.
    changed = [(value, reread(reading, {key: value})) for value in (near, batch)]
    good = [f"{key}={value}" for value, found in changed if found and not _is_stretched(found)]
    return Trap(
        "long_run",
        f"{key}={reading.evaluation} is not a multiple of the batch of {batch}: the run "
        f"takes {steps} steps, not {total}",
        good[0] if good else f"{key}={batch} and {_long_enough(reading)}",
    )


def _is_stretched(reading: Reading) -> bool:
    """Return True if evaluations make a run at least a tenth longer than asked for."""
    updates, total = reading.updates, reading.total_steps
    if reading.rules.updates != "by_evaluation" or not updates or not total:
        return False
    return updates * reading.sizes.batch >= 1.1 * total


def _larger_than_batch(reading: Reading) -> Trap | None:
    size = reading.sizes
    if size.minibatch <= size.batch or not reading.cut.count:
        return None
    message = (
        f"a mini-batch of {size.minibatch} is larger than the batch of {size.batch}: "
        "each epoch is one gradient step on the whole batch"
    )
    return Trap("minibatch_larger", message)


def _one_sample(reading: Reading) -> Trap | None:
    if not reading.cut.count or reading.cut.smallest > 1 or reading.rules.normalise != "minibatch":
        return None
    effect = ONE_SAMPLE[reading.rules.one_sample]
    message = f"a mini-batch holds one sample and advantages are normalised over it: {effect}"
    return Trap("size_one", message)


def _short_tail(reading: Reading) -> Trap | None:
    runs = reading.cut.runs
    if reading.rules.ragged not in ("keep_short", "extra_short") or len(runs) < 2:
        return None
    size, _ = runs[-1]
    tiny = size < _TINY * reading.minibatch
    extra = "an extra" if reading.rules.ragged == "extra_short" else "the last"
    message = (
        f"{extra} mini-batch of each epoch has {size} samples, not {reading.minibatch}: a "
        f"{'much ' if tiny else ''}noisier gradient step at the same learning rate"
    )
    return Trap("tiny_tail" if tiny else "short_tail", message)


def _tail_dropped(reading: Reading) -> Trap | None:
    if not reading.cut.left_out or not reading.cut.count:
        return None
    share = reading.cut.left_out / reading.sizes.batch
    which = "other ones each epoch" if reading.rules.reshuffle else "the same ones in every epoch"
    message = (
        f"{reading.cut.left_out} of {reading.sizes.batch} samples ({share:.1%}) are not used, "
        f"{which}, and {reading.dialect.library} says {reading.rules.ragged_says} of it"
    )
    return Trap("tail_dropped", message)


def _tail_merged(reading: Reading) -> Trap | None:
    if reading.rules.ragged != "merge_last" or len(reading.cut.runs) < 2:
        return None
    size, _ = reading.cut.runs[-1]
    message = f"the last mini-batch of each epoch takes the rest and has {size} samples"
    return Trap("tail_merged", message)


def _wraps(reading: Reading) -> Trap | None:
    size = reading.sizes
    if not reading.cut.whole_update or size.batch % size.minibatch == 0:
        return None
    if reading.rules.ragged == "floor_count":
        message = f"{size.batch} samples do not fill whole mini-batches: the count is floored"
    else:
        message = (
            f"{size.batch / size.minibatch:g} mini-batches fit a pass: the last of each pass is "
            "filled from the next, so passes run into each other"
        )
    return Trap("wraps", message)


def _uneven_split(reading: Reading) -> Trap | None:
    if reading.rules.ragged != "even_split" or len(reading.cut.runs) < 2:
        return None
    message = "mini-batches differ by one sample; nothing is lost, but shapes change"
    return Trap("uneven_sizes", message)


def _uneven_envs(reading: Reading) -> Trap | None:
    size, dialect = reading.sizes, reading.dialect
    if _shares_evenly(reading):
        return None
    message = (
        f"{size.envs} envs do not share a batch of {size.asked} evenly: "
        f"the real batch is {size.batch}"
    )
    near = tuple(_shared_batches(reading))
    fix = _offer(near) or f"choose {dialect.key('envs')} so that it divides"
    return Trap("uneven_envs", message, fix, near)


def _shared_batches(reading: Reading) -> list[dict[str, Any]]:
    size, keys = reading.sizes, with_chosen_names(reading).words["batch"]
    if len(keys) > 1 or reading.rules.collect == "fragments":
        return []
    rounds = size.envs * size.fragment
    tried = {size.asked // size.envs * size.envs, size.asked // rounds * rounds}
    changes = [{keys[0]: batch} for batch in sorted(tried | {size.envs * size.steps}) if batch]
    return [change for change in changes if _shares_evenly(reread(reading, change))]


def _shares_evenly(reading: Reading | None) -> bool:
    return reading is not None and (
        reading.sizes.envs * reading.sizes.steps == reading.sizes.batch == reading.sizes.asked
    )


def _unshuffled(reading: Reading) -> Trap | None:
    mixing = reading.rules.mixing
    if mixing not in ("shuffle_cyclic", "in_order") or reading.minibatch == reading.sizes.batch:
        return None
    code = "first_pass_unshuffled" if mixing == "shuffle_cyclic" else "unshuffled"
    fix = (
        "more passes make the first one matter less"
        if mixing == "shuffle_cyclic"
        else _switched(reading, mixing)
    )
    return Trap(code, MIXING[mixing], fix)


def _switched(reading: Reading, mixing: str) -> str:
    """Name the settings that caused a way of mixing, each at a value that does not."""
    values = reading.settings.values
    switches = [one for one in reading.dialect.switches if one.rules.get("mixing") == mixing]
    active = [one for one in switches if values.get(one.key) == one.value]
    return " ".join(f"{one.key}={_other_value(one.value)}" for one in active)


def _other_value(value: bool | int) -> str:
    return str(not value).lower() if isinstance(value, bool) else str(value + 1)


def _blocks(reading: Reading) -> Trap | None:
    mixing = reading.rules.mixing
    correlated = mixing in ("block_order", "env_blocks", "slices", "unrolls")
    if not correlated or reading.minibatch == reading.sizes.batch:
        return None
    fix = _shuffled(reading) or _whole_batch(reading)
    return Trap("blocks", f"{MIXING[mixing]}: the samples of a mini-batch are alike", fix)


def _shuffled(reading: Reading) -> str:
    """Name a switch of the library that shuffles samples; empty if it has none."""
    switches = [one for one in reading.dialect.switches if one.rules.get("mixing") == "shuffle"]
    return " ".join(f"{one.key}={str(one.value).lower()}" for one in switches)


def _whole_batch(reading: Reading) -> str:
    """Offer one mini-batch of the whole batch, where the batch stays what it is."""
    size, values = reading.sizes, reading.settings.values
    other = f"{reading.dialect.library} cannot shuffle samples; another library can"
    sizes = {"minibatch": size.batch, "minibatches": 1}
    for word, wanted in sizes.items():
        key = with_chosen_names(reading).words.get(word, ("",))[0]
        found = reread(reading, {key: wanted}) if key in values else None
        if found is not None and found.minibatch == found.sizes.batch == size.batch:
            return f"{key}={wanted} takes the whole batch at once; {other}"
    return other


def _same_permutation(reading: Reading) -> Trap | None:
    rules = reading.rules
    if rules.mixing != "shuffle" or rules.reshuffle or reading.sizes.epochs == 1:
        return None
    message = "all epochs of an update see the same mini-batches: they are shuffled only once"
    fix = f"{reading.dialect.key('epochs')}=1; {reading.dialect.library} has no setting for it"
    return Trap("same_permutation", message, _shuffled(reading) or fix)


def _per_process(reading: Reading) -> Trap | None:
    keys = reading.dialect.words.get("minibatch", ())
    values = reading.settings.values
    processes = [key for key in keys[1:] if key in PROCESSES]
    if not processes or values[processes[0]] <= 1:
        return None
    count, own = values[processes[0]], values[keys[0]]
    share = max(own // count, 1)
    return Trap(
        "per_process",
        f"{keys[0]}={own} is the share of each of {count} processes: a gradient step averages over "
        f"{own * count} samples",
        f"for {share * count} samples in all, {keys[0]}={share}",
    )


def _unusual_default(reading: Reading) -> Trap | None:
    usual = {"lam": 0.95, "gamma": 0.99}
    filled = reading.settings.filled
    odd = [
        (reading.dialect.key(word), value)
        for word, value in usual.items()
        if filled.get(reading.dialect.key(word), value) != value
    ]
    if not odd:
        return None
    named = " and ".join(f"{key}={filled[key]}" for key, _ in odd)
    fix = " ".join(f"{key}={value}" for key, value in odd)
    return Trap(
        "unusual_default", f"{named} by default, unlike most libraries", f"{fix}, if meant so"
    )


_REFUSED: tuple[Callable[[Reading], Trap | None], ...] = (_refused, _unusual_default)
_ALL: tuple[Callable[[Reading], Trap | None], ...] = (
    _nothing_trained,
    _one_sample,
    _no_update,
    _tail_dropped,
    _short_tail,
    _larger_than_batch,
    _wraps,
    _tail_merged,
    _uneven_envs,
    _uneven_split,
    _short_run,
    _long_run,
    _unshuffled,
    _blocks,
    _same_permutation,
    _per_process,
    _unusual_default,
)
