"""docs/reliability.md from soak.json; every number on the page comes from that file.

python -m benchmarks.soak.report
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.soak.run import RESULT, faults
from benchmarks.timing.machine import in_words
from nbyt.store.atomic import write_text

# What `make soak-keys` found.
EVERY_KEY = Path(__file__).with_name("every_key.json")
PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"
_WORDS = Path(__file__).with_name("page.md")
Data = dict[str, Any]


def main() -> None:
    """Write the page."""
    write_text(PAGE, page(json.loads(RESULT.read_text())))


def page(found: dict[str, Data]) -> str:
    """Return the page of these numbers."""
    sections = {name: write(found) for name, write in _SECTIONS.items()}
    return _WORDS.read_text().format(**sections)


def _answer(found: dict[str, Data]) -> str:
    """Say in a sentence what was lost."""
    kills = sum(sum(case["kills"].values()) for case in found["kills"]["cases"])
    full = sum(case["full"] for case in found.get("disk", {}).get("cases", []))
    ends = sum(case["finished"] for case in found["kills"]["cases"])
    tried = f"{kills} kills and {full} full disks"
    wrong = faults(found)
    if not wrong:
        return (
            f"**Lost in {tried}: nothing.** {ends} runs were resumed after kills until they were "
            "finished; each left the files that an undisturbed run leaves, no temporary file, and "
            "no process."
        )
    lines = "\n".join(f"- {' '.join(line.split())[:300]}" for line in wrong)
    return f"**{len(wrong)} faults in {tried}:**\n\n{lines}"


def _kills(found: dict[str, Data]) -> str:
    rows = [
        f"| {case['name']} | {case['kills']['kill -9']} | {case['kills']['file operation']} "
        f"| {case['kills']['SIGTERM']} | {case['kills']['Ctrl-C']} "
        f"| {case['temporary_files_left_by_kills']} | {case['longest_orphan_seconds']:.1f} s "
        f"| {case['files_compared']} | {_verdict(case)} |"
        for case in found["kills"]["cases"]
    ]
    head = "| command | `kill -9`, any moment | `kill -9` at a file operation | SIGTERM | Ctrl-C "
    head += "| temporary files left by kills | last process gone after | files compared "
    head += "| after resuming |\n|---|---|---|---|---|---|---|---|---|\n"
    return head + "\n".join(rows)


def _disk(found: dict[str, Data]) -> str:
    part = found.get("disk")
    if part is None or "skipped" in part:
        return f"Not tried: {(part or {}).get('skipped', 'this part has not run yet')}."
    rows = [
        f"| {case['name']} | {case['bytes'] / 1e6:.2f} MB | {case['full']} | {_verdict(case)} |"
        for case in part["cases"]
    ]
    head = "| command | needs | times the disk was full | with enough room |\n|---|---|---|---|\n"
    return head + "\n".join(rows)


def _many(found: dict[str, Data]) -> str:
    part = found.get("many")
    if part is None:
        return "This part has not run yet."
    rows = [
        f"| {one['env']} | {one['cells']} | {_pair(one['seconds_a_cell'])} s "
        f"| {_pair(one['memory_mb'])} MB | {_pair(one['descriptors'])} | {_pair(one['threads'])} "
        f"| {one['again_seconds']:.0f} s | {_verdict(one)} |"
        for one in part["large"]
    ]
    head = "| sweep of | trainings | seconds each, first and second half "
    head += "| driver's memory | open files | threads | same command again | all there |\n"
    head += "|---|---|---|---|---|---|---|---|\n"
    beside = part["side_by_side"]
    words = "\n\nTwo sweeps side by side that share an empty cache of compiled programs, "
    words += f"{beside['pairs']} pairs: {_verdict(beside)}.\n\n"
    table = "| one folder, the command given twice | times | one was refused | afterwards |\n"
    table += "|---|---|---|---|\n"
    lines = [
        f"| {one['name']} | {one['rounds']} | {one['refused']} | {_verdict(one)} |"
        for one in part["one_folder"]
    ]
    return head + "\n".join(rows) + words + table + "\n".join(lines)


def _others(found: dict[str, Data]) -> str:
    """Write a row for every part that other modules count."""
    rows = [
        f"| {words}{_unless_done(found[name])} | {_counts(found[name])} |"
        for name, words in (
            ("hostile_envs", "environments that raise, hang, exit, crash or lie"),
            ("mutations", "result files changed at random and hashed again"),
            ("settings", "random settings of other libraries"),
        )
        if name in found
    ]
    keys = json.loads(EVERY_KEY.read_text())
    files, times = " and ".join(keys["by_file"]), keys["changes_of_each_key"]
    rows.append(f"| every key of {files}, changed in {times} ways | {_counts(keys)} |")
    return "| what | counted |\n|---|---|\n" + "\n".join(rows)


def _counts(part: Data) -> str:
    """Return the plain numbers of a part, in its own words."""
    flat = {**part, **part.get("outcomes", {})}
    skipped = ("done", "seed", "seconds", "minutes", "wall_seconds", "changes_of_each_key")
    numbers = {
        key.replace("_", " "): value
        for key, value in flat.items()
        if isinstance(value, int | float) and key not in skipped
    }
    return ", ".join(f"{key} {value:,}" for key, value in numbers.items())


def _machine(found: dict[str, Data]) -> str:
    apart = [name.replace("_", " ") for name, part in found.items() if part.get("apart")]
    words = f"\nRun apart from the others: {', '.join(apart)}.\n" if apart else ""
    return in_words(found["kills"]["machine"]).rstrip() + "\n" + words


def _unless_done(part: Data) -> str:
    return "" if part.get("done") else " (not all of it yet)"


def _verdict(part: Data) -> str:
    return "the same" if not part["faults"] else f"{len(part['faults'])} FAULTS"


def _pair(numbers: list[float]) -> str:
    return " → ".join(f"{number:g}" for number in (numbers[0], numbers[-1]))


_SECTIONS: dict[str, Callable[[dict[str, Data]], str]] = {
    "answer": _answer,
    "kills": _kills,
    "disk": _disk,
    "many": _many,
    "others": _others,
    "machine": _machine,
}


if __name__ == "__main__":
    main()
