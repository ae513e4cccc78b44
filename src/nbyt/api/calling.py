"""How the public functions are called: a misspelt argument is an error that names the call."""

import functools
import inspect
from collections.abc import Callable
from difflib import get_close_matches
from typing import ParamSpec, TypeVar

from nbyt.errors import UsageError

Given = ParamSpec("Given")
Returned = TypeVar("Returned")


def public(function: Callable[Given, Returned]) -> Callable[Given, Returned]:
    """Refuse arguments that the function does not have in the words of our other errors."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def called(*args: Given.args, **kwargs: Given.kwargs) -> Returned:
        try:
            signature.bind(*args, **kwargs)
        except TypeError as error:
            call, known = f"nbyt.{function.__name__}", list(signature.parameters)
            unknown = [name for name in kwargs if name not in known]
            near = get_close_matches(unknown[0], known, n=1) if unknown else []
            fix = f"did you mean {near[0]}?" if near else f"its arguments: {', '.join(known)}"
            raise UsageError(f"{call}(): {error}", where=call, fix=fix) from None
        return function(*args, **kwargs)

    return called
