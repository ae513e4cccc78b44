"""Environments behind one protocol, wherever they come from.

Suites are imported when one of their envs is asked for; `nbyt.envs.lookup` has the table.
"""

import importlib
from types import ModuleType

from nbyt.envs.lookup import resolve as resolve
from nbyt.envs.protocol import DeviceEnv as DeviceEnv
from nbyt.envs.protocol import HostEnv as HostEnv
from nbyt.envs.protocol import HostEnvs as HostEnvs
from nbyt.envs.protocol import HostStep as HostStep
from nbyt.envs.protocol import Transition as Transition


def __getattr__(name: str) -> ModuleType:
    if name == "tabular":  # with which users build envs of their own
        return importlib.import_module("nbyt.envs.tabular")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
