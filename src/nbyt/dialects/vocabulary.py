"""Meanings of words and rules, and what to say about a word that a library does not know."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from nbyt.dialects.dialect import Dialect, every
from nbyt.errors import DialectError

RAGGED = {
    "keep_short": "kept as a short last mini-batch",
    "extra_short": "made into one extra, tiny mini-batch",
    "drop": "dropped",
    "merge_last": "merged into the last mini-batch",
    "wrap": "filled up from the next pass, so that all mini-batches are full",
    "floor_count": "left to later draws: the number of mini-batches is rounded down",
    "even_split": "spread, so that sizes differ by at most one sample",
    "error": "refused: the batch must divide",
    "full_batch": "none: each gradient step takes the whole batch",
    "unread": "not read in its code",
}

MIXING = {
    "shuffle": "samples of all envs and times are shuffled, then chopped",
    "shuffle_cyclic": "the first pass is in order, episode after episode; later ones are shuffled",
    "in_order": "never shuffled: mini-batches are pieces of episodes in order",
    "block_order": "contiguous blocks of time; only the order of the blocks is shuffled",
    "env_blocks": "fixed blocks of whole env rollouts, never shuffled",
    "slices": "fixed contiguous slices of rollouts, never shuffled",
    "unrolls": "whole unrolls are shuffled; the steps of one stay together",
    "prioritised": "whole fragments drawn by the size of their advantages; some repeat, some wait",
    "whole": "nothing to mix: the whole batch at once",
    "unread": "not read in its code",
}

NORMALISE = {
    "minibatch": "normalised over each mini-batch",
    "batch": "normalised over the whole batch",
    "process": "normalised over the batch of each process",
    "none": "not normalised",
    "either": "normalised over the batch or the mini-batch, as it is set up",
    "unread": "not read in its code",
}

TIME_LIMITS = {
    "bootstrap": "bootstrapped with the critic's value",
    "terminal": "treated as a termination: no bootstrap",
    "unread": "not read in its code",
}

COLLECT = {
    "per_env": "steps are counted per env: more envs make a larger batch",
    "total_up": "the batch is set as a total: more envs make fewer steps each, rounded up",
    "total_down": "the batch is set as a total: more envs make fewer steps each, rounded down",
    "spread": "the batch is set as a total: more envs make fewer steps each",
    "fragments": "the batch does not depend on the envs: more envs make fewer steps each",
}

UPDATES = {
    "floor": "whole updates only",
    "ceil": "until the total is reached",
    "by_evaluation": "each stretch between evaluations is rounded up to whole updates",
    "unread": "until the total is reached, more or less: not read in its code",
}

# Settings that count processes, each of which takes its own share of a mini-batch.
PROCESSES = ("processes", "num_learners")

ONE_SAMPLE = {
    "nan": "its standard deviation, and so the loss, is NaN",
    "zero": "its normalised advantage is zero, so it teaches the policy nothing",
    "raw": "it is left as it is",
}

TOTAL = {
    "steps": "steps of all envs together",
    "steps_per_env": "steps of each env",
    "updates": "updates",
}


def sentence_of_mixing(mixing: str, *, reshuffle: bool) -> str:
    """Say how mini-batches are mixed, and whether each epoch is mixed again."""
    if mixing not in ("shuffle", "unrolls", "block_order"):
        return MIXING[mixing]
    again = "again each epoch" if reshuffle else "once per update: all epochs see the same ones"
    return f"{MIXING[mixing]}; {again}"


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


@dataclass(frozen=True)
class _Meaning:
    """A setting, and the library that has it."""

    owner: Dialect
    key: str

    @property
    def role(self) -> str:
        return self.owner.role(self.key)

    @property
    def factors(self) -> tuple[str, ...]:
        return self.owner.words.get(self.role, (self.key,))

    @property
    def is_part(self) -> bool:
        return len(self.factors) > 1


def unknown_key(dialect: Dialect, strange: Sequence[str]) -> DialectError:
    """Return the error for names that the library does not have, each with the nearest it has."""
    answers = [_answer(dialect, name) for name in dict.fromkeys(strange)]
    return DialectError(
        "; ".join(message for message, _ in answers),
        where=f"settings of {dialect.id}",
        fix="; ".join(fix for _, fix in answers),
    )


def _answer(dialect: Dialect, name: str) -> tuple[str, str]:
    if dialect.replay and name in dialect.replay.keys:
        agent = dialect.replay.algorithm
        return f"{name} is a word of {dialect.library}'s {agent}, not of its PPO", "leave it out"
    meant = _meanings(name)
    if meant:
        return _foreign(dialect, name, meant)
    near = get_close_matches(name, [*dialect.keys, *dialect.aliases], n=1, cutoff=0.6)
    own = f"its words: {', '.join(dialect.keys)}"
    fix = f"did you mean {near[0]}?" if near else own
    return f"{dialect.library} has no setting '{name}'", fix


def _meanings(name: str) -> list[_Meaning]:
    owners = [other for other in every() if name in other.keys or name in other.aliases]
    found = [_Meaning(owner, owner.aliases.get(name, name)) for owner in owners]
    return sorted((one for one in found if one.role), key=lambda one: one.is_part)


def _foreign(dialect: Dialect, name: str, meant: list[_Meaning]) -> tuple[str, str]:
    """Explain a name of other libraries, preferably in a role that this library has a word for."""
    first = next((one for one in meant if _own_word(dialect, one.role)), meant[0])
    part = "a factor of " if first.is_part else ""
    said = f"{name} is {_owners(meant, first)} for {part}{MEANING[first.role]}"
    same = _synonym(dialect, name, meant)
    keys = [same] if same else _own_keys(dialect, first.role)
    if not keys:
        return f"{said}; {dialect.library} has none", "leave it out"
    otherwise = _otherwise(dialect, keys[0], first)
    said = f"{said}; {dialect.library} says {' x '.join(keys)}{otherwise}"
    if same or not (first.is_part or keys[1:] or otherwise):
        return said, _write(dialect, keys[0], name, meant)
    wanted = f"so that you get {MEANING[first.role]} that you want"
    return said, f"write {' and '.join(f'{key}=' for key in keys)} {wanted}"


def _otherwise(dialect: Dialect, key: str, like: _Meaning) -> str:
    role, unit = dialect.role(key), dialect.rules.total
    if role == "steps" and dialect.rules.collect == "spread":
        role = "fragment"  # rounds of it are added until the batch is full
    if role != like.role:
        return f" for {MEANING[role]}"
    return f", in {TOTAL[unit]}" if role == "total" and unit != like.owner.rules.total else ""


def _write(dialect: Dialect, own: str, name: str, meant: list[_Meaning]) -> str:
    """Suggest the right name, and the library's other dialect if the name is from there."""
    family = dialect.id.partition("_")[0]
    kin = [one.owner.id for one in meant if one.owner.id.partition("_")[0] == family]
    also = f", or say {kin[0]} in place of {dialect.id}" if kin else ""
    return f"write {own}= for {name}={also}"


def _owners(meant: list[_Meaning], like: _Meaning) -> str:
    """Name one library that uses the word in this meaning, and some others."""
    same = [one for one in meant if (one.role, one.is_part) == (like.role, like.is_part)]
    libraries = list(dict.fromkeys(one.owner.library for one in same))
    # One that spells most of its words alike comes first, so that the reader recognises it.
    libraries.sort(key=lambda library: (library not in ("CleanRL", "Stable-Baselines3"), library))
    also = f" (also of {', '.join(libraries[1:3])})" if libraries[1:] else ""
    return f"{libraries[0]}'s word{also}"


def _synonym(dialect: Dialect, name: str, meant: list[_Meaning]) -> str:
    """Return the library's name for the same setting, found through other libraries' aliases."""
    known, roles = {name}, {one.role for one in meant}
    links = [pair for other in every() for pair in other.aliases.items()]
    while more := {one for pair in links for one in pair if known & set(pair)} - known:
        known |= more
    return next((key for key in dialect.keys if key in known and dialect.role(key) in roles), "")


def _own_word(dialect: Dialect, role: str) -> str:
    return next((word for word in _INSTEAD.get(role, (role,)) if dialect.key(word)), "")


def _own_keys(dialect: Dialect, role: str) -> list[str]:
    """Return the library's settings for a size, without factors that are 1 by default."""
    first, *others = dialect.words.get(_own_word(dialect, role), ("",))
    matter = [key for key in others if dialect.defaults.get(key, 2) not in (0, 1)]
    return [first, *matter] if first else []
