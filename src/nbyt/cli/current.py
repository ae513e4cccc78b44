"""--current: the user's own layout, such as 8x256, or a library and its settings."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from nbyt.advice.request import AdviceRequest
from nbyt.cli.libraries import read_explanation
from nbyt.cli.options import Learning
from nbyt.dialects.carrying import Carried, carried
from nbyt.errors import LayoutError, UsageError
from nbyt.numbers import SPLIT
from nbyt.training.plan import PPOSettings

_SIZES = re.compile(r"[0-9]+[xX×][0-9]+")
_FIELDS = {"lambda": "lam"}


@dataclass(frozen=True)
class CurrentLayout:
    """The user's own N and T, and the rest of their settings where a library's were given."""

    envs: int
    steps: int
    carried: Carried | None = None

    @property
    def values(self) -> dict[str, Any]:
        """Return the user's values of nbyt's settings: of PPO, and minibatch, epochs and total."""
        return {} if self.carried is None else self.carried.values


def own_layout(words: Sequence[str], batch: int | None) -> CurrentLayout | None:
    """Read the user's layout; None if none is given. It must have the batch asked for.

    With a library's settings, T is where that library cuts advantages.
    """
    if not words:
        return None
    own = _read(words)
    size = own.envs * own.steps
    if batch is not None and size != batch:
        message = f"the current layout {own.envs}x{own.steps} has {size} samples, not {batch}"
        fix = f"ask with --batch {size}, or leave --batch out"
        raise LayoutError(message, where="current", fix=fix)
    return own


def _read(words: Sequence[str]) -> CurrentLayout:
    sizes = _SIZES.fullmatch(words[0])
    if sizes and len(words) == 1:
        return CurrentLayout(*SPLIT.read(words[0], "--current"))
    if sizes:
        raise UsageError(
            f"'{' '.join(words)}' is more than a layout", where="current", fix="such as 8x256"
        )
    found = carried(read_explanation(words[0], words[1:]))
    return CurrentLayout(found.envs, found.steps, found)


def with_own(given: Learning, own: CurrentLayout | None, flags: Collection[str]) -> PPOSettings:
    """Return the settings, with the user's own where no flag names them."""
    settings = given.plain()
    known = settings.as_dict().keys() - set(flags)
    values = {} if own is None else own.values
    taken = {name: value for name, value in values.items() if name in known}
    return replace(settings, **{_FIELDS.get(name, name): value for name, value in taken.items()})


def remarks(own: CurrentLayout | None, request: AdviceRequest, flags: Collection[str]) -> list[str]:
    """Return warnings about the user's settings that are not used, and why."""
    if own is None or own.carried is None:
        return []
    source, used = own.carried.source, _used(request)
    given = {**source.reading.settings.values, **source.reading.settings.ignored}
    found = []
    for name, one in own.carried.settings.items():
        said = f"{one.key}={given.get(one.key, one.value)}"
        if name in flags and used[name] != one.value:
            flag = name.replace("_", "-")
            found.append(f"--{flag} {used[name]} is used, not {said} of --current")
        elif used[name] != one.value:
            found.append(f"not carried: {said}: the stages given were trained with {used[name]}")
    left = [f"{said} ({why})" if why else said for said, why in own.carried.left.items()]
    found += [f"not carried: {', '.join(left)}"] if left else []
    refused = source.reading.refusals
    return found + ([f"--current is refused: {'; '.join(refused)}"] if refused else [])


def as_used(
    own: CurrentLayout | None, request: AdviceRequest, flags: Collection[str]
) -> Carried | None:
    """Return what was carried, with the values that are used where the given stages decide."""
    if own is None or own.carried is None:
        return None
    used = _used(request)
    settings = {
        name: one if name in flags else replace(one, value=used[name])
        for name, one in own.carried.settings.items()
    }
    return replace(own.carried, settings=settings)


def _used(request: AdviceRequest) -> dict[str, Any]:
    return {**vars(request), **request.settings.as_dict()}
