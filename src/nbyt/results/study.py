"""A study: study.json. An experiment's own file is read only by the claims that need it."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, UnsetType

from nbyt.results.figures import AnyFigure, Number
from nbyt.results.values import LONGEST, Count, Machine, Names, Real, Record, Seed, Text, Texts


class Check(Record, frozen=True, kw_only=True):
    """A number, and whether it lies where the claim says."""

    case: dict[Text, Text]
    quantity: Text
    number: Number
    asks: Text
    between: tuple[Real | None, Real | None]
    says: Literal["yes", "no", "open"]


class Counts(Record, frozen=True, kw_only=True):
    """How many checks say what."""

    yes: Count
    no: Count
    open: Count


class JudgedClaim(Record, frozen=True, kw_only=True):
    """A claim with its verdict."""

    id: Text
    topic: Text
    claim: Text
    measured: Text
    asks: Text
    verdict: Text
    word: Literal["holds", "holds when", "does not hold", "cannot be told"]
    when: Text
    counts: Counts
    numbers: dict[Text, Number]
    checks: Annotated[tuple[Check, ...], Meta(max_length=LONGEST)]
    notes: Texts
    figures: Annotated[tuple[AnyFigure, ...], Meta(max_length=LONGEST)]


class Study(Record, frozen=True, kw_only=True):
    """study.json: everything that the page of a study shows."""

    study: Text
    title: Text
    lead: Text
    rule: Text
    effort: Literal["quick", "full"]
    seed: Seed
    claims: Annotated[tuple[JudgedClaim, ...], Meta(max_length=LONGEST)]
    machine: Machine | UnsetType = UNSET
    versions: Names | UnsetType = UNSET
    reproduce: Text
    out: Text
    report: Text
