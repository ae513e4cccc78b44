"""Checks of envs that have no id, and the codes of their faults."""

from nbyt.envs import gymnasium_suite
from nbyt.envs.check import check


def codes(report) -> set[str]:
    return {fault.code for fault in report.faults}


def check_factory(factory, **how):
    env = gymnasium_suite.GymnasiumEnv("broken:it", factory)
    return check(env, steps=40, speeds=(), **how)


def name_of(row) -> str:
    return getattr(row, "__name__", type(row).__name__) if not isinstance(row, str) else row
