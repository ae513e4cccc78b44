"""Run the tests that train as other CPUs would, one pass of pytest after the other.

    python -m benchmarks.isas.run [--short]

Each pass limits XLA, torch, NumPy and OpenBLAS to one instruction set, of those that this CPU has;
programs are compiled as users have them, and none is taken from a cache. Further passes start every
training from weights that are a rounding error away: what a CPU that is not here would do.
--short: the tests in which a training must have learnt something, and two passes.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.timing.machine import machine
from nbyt.system import instruction_sets

RESULT = Path(__file__).with_name("result.json")
ROOT = Path(__file__).parents[2]
# Nothing trains, draws or is timed there.
_LEFT_OUT = ("tests/benchmarks", "tests/dialects", "tests/report")
# Name for XLA, word that the system lists it by, and what keeps the other libraries to it.
_SETS = {
    "SSE4_2": ("sse4_2", "default", "Nehalem", "X86_V3 X86_V4 AVX512_ICL AVX512_SPR"),
    "AVX2": ("avx2", "avx2", "Haswell", "X86_V4 AVX512_ICL AVX512_SPR"),
    "AVX512": ("avx512f", "avx512", "SkylakeX", ""),
}
_SHIFTS = (3e-6,)


def main() -> None:
    """Run every pass; write result.json unless the run is short; exit with 1 if a test failed."""
    parser = argparse.ArgumentParser(prog="benchmarks.isas.run", description=__doc__)
    parser.add_argument("--short", action="store_true")
    short = parser.parse_args().short
    every = passes()
    # The oldest set is furthest from what the tests are usually run with.
    chosen = [every[0], every[-1]] if short else every
    facts, found = machine(), []
    for name, setting in chosen:
        found.append(_run(name, setting, short))
        if not short:
            RESULT.write_text(json.dumps({"machine": facts, "passes": found}, indent=1) + "\n")
    sys.exit(any(one["failed"] or not one["passed"] for one in found))


def passes() -> list[tuple[str, dict[str, str]]]:
    """Name each pass, with the variables that make it what it is."""
    here = instruction_sets()
    sets = [(name, _limits(name)) for name, (word, *_) in _SETS.items() if f"'{word}'" in here]
    shifts = [(f"weights shifted by {size:g}", {"NBYT_TEST_SHIFT": str(size)}) for size in _SHIFTS]
    return [*sets, *shifts]


def _limits(name: str) -> dict[str, str]:
    _, torch, blas, numpy = _SETS[name]
    limits = {"XLA_FLAGS": f"--xla_cpu_max_isa={name}", "ATEN_CPU_CAPABILITY": torch}
    return limits | {"OPENBLAS_CORETYPE": blas, "NPY_DISABLE_CPU_FEATURES": numpy}


def _run(name: str, setting: dict[str, str], short: bool) -> dict[str, Any]:
    left_out = [f"--ignore={folder}" for folder in _LEFT_OUT]
    what = ["-m", "learns", *_files_that_learn()] if short else left_out
    command = [sys.executable, "-m", "pytest", "-n", "2", "-p", "no:cacheprovider", *what]
    own = os.environ | setting | {"JAX_ENABLE_COMPILATION_CACHE": "false"}
    began = time.monotonic()
    done = subprocess.run(command, cwd=ROOT, env=own, capture_output=True, text=True)
    seconds = time.monotonic() - began
    counts = {word: _count(word, done.stdout) for word in ("passed", "failed", "skipped")}
    failures = re.findall(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    if done.returncode:
        print(done.stdout[-20_000:], done.stderr[-2_000:])
    said = f"{name}: {counts['passed']} passed, {counts['failed']} failed, {seconds:.0f} s"
    print(said, flush=True)
    failed = max(counts.pop("failed"), len(failures), bool(done.returncode))
    return {"name": name, **counts, "failed": failed, "failures": failures, "seconds": seconds}


def _files_that_learn() -> list[str]:
    """List the files with such tests: to import all the others would take longer than they do."""
    tests = sorted((ROOT / "tests").rglob("test_*.py"))
    return [str(path) for path in tests if "mark.learns" in path.read_text()]


def _count(word: str, printed: str) -> int:
    found = re.findall(rf"(\d+) {word}", printed.strip().rpartition("\n")[2])
    return int(found[0]) if found else 0


if __name__ == "__main__":
    main()
