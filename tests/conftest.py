"""Before any test: annotations are checked as code runs, JAX is set up once, chance is fixed."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

# Tests compile many programs and run each for a moment: compiling in a hurry halves their time.
os.environ.setdefault(
    "XLA_FLAGS", "--xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false"
)

from hypothesis import settings
from jaxtyping import install_import_hook

# The hook stays for the whole session; it must be in place before these packages are imported.
install_import_hook(
    ["nbyt.objective", "nbyt.collect", "nbyt.minibatch", "nbyt.policy", "nbyt.stats"],
    "beartype.beartype",
)

from nbyt.train import hardware  # noqa: E402

hardware.prepare(cache=False)

# The same examples every time, and no clock: a red build can be replayed tomorrow.
settings.register_profile("fixed", derandomize=True, deadline=None)
settings.load_profile("fixed")


# Half of the pieces of memory that Linux lets a process have; compiled programs are made of them.
_MOST_PIECES = 32_000


@pytest.fixture(autouse=True, scope="module")
def room_for_programs() -> Iterator[None]:
    """Programs of tests that are over are let go before there are so many that the next crashes."""
    yield
    maps = Path("/proc/self/maps")
    if maps.exists() and len(maps.read_bytes().splitlines()) > _MOST_PIECES:
        hardware.forget_programs()
