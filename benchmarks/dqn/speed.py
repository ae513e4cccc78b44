"""Steps a second of DQN at the same update ratio, in rounds that take turns."""

from contextlib import ExitStack, closing

from benchmarks.dqn.contenders import UNIT, NbytDevice, NbytHost, StableBaselines
from benchmarks.timing.lines import Line, compare
from benchmarks.timing.rounds import interleave
from benchmarks.timing.worker import Worker

_CONTENDERS = {"nbyt": NbytDevice, "nbyt host": NbytHost, "SB3": StableBaselines}
_TARGETS = {"nbyt": 5.0, "nbyt host": None}


def speed(*, rounds: int, seconds: float) -> list[Line]:
    """Each of ours against SB3, one env, a mini-batch of 32 every 4 steps."""
    with ExitStack() as stack:
        workers = {
            name: stack.enter_context(closing(Worker(name, UNIT, make)))
            for name, make in _CONTENDERS.items()
        }
        speeds = interleave(workers, rounds=rounds, seconds=seconds)
    return [compare("1x4", speeds, ours, "SB3", goal) for ours, goal in _TARGETS.items()]
