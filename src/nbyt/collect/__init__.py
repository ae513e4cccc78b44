"""Rollouts [T, N, ...]: on the device by a compiled scan, on the host from vector envs."""

from collections.abc import Callable

# Called with what is under way, how much of it is done, and how much there is.
Progress = Callable[[str, int, int], None]
# The same for one part of the work: how much is done, and how much there is.
PartProgress = Callable[[int, int], None]
