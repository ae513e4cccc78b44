"""Ray, and the only file that imports it: a cluster that is there, or one on this machine alone."""

import logging
import os
import socket
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from nbyt.errors import MissingExtraError, TrainingError, UsageError
from nbyt.processes.reaper import ProcessReaper
from nbyt.system import descendants, usable_cores

LOCAL = "auto"
# Ray's servers listen to this machine alone, and its workers, who do all the work here, do not
# give way to others.
_LOCAL_SETTINGS = {"RAY_worker_niceness": "0", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
_KNOCK_SECONDS = 10.0
_QUIET: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}


class Connection:
    """A cluster that this process may give work to; make it before JAX runs here.

    address: of a cluster; "auto" finds one that runs, or else starts one on this machine.
    """

    def __init__(self, address: str) -> None:
        self._ray = _ray()
        self._before = dict(os.environ)
        self._reaper: ProcessReaper | None = None
        found = _running() if address == LOCAL else address
        if found is None:
            self._start()
        else:
            self._join(found)

    @property
    def cpus(self) -> int:
        """Processors of all nodes."""
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    @property
    def widest(self) -> int:
        """Processors of the largest node."""
        nodes = [one["Resources"] for one in self._ray.nodes() if one["Alive"]]
        return max((int(one.get("CPU", 0)) for one in nodes), default=1)

    def keep(self, value: Any) -> Any:
        """A reference to a value that many tasks are given; it is sent to every node once."""
        return self._ray.put(value)

    def submit(self, work: Callable[..., Any], *given: Any, cpus: int = 1, retries: int = 0) -> Any:
        """A reference to what the work will return; retries: where its process or node dies."""
        task = self._ray.remote(work).options(num_cpus=cpus, max_retries=retries)
        return task.remote(*given)

    def ready(self, references: Sequence[Any], seconds: float) -> list[Any]:
        """Those whose work is over, waiting for at most so long."""
        found, _ = self._ray.wait(list(references), num_returns=len(references), timeout=0)
        if found or not references:
            return found
        return self._ray.wait(list(references), num_returns=1, timeout=seconds)[0]

    def result(self, reference: Any) -> Any:
        """What the work returned; a TrainingError where its process or node died too often."""
        try:
            return self._ray.get(reference)
        except self._ray.exceptions.RayTaskError as error:
            raise error.cause from None
        except self._ray.exceptions.RayError as error:
            # Its name alone: its words hold addresses.
            raise TrainingError(
                f"the cluster lost the work every time it was tried ({type(error).__name__})",
                where="ray",
                fix="look at the nodes' memory and logs; give the same command with --retry-failed",
            ) from None

    def cancel(self, references: Sequence[Any]) -> None:
        """Nothing; the work is given up and its processes end."""
        for reference in references:
            self._ray.cancel(reference, force=True)

    def close(self) -> None:
        """Nothing; a cluster that was started here is then gone."""
        self._ray.shutdown()
        if self._reaper is not None:
            self._reaper.close()
        for name in {*_LOCAL_SETTINGS, "RAY_AUTH_MODE"}:
            os.environ.pop(name, None)
            if name in self._before:
                os.environ[name] = self._before[name]

    def _join(self, address: str) -> None:
        try:
            _knock(address)  # Ray itself would try for twenty minutes
            self._ray.init(address=address, **_QUIET)
        except Exception as error:  # Ray says no in many ways
            # No more of it: its words hold the address, which is nobody else's business.
            raise UsageError(
                f"no Ray cluster answers there ({type(error).__name__})",
                where="ray",
                fix="start one (see docs/scale.md), or use --ray auto",
            ) from None

    def _start(self) -> None:
        os.environ.update({n: v for n, v in _LOCAL_SETTINGS.items() if n not in os.environ})
        # Ray has read its settings by now; its children will read them from the environment.
        self._ray._private.ray_constants.ENABLE_RAY_CLUSTER = False
        cores, others = usable_cores(), descendants(os.getpid())
        self._ray.init(address="local", include_dashboard=False, num_cpus=cores, **_QUIET)
        # Ray's agents would outlive a driver that is killed by a minute.
        family = set(descendants(os.getpid())) - set(others)
        self._reaper = ProcessReaper()
        for process in family:
            self._reaper.keep_one(process)


def _running() -> str | None:
    """The cluster that the environment names, or the one that was last started on this machine."""
    named = os.environ.get("RAY_ADDRESS")
    if named:
        return None if named == "local" else named
    note = Path(os.environ.get("RAY_TMPDIR") or tempfile.gettempdir()) / "ray/ray_current_cluster"
    try:
        address = note.read_text().strip()
        _knock(address)
    except (OSError, ValueError):  # nobody left a note, or it is an old one
        return None
    return address


def _knock(address: str) -> None:
    """Nothing, or an OSError or ValueError where nobody opens."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    socket.create_connection((host.strip("[]"), int(port)), timeout=_KNOCK_SECONDS).close()


def _ray() -> Any:
    logging.getLogger("ray").setLevel(logging.ERROR)
    try:
        import ray
    except ImportError:
        raise MissingExtraError("ray", "ray") from None
    # Ray prints the fate of its workers, addresses and all, on stdout; outcomes tell it here.
    ray._private.worker._worker_logs_enabled = False
    return ray
