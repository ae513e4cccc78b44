"""Ways to cut a batch into mini-batches, by name in `SCHEMES`, and the audit of any sampler.

Trainings need the schemes alone: the audit is imported when it is asked for.
"""

import importlib
from typing import TYPE_CHECKING, Any

from nbyt.minibatch.schemes import SCHEMES as SCHEMES
from nbyt.minibatch.schemes import shuffle_and_chop as shuffle_and_chop

if TYPE_CHECKING:
    from nbyt.minibatch.auditing import Audit as Audit
    from nbyt.minibatch.auditing import audit as audit
    from nbyt.minibatch.reading import sampler_of as sampler_of

_MODULE_OF = {"Audit": "auditing", "audit": "auditing", "sampler_of": "reading"}


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"nbyt.minibatch.{_MODULE_OF[name]}"), name)
