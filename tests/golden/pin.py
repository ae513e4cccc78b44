"""Pin anew what commands print, pages hold and help texts offer.

    python -m tests.golden.pin [NAME...]

Look at the difference before you commit it: a key, flag or number that goes is a broken promise.
"""

import sys
import tempfile
from pathlib import Path

from tests.golden.cases import pins
from tests.golden.pinned import write


def main() -> None:
    """Write the pins that are named, or all."""
    for name, make in pins():
        if not sys.argv[1:] or name in sys.argv[1:]:
            with tempfile.TemporaryDirectory() as out:
                write(name, make(Path(out)))
            sys.stderr.write(f"{name}\n")


if __name__ == "__main__":
    main()
