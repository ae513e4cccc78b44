"""stdout and stderr, kept from what an env may do to them: print, replace or close them."""

import contextlib
import os
import sys
from collections.abc import Iterator
from typing import TextIO


@contextlib.contextmanager
def kept_streams(*, quiet_stdout: bool) -> Iterator[None]:
    """Afterwards both streams are what they were.

    quiet_stdout: meanwhile all that is written to stdout goes to stderr, also by C code, so that
    stdout belongs to one JSON object.
    """
    before = sys.stdout, sys.stderr
    kept = [_copy(stream, number) for number, stream in enumerate(before, start=1)]
    if quiet_stdout:
        sys.stdout = sys.stderr
        if None not in kept:
            os.dup2(2, 1)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
        for number, copy in enumerate(kept, start=1):
            _restore(number, copy)


def _copy(stream: TextIO | None, number: int) -> int | None:
    """Another descriptor of a stream that writes to this one; None for any other stream."""
    try:
        if stream is None or stream.fileno() != number:
            return None
        stream.flush()
        return os.dup(number)
    except (OSError, ValueError):
        return None


def _restore(number: int, copy: int | None) -> None:
    if copy is None:
        return
    name = "stdout" if number == 1 else "stderr"
    with contextlib.suppress(OSError, ValueError):  # the env has closed the copy, too
        if not getattr(sys, name).closed:
            getattr(sys, name).flush()
        os.dup2(copy, number)
        os.close(copy)
    if getattr(sys, name).closed:
        setattr(sys, name, open(number, "w", encoding="utf-8", closefd=False))  # noqa: SIM115
