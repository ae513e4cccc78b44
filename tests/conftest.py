"""Before any test: annotations are checked as code runs, JAX is set up once, chance is fixed."""

import json
import os
import shutil
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

# `make test-isas` says how to compile; its programs are not kept.
KEEP_PROGRAMS = "XLA_FLAGS" not in os.environ
# Tests compile many programs and run each for a moment: compiling in a hurry halves their time.
os.environ.setdefault(
    "XLA_FLAGS", "--xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false"
)

from hypothesis import settings  # noqa: E402
from jaxtyping import install_import_hook  # noqa: E402

# The hook stays for the whole session; it must be in place before these packages are imported.
install_import_hook(
    [
        "nbyt.collect",
        "nbyt.minibatch",
        "nbyt.policy",
        "nbyt.stats",
        "nbyt.training.losses",
        "nbyt_studies.numbers",
        "nbyt_studies.comparisons",
    ],
    "beartype.beartype",
)

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
from tests.results.printed import faults  # noqa: E402

from nbyt import __file__ as NBYT  # noqa: E402, N812
from nbyt.cli import output  # noqa: E402
from nbyt.policy.actor_critic import ActorCritic, Params  # noqa: E402
from nbyt.results import decode, plain  # noqa: E402
from nbyt.results.advice import Advice, Costs, Untrained  # noqa: E402
from nbyt.results.measurement import Look, Measurement  # noqa: E402
from nbyt.results.probes import ProbeLog, ProbeRecord  # noqa: E402
from nbyt.results.study import Study  # noqa: E402
from nbyt.results.sweep import CellCurve, Failure, Sweep  # noqa: E402
from nbyt.results.training import (  # noqa: E402
    CheckpointFacts,
    Marker,
    Result,
    StageFacts,
)
from nbyt.results.values import Record  # noqa: E402
from nbyt.store import formats, tensors  # noqa: E402
from nbyt.training import hardware  # noqa: E402

# Compiled programs are shared by all workers and by the commands that tests start.
os.environ["XDG_CACHE_HOME"] = str(Path(__file__).parents[1] / ".cache")
hardware.prepare(cache=KEEP_PROGRAMS)


# For `make release-check`: the tests are those of the checkout, the package is not.
if "NBYT_TEST_INSTALLED" in os.environ:
    place = os.environ["NBYT_TEST_INSTALLED"]
    assert Path(NBYT).is_relative_to(place), f"{NBYT} is tested, which is not in {place}"


def _start_a_rounding_error_away(size: float) -> None:
    """Shift all initial weights a little, as another CPU's rounding shifts them soon enough."""
    init = ActorCritic.init

    def shifted(leaf: jax.Array) -> jax.Array:
        return leaf + size * jnp.sin(jnp.arange(leaf.size)).reshape(leaf.shape)

    def init_elsewhere(self: ActorCritic, key: jax.Array | None, **options: bool) -> Params:
        params = init(self, key, **options)
        if key is None:
            return params
        moved = jax.tree.map(shifted, params._replace(observation=None))
        return moved._replace(observation=params.observation)

    ActorCritic.init = init_elsewhere


# For `make test-isas`: no test may lean on the exact numbers of one training.
if "NBYT_TEST_SHIFT" in os.environ:
    _start_a_rounding_error_away(float(os.environ["NBYT_TEST_SHIFT"]))


# Files and folders that take longest, with few tests or with waiting in them. They come first, so
# that at the end no worker waits for another that has just begun with one of them.
_FIRST = (
    "tests/sweeps/test_cluster.py",
    "tests/studies/post/",
    "tests/faults/",
    "tests/studies/",
    "tests/advice/",
    "tests/cli/",
    "tests/sweeps/",
    "tests/calibration/",
    "tests/training/",
    "tests/integrations/",
)


def _place(item: pytest.Item) -> int:
    return next((i for i, name in enumerate(_FIRST) if item.nodeid.startswith(name)), len(_FIRST))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put slow modules first; with shifted weights, leave out what another process has to equal."""
    items.sort(key=_place)
    if "NBYT_TEST_SHIFT" in os.environ:
        items[:] = [one for one in items if one.get_closest_marker("own_process") is None]


# The same examples every time, and no clock: a red build can be replayed tomorrow.
settings.register_profile("fixed", derandomize=True, deadline=None)
settings.load_profile("fixed")


# What is written is what is read: a key that a type does not know, or knows otherwise, is found by
# whichever test first writes it.
_TYPES: dict[str, type[Record]] = {
    "run": Marker,
    "checkpoint": CheckpointFacts,
    "result": Result,
    "advice": Advice,
    "costs": Costs,
    "times": Costs,
    "untrained": Untrained,
    "look": Look,
    "measurement": Measurement,
    "sweep": Sweep,
    "cell": CellCurve,
    "failed": Failure,
    "study": Study,
    "probes": ProbeLog,
    "record": ProbeRecord,
    "stage": StageFacts,
}
# Tests of these write whatever they like.
_MADE_UP = ("tests/store/", "tests/results/", "tests/policy/", "tests/sweeps/test_trainings.py")


@pytest.fixture(autouse=True, scope="session")
def records_are_as_their_types_say() -> Iterator[None]:
    """Decode every record that a test's commands write, and compare it with what was written."""
    original = formats.sealed

    def checked(facts: dict[str, Any], *, kind: str, where: str = "", **more: str) -> bytes:
        data = original(facts, kind=kind, where=where, **more)
        made_up = os.environ["PYTEST_CURRENT_TEST"].startswith(_MADE_UP)
        # `nbyt probe --out` keeps a measurement without arrays, which nothing reads back.
        read_back = kind in _TYPES and (kind != "measurement" or "file" in more)
        if read_back and not made_up:
            written = json.loads(data)["facts"]
            assert plain(decode(written, _TYPES[kind], Path(where))) == written
        return data

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(formats, "sealed", checked)
        patch.setattr(tensors, "sealed", checked)
        yield


@pytest.fixture(autouse=True, scope="session")
def json_is_as_its_schema_says() -> Iterator[None]:
    """Validate every object that a test's commands print with --json against the shipped schema."""
    original = output._record

    def checked(command: str, status: str, data: Any, warnings: list[str], **more: Any) -> Any:
        record = original(command, status, data, warnings, **more)
        # Tests of printing itself print whatever they like.
        if not os.environ["PYTEST_CURRENT_TEST"].startswith("tests/cli/test_output.py"):
            assert faults(json.loads(json.dumps(record))) == []
        return record

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(output, "_record", checked)
        yield


# Half of the pieces of memory that Linux lets a process have; compiled programs are made of them.
_MOST_PIECES = 32_000


@pytest.fixture(autouse=True, scope="module")
def room_for_programs() -> Iterator[None]:
    """Programs of tests that are over are let go before there are so many that the next crashes."""
    yield
    maps = Path("/proc/self/maps")
    if maps.exists() and len(maps.read_bytes().splitlines()) > _MOST_PIECES:
        hardware.forget_programs()


def _missing(reason: str) -> None:
    if os.environ.get("NBYT_NEED_BROWSER") == "1":
        pytest.fail(f"{reason}, and NBYT_NEED_BROWSER=1")
    warnings.warn(f"THE PAGE WAS NOT LOOKED AT IN A BROWSER: {reason}", stacklevel=2)
    pytest.skip(f"THE PAGE WAS NOT LOOKED AT: {reason}; `make browser` installs one")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """One browser for all tests of the process."""
    path = shutil.which("chromium")
    if path is None:
        _missing("there is no chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _missing("playwright is not installed")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()
