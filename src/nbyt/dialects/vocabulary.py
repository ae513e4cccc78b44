"""Words that a library does not know: whose they are, and what it says instead."""

from collections.abc import Sequence
from difflib import get_close_matches

from nbyt.dialects.dialect import Dialect, every
from nbyt.errors import DialectError

MEANING = {
    "envs": "the number of envs",
    "steps": "the steps of each env",
    "fragment": "the steps over which advantages are computed",
    "batch": "the size of the batch",
    "minibatch": "the size of a mini-batch",
    "minibatches": "the number of mini-batches",
    "epochs": "the passes over the batch",
    "total": "the length of the run",
    "evaluation": "the steps between evaluations",
    "gamma": "the discount",
    "lam": "lambda",
    "learning_rate": "the learning rate",
    "updates": "the number of updates",
}
_INSTEAD = {
    "steps": ("steps", "fragment", "batch"),
    "fragment": ("fragment", "steps", "batch"),
    "batch": ("batch", "steps", "fragment"),
    "minibatch": ("minibatch", "minibatches"),
    "minibatches": ("minibatches", "minibatch"),
}


def unknown_key(dialect: Dialect, strange: Sequence[str]) -> DialectError:
    """The refusal of names that the library does not have, each with the nearest it has."""
    answers = [_answer(dialect, name) for name in dict.fromkeys(strange)]
    return DialectError(
        "; ".join(message for message, _ in answers),
        where=f"settings of {dialect.id}",
        fix="; ".join(fix for _, fix in answers),
    )


def _answer(dialect: Dialect, name: str) -> tuple[str, str]:
    """What is wrong with a name, and what to do."""
    if dialect.replay and name in dialect.replay.keys:
        agent = dialect.replay.algorithm
        return f"{name} is a word of {dialect.library}'s {agent}, not of its PPO", "leave it out"
    owners = [other for other in every() if name in other.keys or name in other.aliases]
    roles = [other.role(other.aliases.get(name, name)) for other in owners]
    meant = [(owner, role) for owner, role in zip(owners, roles, strict=True) if role]
    if meant:
        return _foreign(dialect, name, meant)
    near = get_close_matches(name, [*dialect.keys, *dialect.aliases], n=1, cutoff=0.6)
    own = f"its words: {', '.join(dialect.keys)}"
    fix = f"did you mean {near[0]}?" if near else own
    return f"{dialect.library} has no setting '{name}'", fix


def _foreign(dialect: Dialect, name: str, meant: list[tuple[Dialect, str]]) -> tuple[str, str]:
    """A name of other libraries, preferably in a role that this library has a word for."""
    role = next((role for _, role in meant if _own_word(dialect, role)), meant[0][1])
    libraries = list(dict.fromkeys(owner.library for owner, its in meant if its == role))
    # One that spells most of its words alike comes first, so that the reader recognises it.
    libraries.sort(key=lambda library: (library not in ("CleanRL", "Stable-Baselines3"), library))
    also = f" (also of {', '.join(libraries[1:3])})" if libraries[1:] else ""
    said = f"{name} is {libraries[0]}'s word{also} for {MEANING[role]}"
    own = _own_word(dialect, role)
    if not own:
        return f"{said}; {dialect.library} has none", "leave it out"
    found = dialect.role(own)
    other = "" if found == role else f" for {MEANING[found]}"
    return f"{said}; {dialect.library} says {own}{other}", f"write {own}= for {name}="


def _own_word(dialect: Dialect, role: str) -> str:
    words = _INSTEAD.get(role, (role,))
    return next((dialect.key(word) for word in words if dialect.key(word)), "")
