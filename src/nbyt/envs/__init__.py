"""Environments behind one protocol, wherever they come from."""

from nbyt.envs import tabular as tabular
from nbyt.envs.lookup import resolve as resolve
from nbyt.envs.protocol import DeviceEnv as DeviceEnv
from nbyt.envs.protocol import HostEnv as HostEnv
from nbyt.envs.protocol import HostEnvs as HostEnvs
from nbyt.envs.protocol import HostStep as HostStep
from nbyt.envs.protocol import Transition as Transition
