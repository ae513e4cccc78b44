"""What is not the same in two libraries that were given the same layout, and why."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from nbyt.dialects import rules as said
from nbyt.dialects.describing import pieces
from nbyt.dialects.reading import Reading
from nbyt.dialects.rules import PROCESSES


@dataclass(frozen=True)
class Difference:
    """One thing that differs; `loss` says that the layout itself is not the same."""

    code: str
    message: str
    loss: bool

    def as_dict(self) -> dict[str, Any]:
        """The fields of JSON output."""
        return {"code": self.code, "message": self.message, "loss": self.loss}


def differences(source: Reading, target: Reading) -> tuple[Difference, ...]:
    """What could not be made equal, losses first."""
    losses = [*_sizes(source, target), _minibatches(source, target), _updates(source, target)]
    others = [compare(source, target) for compare in _RULES]
    return tuple(one for one in (*losses, *others) if one)


def same_minibatches(one: Reading, other: Reading) -> bool:
    """Whether an update of both is cut into the same mini-batches."""
    return one.cut.signature(one.sizes.epochs) == other.cut.signature(other.sizes.epochs)


def _sizes(source: Reading, target: Reading) -> list[Difference]:
    have, get = source.sizes.as_dict(), target.sizes.as_dict()
    words = ("envs", "steps", "fragment", "batch", "epochs")
    changed = [word for word in words if have[word] != get[word]]
    return [
        Difference(word, f"{word}: {have[word]:,} becomes {get[word]:,}{_why(word, target)}", True)
        for word in changed
    ]


def _why(word: str, target: Reading) -> str:
    library = target.dialect.library
    if target.rules.fixed_envs:
        return f": {library} has one env, so that its rollout is as long as the batch"
    reasons = {
        "fragment": f": {library} computes advantages over {target.sizes.fragment:,} steps",
        "batch": f": {said.COLLECT[target.rules.collect]}",
    }
    return reasons.get(word, "")


def _minibatches(source: Reading, target: Reading) -> Difference | None:
    if same_minibatches(source, target):
        return None
    have, get = (f"{pieces(one.cut)} {_span(one)}" for one in (source, target))
    why = f"{target.dialect.library}: {said.RAGGED[target.rules.ragged]}"
    if target.refusals:
        get = "; ".join(target.refusals)
    elif len(target.dialect.words.get("minibatch", ())) > 1:
        why = (
            f"{target.dialect.key('minibatch')} counts shares of a mini-batch, which must be whole"
        )
    return Difference("minibatches", f"mini-batches: {have} become {get} ({why})", True)


def _span(reading: Reading) -> str:
    return "an update" if reading.cut.whole_update else "an epoch"


def _updates(source: Reading, target: Reading) -> Difference | None:
    have, get = source.updates, target.updates
    if have is None or have == get:
        return None
    if get is None:
        message = f"the run: {target.dialect.library} has no word for its {have:,} updates"
        return Difference("updates", message, True)
    return Difference("updates", f"the run: {have:,} updates become {get:,}", True)


def _mixing(source: Reading, target: Reading) -> Difference | None:
    one, other = (
        said.sentence_of_mixing(each.rules.mixing, reshuffle=each.rules.reshuffle)
        for each in (source, target)
    )
    return _rule("mixing", source, target, one, other)


def _ragged(source: Reading, target: Reading) -> Difference | None:
    """The rule for a rest; it shows as soon as sizes change so that there is one."""
    one, other = said.RAGGED[source.rules.ragged], said.RAGGED[target.rules.ragged]
    found = _rule("ragged", source, target, one, other)
    if found and source.is_even and target.is_even:
        return Difference(found.code, f"{found.message} (there is none here)", False)
    return found


def _normalise(source: Reading, target: Reading) -> Difference | None:
    one, other = (said.NORMALISE[each.rules.normalise] for each in (source, target))
    return _rule("normalise", source, target, one, other)


def _time_limits(source: Reading, target: Reading) -> Difference | None:
    one, other = (said.TIME_LIMITS[each.rules.time_limits] for each in (source, target))
    return _rule("time_limits", source, target, one, other)


def _rule(code: str, source: Reading, target: Reading, one: str, other: str) -> Difference | None:
    """A rule that differs, with both libraries named; nothing if both follow the same."""
    if one == other:
        return None
    name = {"ragged": "a rest", "time_limits": "time limits", "normalise": "advantages"}
    message = f"{name.get(code, code)}: {source.dialect.library}: {one}. "
    return Difference(code, f"{message}{target.dialect.library}: {other}", False)


def _default(word: str, name: str) -> Callable[[Reading, Reading], Difference | None]:
    def compare(source: Reading, target: Reading) -> Difference | None:
        have = source.settings.values.get(source.dialect.key(word))
        key = target.dialect.key(word)
        own = target.dialect.defaults.get(key)
        if have is None or own is None or own == have:
            return None
        message = (
            f"{name}: {target.dialect.library} takes {key}={own} by default; {have} is written out"
        )
        return Difference(f"{word}_default", message, False)

    return compare


def _per_process(source: Reading, target: Reading) -> Difference | None:
    """A mini-batch that is given as the share of each process, on one side only."""
    shares = [(_processes(one), one) for one in (source, target)]
    sharing = [(count, one) for count, one in shares if count > 1]
    if len(sharing) != 1:
        return None
    count, one = sharing[0]
    key = one.dialect.key("minibatch")
    message = (
        f"processes: {key}={one.settings.values[key]} is the share of each of {count} processes in "
        f"{one.dialect.library}; all together make the mini-batch of {one.minibatch}"
    )
    return Difference("per_process", message, False)


def _processes(reading: Reading) -> int:
    """Over how many processes a mini-batch is spread."""
    keys = reading.dialect.words.get("minibatch", ())[1:]
    counts = [reading.settings.values.get(key, 1) for key in keys if key in PROCESSES]
    return max([1, *counts])


_RULES: tuple[Callable[[Reading, Reading], Difference | None], ...] = (
    _mixing,
    _ragged,
    _normalise,
    _time_limits,
    _default("lam", "lambda"),
    _default("gamma", "gamma"),
    _per_process,
)
