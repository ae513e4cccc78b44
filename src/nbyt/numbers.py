"""Numbers that users give: every kind with its bounds, in one table.

A kind reads a number from text, as on the command line or in a configuration file, and checks one
that Python code gives. What it returns is exactly what was given; all else is an error that names
the bounds. Dataclasses and options name the kind of a field in its type: `envs: Size`.
"""

import numbers
import operator
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from functools import cache
from typing import Annotated, Any, Protocol, get_args, get_type_hints, runtime_checkable

from nbyt.errors import LayoutError, UsageError

# No number that anybody means takes more characters, and reading a longer one takes time.
_LONGEST = 100
_MOST_IN_A_LIST = 1_000
_SHOWN = 40
_WITH_UNIT = r"([0-9_.]+(?:e[0-9]+)?)\s*([a-zA-Z]*)"
# What may follow a whole number: 20k is 20,000.
_THOUSANDS = {"k": 10**3, "K": 10**3, "M": 10**6, "G": 10**9}
_MOST_BITS = 1024
_SAID = {"lam": "lambda"}


@runtime_checkable
class Kind(Protocol):
    """A kind of number, or of several."""

    def read(self, text: str, name: str) -> Any:
        """Return what a text states; raise a UsageError about `name` if that cannot be."""

    def check(self, value: Any, name: str) -> Any:
        """Return a value of Python's; raise a UsageError about `name` if it cannot be."""


@dataclass(frozen=True)
class Number:
    """A number from `low` to `high`.

    whole: written 500_000, 1e6 or 20k too. units: a text needs one of them, such as 512M, and a
    value is in the smallest. bounds: `low` and `high` in words. note: what follows them in an
    error.
    """

    low: float
    high: float
    whole: bool = False
    units: Mapping[str, int] = field(default_factory=lambda: {"": 1}, hash=False)
    bounds: str = ""
    error: type[UsageError] = UsageError
    note: str = ""
    fix: str = ""

    def read(self, text: str, name: str) -> Any:
        """Return the number that a text states, in the smallest unit."""
        digits, unit = text, 1
        if self.whole and text.strip()[-1:] in _THOUSANDS:
            digits, unit = text.strip()[:-1], _THOUSANDS[text.strip()[-1]]
        elif len(self.units) > 1:
            form = re.fullmatch(_WITH_UNIT, text.strip()[: _LONGEST + 1])
            digits, unit = (form[1], self.units.get(form[2], 0)) if form else ("", 0)
        stated = _decimal(digits)
        # Compared before it is converted: 1e999999 has a million digits.
        if stated is None or not unit or stated > self.high:
            raise self._wrong(name, text)
        if not self.whole:
            return self.check(float(stated * unit), name, text)
        stated *= unit
        if not self.low <= stated <= self.high or stated != int(stated):
            raise self._wrong(name, text)
        return int(stated)

    def check(self, value: Any, name: str, given: Any = None) -> Any:
        """Return a number of any library as one of Python's. given: as the user wrote it."""
        known: Any = None
        with suppress(TypeError):  # of what has no index, or several
            if not isinstance(value, bool) and (self.whole or isinstance(value, numbers.Real)):
                known = operator.index(value) if self.whole else value
        if known is None or not self.low <= known <= self.high:
            raise self._wrong(name, value if given is None else given)
        return known if type(known) in (int, float) else float(known)

    def _wrong(self, name: str, value: Any) -> UsageError:
        words = f"between {self.low:g} and {self.high:g}"
        if self.whole:
            words = f"a whole number from {self.low:,} to {self.high:,}{self.note}"
        return _wrong(self.error, name, self.bounds or words, value, self.fix)


@dataclass(frozen=True)
class Either:
    """One of several kinds; the first that fits."""

    kinds: tuple[Kind, ...]
    words: str
    example: str

    def read(self, text: str, name: str) -> Any:
        """Return what the first kind reads that can."""
        for kind in self.kinds:
            try:
                return kind.read(text, name)
            except UsageError:
                continue
        raise _wrong(UsageError, name, self.words, text, self.example)

    def check(self, value: Any, name: str) -> Any:
        """Read a text: without its unit a number says nothing."""
        return self.read(value if isinstance(value, str) else "", name)


@dataclass(frozen=True)
class Several:
    """Numbers of one kind with commas between, such as 8,32,128."""

    kind: Kind
    example: str

    def read(self, text: str, name: str) -> tuple[Any, ...]:
        """Return the numbers of a list."""
        parts = text.split(",")
        if not text.strip() or len(parts) > _MOST_IN_A_LIST:
            words = f"a list of 1 to {_MOST_IN_A_LIST:,} numbers"
            raise _wrong(UsageError, name, words, text, f"such as {self.example}")
        return tuple(self.kind.read(part, name) for part in parts)

    def check(self, value: Any, name: str) -> tuple[Any, ...]:
        """Return one number, or every number of a sequence or array, as a tuple."""
        single = isinstance(value, str | Mapping) or not hasattr(value, "__iter__")
        if getattr(value, "ndim", 1) == 0 or single:
            value = [value]
        return tuple(self.kind.check(one, name) for one in value)


@dataclass(frozen=True)
class Split:
    """Envs and steps of a layout, such as 8x256."""

    def read(self, text: str, name: str) -> tuple[int, int]:
        """Return the two numbers."""
        form = re.fullmatch(r"([0-9]{1,99})[xX×]([0-9]{1,99})", text.strip())
        if form is None:
            raise _wrong(UsageError, name, "a layout, envs x steps", text, "such as 8x256")
        return SIZE.read(form[1], name), SIZE.read(form[2], name)

    def check(self, value: Any, name: str) -> tuple[int, int]:
        """Return a pair of numbers."""
        if not isinstance(value, tuple | list) or len(value) != 2:
            raise _wrong(UsageError, name, "a layout (envs, steps)", value, "such as (8, 256)")
        return SIZE.check(value[0], name), SIZE.check(value[1], name)


# The table. Upper bounds are beyond all that anybody means, and low enough that nothing which is
# counted or divided on the way takes long.
SIZE = Number(1, 2**31, whole=True, error=LayoutError)
PASSES = Number(1, 100_000, whole=True, error=LayoutError)
COUNT = Number(1, 100_000, whole=True)
STEPS = Number(1, 10**15, whole=True, error=LayoutError)
TRAININGS = Number(0, 10_000, fix="such as 4; 0 for an answer without any")
# Vector steps' worth of time that an update takes beyond its own steps.
OVERHEAD = Number(0, 10**9, fix="such as parallel:16")
RETRIES = Number(0, 100, whole=True)
STAGES = Number(0, 1_000, whole=True)
WORKERS = Number(1, 1024, whole=True, fix="leave it out for one for each core, or give such as 2")
CHAIN_COUNT = Number(4, 2**20, whole=True)
# JAX keeps 32 bits of a seed: with more, two seeds would be one.
SEED = Number(0, 2**32 - 1, whole=True, fix="use a small number, such as 0")
PROBABILITY = Number(0, 1)
# Numbers of learning are float32: what is beyond would be 0 or infinite there.
POSITIVE = Number(1e-30, 1e30)
COEFFICIENT = Number(0, 1e30)
_TIMES = {"s": 1, "m": 60, "h": 3600}
DURATION = Number(
    0.001,
    10 * 365 * 86400,
    units=_TIMES,
    bounds="a time from 1 ms to 10 years",
    fix="such as 90s, 30m or 2h",
)
_BYTES = {
    prefix + end: 2 ** (10 * power)
    for power, letter in enumerate(("", "k", "m", "g", "t"))
    for prefix in {letter, letter.upper()}
    for end in ("", "b", "B", "ib", "iB")
}
MEMORY = Number(
    2**20,
    2**50,
    units=_BYTES,
    bounds="an amount of memory from 1M to 1024T",
    fix="such as 512M or 4G",
)
SAMPLES = Number(
    1,
    10**15,
    units={"": 1, "k": 10**3, "M": 10**6, "G": 10**9},
    bounds="1 to 1e15 samples",
    fix="such as 500k, 2M or 1e6",
)
BUDGET = Either(
    (DURATION, SAMPLES),
    "a time up to 10 years or a number of samples up to 1e15",
    "time such as 90s, 10m or 2h, or samples such as 500k, 2M or 1e6",
)

Size = Annotated[int, SIZE]
Passes = Annotated[int, PASSES]
Count = Annotated[int, COUNT]
Stages = Annotated[int, STAGES]
Trainings = Annotated[float, TRAININGS]
Steps = Annotated[int, STEPS]
Retries = Annotated[int, RETRIES]
WorkerCount = Annotated[int, WORKERS]
Chains = Annotated[int, CHAIN_COUNT]
Seed = Annotated[int, SEED]
Probability = Annotated[float, PROBABILITY]
Positive = Annotated[float, POSITIVE]
Coefficient = Annotated[float, COEFFICIENT]
# As they were written, for who reads them again; "" where nothing was.
DurationText = Annotated[str, DURATION]
MemoryText = Annotated[str, MEMORY]
BudgetText = Annotated[str, BUDGET]
SamplesText = Annotated[str, SAMPLES]
SIZES = Several(SIZE, "8,32,128")
PROBABILITIES = Several(PROBABILITY, "0.9,0.95")
UPDATES = Several(STEPS, "100,200,400")
SPLIT = Split()
SPLITS = Several(SPLIT, "8x256,64x32")
SizesText = Annotated[str, SIZES]
ProbabilitiesText = Annotated[str, PROBABILITIES]
UpdatesText = Annotated[str, UPDATES]
SplitsText = Annotated[str, SPLITS]


def require(kind: Kind, **values: Any) -> list[Any]:
    """Check values by their names and return them; None stays, for what was not given."""
    return [
        None if value is None else kind.check(value, _SAID.get(name, name))
        for name, value in values.items()
    ]


def require_seeds(first: Any, count: int) -> int:
    """Return the first seed as an int, if it and the `count` - 1 after it are valid."""
    after = f", for {count:,} seeds from there on" if count > 1 else ""
    return replace(SEED, high=SEED.high + 1 - count, note=after).check(first, "seed")


def read_if_given(kind: Kind, text: str, name: str) -> Any:
    """Read an option's text; return None for the empty one, which it has by default."""
    return kind.read(text, name) if text else None


def check_fields(made: Any) -> None:
    """Check each field of a dataclass whose type names a kind of number, and keep it as checked."""
    cls: Any = type(made)
    for name, (kind, optional) in _kinds_of_fields(cls).items():
        value = getattr(made, name)
        if not (optional and value is None):
            object.__setattr__(made, name, kind.check(value, _SAID.get(name, name)))


def kind_of(annotation: Any) -> Kind | None:
    """Return the kind that a type names, also as one that may be None."""
    metadata = getattr(annotation, "__metadata__", ())
    own = [one for one in metadata if isinstance(one, Kind)]
    inner = [kind_of(one) for one in get_args(annotation)] if not own else []
    return next((kind for kind in (*own, *inner) if kind is not None), None)


@cache
def _kinds_of_fields(cls: type) -> dict[str, tuple[Kind, bool]]:
    hints = get_type_hints(cls, include_extras=True)
    found = {name: (kind_of(hint), type(None) in get_args(hint)) for name, hint in hints.items()}
    return {name: (kind, optional) for name, (kind, optional) in found.items() if kind is not None}


def _decimal(text: str) -> Decimal | None:
    """Return exactly the number that a text states; None if it is none, or none that is finite."""
    try:
        found = Decimal(text) if len(text) <= _LONGEST else Decimal("nan")
    except InvalidOperation:
        return None
    return found if found.is_finite() else None


def _wrong(kind: type[UsageError], name: str, words: str, value: Any, fix: str = "") -> UsageError:
    shown = value_shown(value)
    return kind(
        f"{name} must be {words}, not {shown}",
        where=name,
        fix=fix or f"give {name} within these bounds",
    )


def is_huge(value: Any) -> bool:
    """Return whether a value is an integer beyond all floats, which Python may refuse to write
    out.
    """
    return isinstance(value, int) and value.bit_length() > _MOST_BITS


def value_shown(value: Any) -> str:
    """Return a value as an error can show it, however long it is."""
    if is_huge(value):
        return f"a number of {value.bit_length():,} bits"
    text = f"'{value}'" if isinstance(value, str) else repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}... ({len(text):,} characters)"
