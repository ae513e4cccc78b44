"""Random settings of every library: an answer, or a refusal in words, and never anything else.

    python -m benchmarks.soak.settings [--count 100000] [--seed 0]

Each case is one command line of `explain`, `translate` or `compare`, run in this process, half of
them with settings from a file. An answer is printable, and valid JSON where JSON was asked for.
"""

import argparse
import contextlib
import io
import json
import re
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.soak.settings_files import file_content
from benchmarks.soak.settings_values import given
from nbyt.cli.main import run
from nbyt.dialects import names
from nbyt.dialects.dialect import load

HANG_SECONDS = 20
_NO_NUMBER = re.compile(r"\b(nan|inf)\b")


def main() -> None:
    """Print the counts as JSON; exit with 1 if anything broke."""
    parser = argparse.ArgumentParser(prog="benchmarks.soak.settings", description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    found = soak(options.count, options.seed)
    print(json.dumps(found, indent=1))
    sys.exit(1 if found["broke"] else 0)


def soak(count: int, seed: int = 0) -> dict[str, Any]:
    """Return how many cases were answered and refused, and an example of each way to break."""
    counts: Counter[str] = Counter()
    examples: dict[str, list[str]] = {}
    slowest = 0.0
    with tempfile.TemporaryDirectory() as place:
        for number in range(count):
            words = command_line(Random(f"{seed}-{number}"), Path(place))
            began = time.perf_counter()
            found = outcome(words)
            slowest = max(slowest, time.perf_counter() - began)
            counts[found] += 1
            examples.setdefault(found, [str(number), *(word[:200] for word in words)])
    answered, refused = counts.pop("answered", 0), counts.pop("refused", 0)
    return {
        "cases": count,
        "answered": answered,
        "refused": refused,
        "broke": sum(counts.values()),
        "slowest_seconds": round(slowest, 2),
        "faults": [
            f"{what}, {times} times, such as: nbyt {' '.join(examples[what][1:])}"
            for what, times in counts.most_common()
        ],
    }


def command_line(random: Random, folder: Path) -> list[str]:
    """Return a command about random settings; files that it reads are written to the folder."""
    command = random.choice(["explain", "translate", "compare"])
    first, second = random.choices(names(), k=2)
    wild = random.choice([0.0, 0.1, 0.3, 0.6])
    options, words = _side(random, first, folder / "first", wild)
    if command == "translate":
        words.insert(1, second)
    if command == "compare":
        more, others = _side(random, second, folder / "second", wild)
        options, words = [*options, *more], [*words, "--", *others]
    return [command, *options, *random.choice([[], ["--json"]]), *words]


def _side(random: Random, name: str, path: Path, wild: float) -> tuple[list[str], list[str]]:
    """Return options and words for one library: settings as words, or from a file, or both."""
    dialect = load(name)
    pairs = given(random, dialect, wild)
    if random.random() < 0.5:
        return [], [name, *_assigned(pairs)]
    suffix, content = file_content(random, dialect, pairs, wild)
    path = path.with_suffix(suffix)
    path.write_bytes(content)
    entry = ["--entry=CartPole-v1"] if random.random() < wild / 2 else []
    more = random.choice([[], _assigned(given(random, dialect, wild)[:2])])
    return [f"--file={path}", *entry], [name, *more]


def _assigned(pairs: list[tuple[str, str]]) -> list[str]:
    return [f"{key}={value}" for key, value in pairs]


def outcome(words: list[str]) -> str:
    """Return `answered` or `refused`; anything else says what broke."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="") for _ in range(2))
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), _no_hang():
            code = run(list(words))
    except BaseException as error:
        return _signature(error)
    if code not in (0, 2):
        return f"exit code {code}"
    faults = _faults(_text(out), _text(err), code, as_json="--json" in words)
    return faults or ("answered" if code == 0 else "refused")


def _faults(out: str, err: str, code: int, *, as_json: bool) -> str:
    """Say what is wrong with the output of a command."""
    if code == 2 and "error: " not in err:
        return "refused without a word"
    if not all(one.isprintable() or one == "\n" for one in out + err):
        return "not printable"
    if as_json:
        try:
            record = json.loads(out, parse_constant=_no_constant)
        except ValueError:
            return "no JSON"
        expected = ("ok",) if code == 0 else ("failed", "partial")
        return "" if record["status"] in expected else "another status"
    # Settings that are not enough are refused, and what they say already is told beside that.
    if (code == 0) != bool(out) and "missing " not in out:
        return "no answer" if code == 0 else "an answer beside the refusal"
    return "not finite" if code == 0 and _NO_NUMBER.search(out) else ""


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} in JSON")


def _text(stream: io.TextIOWrapper) -> str:
    stream.seek(0)
    return stream.read()


def _signature(error: BaseException) -> str:
    """Name an exception and the place in nbyt that it comes from."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [one for one in frames if "/nbyt/" in one.filename] or frames
    return f"{type(error).__name__} at {Path(own[-1].filename).name}:{own[-1].name}"


@contextlib.contextmanager
def _no_hang() -> Iterator[None]:
    """End what takes far too long, where the system can."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def end(*_: object) -> None:
        raise TimeoutError(f"more than {HANG_SECONDS} s")

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(HANG_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


if __name__ == "__main__":
    main()
