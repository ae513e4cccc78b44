"""The numbers, texts and estimates that records are made of, each with its bounds."""

import json
import re
from collections.abc import Sized
from math import isfinite
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, TypeVar

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType
from msgspec.structs import asdict

from nbyt.errors import StoreError

Type = TypeVar("Type")
Value = TypeVar("Value")
_PLACE = re.compile(r"(?P<what>.*?)(?: - at `\$\.?(?P<place>.*)`)?", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(?P<key>.*)`")
_WORDS = {
    "`int | float`": "a number",
    "`int`": "a whole number",
    "`float`": "a number",
    "`str`": "text",
    "`bool`": "true or false",
    "`array`": "a list",
    "`object`": "an object",
    "`null`": "null",
}


def decode(facts: Any, kind: type[Type], path: Path) -> Type:
    """Decode what the file at `path` holds; raise a StoreError that names the key that is wrong."""
    try:
        return msgspec.convert(facts, kind)
    except (msgspec.ValidationError, RecursionError) as error:
        raise StoreError(
            f"{path} is not what nbyt writes: {_in_words(str(error))}",
            where=str(path),
            fix="restore a copy of it, or make it again with the command that wrote it",
        ) from error


def typed(data: Any, kind: type[Type]) -> Type:
    """Convert data that was not read from a file; its numbers may be NumPy's."""
    return msgspec.convert(json.loads(json.dumps(data)), kind)


def plain(record: msgspec.Struct) -> dict[str, Any]:
    """Encode a record as the dictionary that JSON has: lists, and no key that was absent."""
    data: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(record, enc_hook=_python))
    return data


def _python(number: Any) -> Any:
    """Return one of NumPy's numbers as Python's."""
    return number.item()


def _in_words(message: str) -> str:
    """Put the key's path first, as in `layouts[3].low: expected a number, got text`."""
    found = _PLACE.fullmatch(message)
    what, place = (found["what"], found["place"] or "") if found else (message, "")
    if missing := _MISSING.fullmatch(what):
        return f"{place}{'.' * bool(place)}{missing['key']} is missing"
    for word, plain_word in _WORDS.items():
        what = what.replace(word, plain_word)
    what = what.replace("`", "'")
    return f"{place}: {what[:1].lower()}{what[1:]}" if place else what


# Gradients are float32, so squares of what is measured end at 1e77; beyond this, arithmetic that a
# page does with a number may overflow.
LARGEST = 1e100
# Whole numbers that a float still holds; counts of anything end far below.
MOST = 2**53
# Rows of a list: nothing that nbyt writes comes near, and a page of more could not be opened.
LONGEST = 100_000

Real = Annotated[int, Meta(ge=-MOST, le=MOST)] | Annotated[float, Meta(ge=-LARGEST, le=LARGEST)]
Positive = Annotated[int, Meta(ge=1, le=MOST)] | Annotated[float, Meta(ge=1 / LARGEST, le=LARGEST)]
NotNegative = Annotated[int, Meta(ge=0, le=MOST)] | Annotated[float, Meta(ge=0, le=LARGEST)]
Share = Annotated[int, Meta(ge=0, le=1)] | Annotated[float, Meta(ge=0, le=1)]
Count = Annotated[int, Meta(ge=0, le=MOST)]
# A product of two still is a whole number that a float holds.
Size = Annotated[int, Meta(ge=1, le=2**31)]
# Samples or updates of a whole training.
Total = Annotated[int, Meta(ge=1, le=MOST)]
Seed = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Text = Annotated[str, Meta(max_length=1_000_000)]
Texts = Annotated[tuple[Text, ...], Meta(max_length=LONGEST)]
Reals = Annotated[tuple[Real, ...], Meta(max_length=LONGEST)]
Split = tuple[Size, Size]
# What JSON holds; everything behind the doors of `results` and `report` is typed.
Data = dict[str, Any]
Splits = Annotated[tuple[Split, ...], Meta(max_length=LONGEST)]
Names = dict[Text, Text | None]
Objective = Literal["actor", "critic", "total"]
OBJECTIVES: tuple[Objective, ...] = ("actor", "critic", "total")
Kind = Literal["per_sample", "per_second"]

# Settings that nothing is done with but to show or compare them; not nested for ever.
Leaf = bool | Real | Text | None
_Shallow = Leaf | list[Leaf] | dict[str, Leaf]
_Nested = Leaf | list[_Shallow] | dict[str, _Shallow]
_Deep = Leaf | list[_Nested] | dict[str, _Nested]
Tree = dict[str, Leaf | list[_Deep] | dict[str, _Deep]]


class Record(Struct, frozen=True, kw_only=True):
    """A part of a JSON file. Keys that later versions add are passed over."""


class Number(Record, frozen=True, kw_only=True):
    """A number to show; without low and high no interval is drawn.

    band: two standard deviations of checkpoints, in tables of a study.
    """

    value: Real | None
    low: Real | UnsetType | None = UNSET
    high: Real | UnsetType | None = UNSET
    reason: Text | UnsetType = UNSET
    approximate: bool | UnsetType = UNSET
    band: Real | UnsetType = UNSET

    @property
    def ends(self) -> tuple[float | None, float | None, float | None]:
        """Return value, low and high; None for what is absent or not finite."""
        return _finite(self.value), _finite(self.low), _finite(self.high)

    @property
    def why(self) -> str:
        """Return the reason why it is undetermined; empty if none is given."""
        return self.reason if isinstance(self.reason, str) else ""


class Valued(Number, frozen=True, kw_only=True):
    """A number whose value is known."""

    value: Real


class Known(Valued, frozen=True, kw_only=True):
    """A number whose value and interval are known."""

    low: Real
    high: Real


class Estimate(Number, frozen=True, kw_only=True):
    """A measured number with its interval; null where it could not be determined."""

    low: Real | None
    high: Real | None

    def as_dict(self) -> Data:
        """Return the form that JSON has, without keys that are absent."""
        return {name: value for name, value in asdict(self).items() if value is not UNSET}


def _finite(x: float | UnsetType | None) -> float | None:
    return x if isinstance(x, (int, float)) and isfinite(x) else None


class ByKind(Record, Generic[Value], frozen=True, kw_only=True):
    """What holds for the same samples, and for the same seconds where those are known."""

    per_sample: Value | None
    per_second: Value | None

    def of(self, kind: Kind) -> Value | None:
        """Return that of one kind."""
        return self.per_sample if kind == "per_sample" else self.per_second


class OfLayout(Record, frozen=True, kw_only=True):
    """What belongs to a layout."""

    envs: Size
    steps: Size


class Layout(OfLayout, frozen=True, kw_only=True):
    """The sizes of an update."""

    batch: Size
    minibatch: Size
    minibatches: Size
    epochs: Size


class Machine(Record, frozen=True, kw_only=True):
    """What something was measured on."""

    device: Text
    platform: Text | UnsetType = UNSET


def require(right: object, what: str) -> None:
    """Raise a ValueError that says what must hold; the door adds file and key."""
    if not right:
        raise ValueError(what)


def require_same_length(**lists: Sized | UnsetType | None) -> None:
    """Raise a ValueError where lists that belong together differ in length."""
    known = {name: len(one) for name, one in lists.items() if isinstance(one, Sized)}
    words = ", ".join(f"{name} has {length}" for name, length in known.items())
    require(len(set(known.values())) < 2, f"lengths differ: {words}")


def given(value: Any) -> bool:
    """Return True for a key that is there and not null."""
    return value is not UNSET and value is not None
