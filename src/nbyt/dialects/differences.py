"""What is not the same after a translation: losses of the layout, rules, and how it learns."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from nbyt.dialects import vocabulary
from nbyt.dialects.describing import pieces
from nbyt.dialects.dialect import Dialect, Rules
from nbyt.dialects.learning import MEANING, OFF, Part, is_same, parts, parts_of, theirs_of, written
from nbyt.dialects.reading import Reading
from nbyt.dialects.solving import Values
from nbyt.dialects.vocabulary import PROCESSES

LOST = "lost"
LEFT = "left"
DIFFERS = "differs"
SET = "set"


@dataclass(frozen=True)
class Difference:
    """One difference; `loss` is True if the layout itself is not the same.

    kind: lost, of the layout; left, a setting that the target does not have; differs, a rule that
    is not the same; set, a default that differs and is written out. matters: False for a rule
    that has nothing to rule here.
    """

    code: str
    message: str
    loss: bool
    kind: str = DIFFERS
    matters: bool = True

    def as_dict(self) -> dict[str, Any]:
        """Return the fields of the JSON output."""
        named = ("code", "message", "loss", "kind")
        return {name: getattr(self, name) for name in named}


def differences(source: Reading, target: Reading) -> tuple[Difference, ...]:
    """List what could not be made equal, losses first."""
    losses = [*_sizes(source, target), _minibatches(source, target), _updates(source, target)]
    lost = [replace(one, kind=LOST) for one in losses if one]
    others = [compare(source, target) for compare in _RULES]
    return (*lost, *(one for one in others if one))


def same_minibatches(one: Reading, other: Reading) -> bool:
    """Return True if an update of both is cut into the same mini-batches."""
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
        "batch": f": {vocabulary.COLLECT[target.rules.collect]}",
    }
    return reasons.get(word, "")


def _minibatches(source: Reading, target: Reading) -> Difference | None:
    if same_minibatches(source, target):
        return None
    span = {True: "an update", False: "an epoch"}
    have, get = (f"{pieces(one.cut)} {span[one.cut.whole_update]}" for one in (source, target))
    why = f"{target.dialect.library}: {vocabulary.RAGGED[target.rules.ragged]}"
    if target.refusals:
        get = "; ".join(target.refusals)
    elif len(target.dialect.words.get("minibatch", ())) > 1:
        why = (
            f"{target.dialect.key('minibatch')} counts shares of a mini-batch, which must be whole"
        )
    return Difference("minibatches", f"mini-batches: {have} become {get} ({why})", True)


def _updates(source: Reading, target: Reading) -> Difference | None:
    have, get = source.updates, target.updates
    if have is None or have == get:
        return None
    if get is None:
        message = f"the run: {target.dialect.library} has no setting for its {have:,} updates"
        return Difference("updates", message, True)
    return Difference("updates", f"the run: {have:,} updates become {get:,}", True)


def _mixing(source: Reading, target: Reading) -> Difference | None:
    one, other = (
        vocabulary.sentence_of_mixing(each.rules.mixing, reshuffle=each.rules.reshuffle)
        for each in (source, target)
    )
    return _rule("mixing", source, target, one, other)


def _ragged(source: Reading, target: Reading) -> Difference | None:
    """Compare the rules for a remainder, which matter as soon as sizes leave one."""
    one, other = vocabulary.RAGGED[source.rules.ragged], vocabulary.RAGGED[target.rules.ragged]
    found = _rule("ragged", source, target, one, other)
    if found and source.is_even and target.is_even:
        return replace(found, message=f"{found.message} (there is none here)", matters=False)
    return found


def _stated(code: str, words: Mapping[str, str]) -> Callable[[Reading, Reading], Difference | None]:
    def compare(source: Reading, target: Reading) -> Difference | None:
        one, other = (words[getattr(each.rules, code)] for each in (source, target))
        return _rule(code, source, target, one, other)

    return compare


def _rule(code: str, source: Reading, target: Reading, one: str, other: str) -> Difference | None:
    """Describe a rule that differs, with both libraries named; None if it is the same."""
    if one == other:
        return None
    name = {"ragged": "remainder", "time_limits": "time limits", "normalise": "advantages"}
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
        return Difference(f"{word}_default", message, False, SET)

    return compare


def _per_process(source: Reading, target: Reading) -> Difference | None:
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
    keys = reading.dialect.words.get("minibatch", ())[1:]
    counts = [reading.settings.values.get(key, 1) for key in keys if key in PROCESSES]
    return max([1, *counts])


_RULES: tuple[Callable[[Reading, Reading], Difference | None], ...] = (
    _mixing,
    _ragged,
    _stated("normalise", vocabulary.NORMALISE),
    _stated("time_limits", vocabulary.TIME_LIMITS),
    _default("lam", "lambda"),
    _default("gamma", "gamma"),
    _per_process,
)


def learning_differences(source: Reading, target: Dialect) -> tuple[Values, list[Difference]]:
    """Return the settings that make a target learn in the same way, and what they cannot reach."""
    have, values, found = parts_of(source), dict[str, Any](), list[Difference]()
    own = parts(target, {})
    for name, part in have.items():
        # The target as it is by now: its value clipping may follow the clip range.
        if part.value is None or is_same(part.value, parts(target, values)[name].value):
            continue
        change = written(target, name, have)
        values |= change or {}
        one = _learning(source, target, name, change)
        if one:
            found.append(one)
    found += [Difference(name, _unread(source, name), False) for name in _unknown(have, own)]
    return values, [*found, *_apart(source.dialect, LEFT), *_apart(target, DIFFERS)]


def _learning(
    source: Reading, target: Dialect, name: str, change: Values | None
) -> Difference | None:
    """Say how a part of learning that is not the target's own is carried, or that it is left."""
    part, own = parts_of(source)[name], parts(target, {})[name]
    meaning, value = MEANING[name], part.value
    if change is None:
        has = _has(target, name, own)
        return Difference(
            name, f"{meaning}: {_does(source, name, value)}; {target.library} {has}", False, LEFT
        )
    if own.value is None or is_same(value, own.value):
        return None
    text = " ".join(f"{key}={one}" for key, one in change.items())
    message = (
        f"{meaning}: {target.library} has {_shown(theirs_of(target, name, own.value))} by default; "
        f"{text} is written out"
    )
    return Difference(name, message, False, SET)


def _does(source: Reading, name: str, value: Any) -> str:
    library = source.dialect.library
    if name == "target_kl" and value != OFF:
        epochs = source.sizes.epochs
        return (
            f"{library} stops the epochs of an update at a KL of {_shown(value)}, so that its "
            f"{epochs} epochs are a limit and not a number"
        )
    return f"{library} has {_shown(value)}"


def _has(target: Dialect, name: str, own: Part) -> str:
    if name == "target_kl":
        return "has no such stop: all of them are run"
    if own.value is None:
        return "was not read there"
    known = _shown(theirs_of(target, name, own.value))
    return f"has {known}, {'which cannot be set to it' if own.key else 'and no setting for it'}"


def _shown(value: Any) -> str:
    return (
        "none" if value in (OFF, None) else f"{value:g}" if isinstance(value, float) else str(value)
    )


def _unknown(have: Mapping[str, Part], own: Mapping[str, Part]) -> list[str]:
    return [
        name for name, part in have.items() if part.value is None and own[name].value is not None
    ]


def _unread(source: Reading, name: str) -> str:
    return f"{MEANING[name]}: not read in {source.dialect.library}'s code; compare it by hand"


def _apart(dialect: Dialect, kind: str) -> list[Difference]:
    return [Difference("apart", f"{dialect.library}: {one}", False, kind) for one in dialect.apart]


def switched(source: Reading, target: Dialect) -> dict[str, bool | int]:
    """Return the switches of a target that give it rules of the source, such as normalisation."""
    sizes = {key for keys in target.words.values() for key in keys}
    return {
        switch.key: switch.value
        for switch in target.switches
        if switch.key not in sizes and _brings_nearer(source.rules, target.rules, switch.rules)
    }


def _brings_nearer(have: Rules, own: Rules, change: Mapping[str, Any]) -> bool:
    rules = {name: value for name, value in change.items() if name != "least_minibatch"}
    same = all(getattr(have, name) == value for name, value in rules.items())
    return same and any(getattr(own, name) != value for name, value in rules.items())


def switch_differences(target: Dialect, switches: Mapping[str, Any]) -> list[Difference]:
    """Say which switches are written out."""
    return [
        Difference(
            "switch",
            f"{key}={value} is written out: {target.library} has another default",
            False,
            SET,
        )
        for key, value in switches.items()
    ]
