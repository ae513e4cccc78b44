"""A promise that an environment breaks, as data."""

from typing import NamedTuple


class Fault(NamedTuple):
    """What is broken (a stable code and a sentence with the values) and what to do about it."""

    code: str
    message: str
    fix: str
