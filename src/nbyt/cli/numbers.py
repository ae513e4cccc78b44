"""Numbers on the command line: lists of them, and amounts of memory."""

from nbyt.errors import UsageError

_UNITS = {"k": 2**10, "m": 2**20, "g": 2**30}


def whole_numbers(name: str, text: str) -> tuple[int, ...]:
    """The whole numbers of a list such as 8,32,128."""
    found = numbers(name, text)
    if any(not number.is_integer() for number in found):
        raise UsageError(f"'{text}' are not whole numbers", where=name, fix="such as 8,32,128")
    return tuple(int(number) for number in found)


def numbers(name: str, text: str) -> tuple[float, ...]:
    """The numbers of a list such as 0.9,0.95."""
    try:
        return tuple(float(part) for part in text.replace("_", "").split(",") if part.strip())
    except ValueError as error:
        raise UsageError(
            f"'{text}' is not a list of numbers", where=name, fix="write it as 0.9,0.95"
        ) from error


def memory_size(text: str) -> int:
    """The bytes of an amount such as 512M."""
    word = text.strip().lower().removesuffix("b").removesuffix("i")
    scale = _UNITS.get(word[-1:], 1)
    try:
        size = int(float(word.rstrip("kmg")) * scale)
    except ValueError:
        size = 0
    if size < 2**20:
        raise UsageError(
            f"'{text}' is no amount of memory of at least 1M", where="memory", fix="such as 512M"
        )
    return size
