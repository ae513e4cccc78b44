"""The file operations of this process that write, counted."""

import os
from collections.abc import Callable
from typing import Any

OPERATIONS = ("open", "fsync", "replace", "rename", "unlink", "mkdir", "rmdir")


def count_operations(before: Callable[[int], None]) -> Callable[[], None]:
    """Call `before` with the number of each file operation that writes, right before it.

    Return a function that ends this.
    """
    count = 0

    def counted(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def called(*args: Any, **kwargs: Any) -> Any:
            nonlocal count
            if name != "open" or (len(args) > 1 and args[1] & os.O_CREAT):
                count += 1
                before(count)
            return real(*args, **kwargs)

        return called

    real = {name: getattr(os, name) for name in OPERATIONS}
    for name, function in real.items():
        setattr(os, name, counted(name, function))

    def end() -> None:
        for name, function in real.items():
            setattr(os, name, function)

    return end
