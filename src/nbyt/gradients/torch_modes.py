"""Contexts in which torch is asked something and afterwards is as it was."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from nbyt.gradients.torch_package import Module, torch


@contextmanager
def undisturbed(seed: int) -> Iterator[None]:
    """Randomness of its own inside; outside, every generator goes on as if nothing had been.

    Those of Python, of NumPy and of torch, on all its devices: envs and policies may use any.
    """
    python, numpy = random.getstate(), np.random.get_state()
    try:
        with torch.random.fork_rng(range(torch.cuda.device_count())):
            random.seed(seed)
            np.random.seed(seed % 2**32)
            torch.manual_seed(seed)
            yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)


@contextmanager
def frozen(module: Module) -> Iterator[None]:
    """The module as it acts: without dropout, and with every generator and mode as it was after."""
    modes = [(one, one.training) for one in module.modules()]
    module.eval()
    try:
        with undisturbed(0):
            yield
    finally:
        for one, training in modes:
            one.training = training


@contextmanager
def quietly() -> Iterator[None]:
    """Gradients on, and no checks of distributions, which decide on values and cannot be batched.

    Gradients that the user has under way are left alone: nothing here writes to `.grad`.
    """
    before = torch.distributions.Distribution._validate_args
    torch.distributions.Distribution.set_default_validate_args(False)
    try:
        with torch.enable_grad():
            yield
    finally:
        torch.distributions.Distribution.set_default_validate_args(before)


def without_gradients() -> Any:
    """A context in which torch keeps no graph."""
    return torch.no_grad()
