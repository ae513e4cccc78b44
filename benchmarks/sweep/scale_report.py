"""docs/scale.md from scale.json; every measured number comes from that file.

python -m benchmarks.sweep.scale_report
"""

import json
from pathlib import Path
from typing import Any

from benchmarks.sweep import scale
from benchmarks.timing.machine import in_words
from nbyt.store.atomic import write_text
from nbyt.store.files import LIMIT

RESULT = scale.RESULT
PAGE = Path(__file__).parents[2] / "docs" / "scale.md"
_WORDS = Path(__file__).with_name("scale_page.md")
_NODES, _CORES, _ENVS, _CELLS = 1000, 64, 1_000_000, 1_000_000
_NAMES = {
    "one_process": "one process",
    "two_processes": "two processes",
    "eight_processes": "eight processes",
    "ray_two_cpus": "Ray, two CPUs",
}


def main() -> None:
    """Write the page."""
    write_text(PAGE, page(json.loads(RESULT.read_text())))


def page(found: dict[str, Any]) -> str:
    """The page of these numbers."""
    return _WORDS.read_text().format(measured=_measured(found), **_plan(found))


def _measured(found: dict[str, Any]) -> str:
    cells, task, files, pool = (found[name] for name in ("cells", "task", "files", "pool"))
    speed = [
        f"| {words} | {_both(cells['per_minute'][name], 1)} "
        f"| {_both(cells['ratio_to_one_process'][name], 2)} |"
        for name, words in _NAMES.items()
    ]
    rows = [
        (
            "a worker process, from nothing to its first answer",
            _both(found["lane_start_seconds"], 1, " s"),
        ),
        ("Ray on this machine, from nothing", f"{found['ray_start_seconds']:.1f} s"),
        ("a task without work, one at a time", _both(task["milliseconds"]["alone"], 1, " ms")),
        ("the same, a hundred at once", _both(task["milliseconds"]["together"], 1, " ms")),
        (
            f"a look at {task['looked_at']:,} tasks under way, for each of them",
            _both({k: v and 1000 * v for k, v in task["look_milliseconds"].items()}, 1, " µs"),
        ),
        ("sent with a task", f"{task['bytes_sent']:,} bytes"),
        ("returned by it, 20 points of a curve", f"{files['answer_bytes']:,} bytes"),
        ("a training's file, 20 points", f"{files['bytes']:,} bytes"),
        ("written, flushed and renamed", _both(files["milliseconds"]["written"], 2, " ms")),
        ("read and checked", _both(files["milliseconds"]["read"], 2, " ms")),
        ("its row of the table", f"{files['table_bytes']:,} bytes"),
        ("a step of a chain that is sent back", f"{pool['bytes_a_step']:.0f} bytes"),
    ]
    return "\n".join(
        [
            f"`make scale`, {found['rounds']} rounds on a busy machine; medians, with intervals "
            f"for them. {cells['trainings']} short trainings of an env that waits 2 ms in every "
            "step, so that more workers than cores can be kept busy; ratios are taken within a "
            "round. Processes are started anew in every round, Ray's are there already.",
            "",
            "| who | trainings in a minute | times one process |",
            "|---|---|---|",
            *speed,
            "",
            "| what | |",
            "|---|---|",
            *(f"| {what} | {number} |" for what, number in rows),
            "",
            in_words(found["machine"]).replace("## Machine\n\n", "").rstrip(),
        ]
    )


def _plan(found: dict[str, Any]) -> dict[str, Any]:
    """The numbers of the plan on paper."""
    task, files = found["task"], found["files"]
    workers = _NODES * _CORES
    each = task["milliseconds"]["together"]["value"] + files["milliseconds"]["written"]["value"]
    rate = 1000 / each
    look = task["look_milliseconds"]["value"] * 2 * workers / 1000
    wire = _CELLS * (task["bytes_sent"] + files["answer_bytes"]) / 1e9
    return {
        "nodes": f"{_NODES:,}",
        "cores": _CORES,
        "workers": f"{workers:,}",
        "envs": f"{_ENVS:,}",
        "each_envs": _ENVS // workers + 1,
        "wire": f"{wire:.1f}",
        "sent": f"{task['bytes_sent']:,}",
        "back": f"{files['answer_bytes']:,}",
        "stored": f"{_CELLS * files['bytes'] / 1e9:.1f}",
        "table": f"{_CELLS * files['table_bytes'] / 1e9:.1f}",
        "resume": f"{_CELLS * files['milliseconds']['read']['value'] / 60000:.0f}",
        "each": f"{each:.1f}",
        "rate": f"{rate:.0f}",
        "shortest": f"{workers / rate / 60:.0f}",
        "all_hours": f"{_CELLS / rate / 3600:.1f}",
        "look": f"{look:.1f}",
        "flying": f"{2 * workers:,}",
        "limit": LIMIT >> 20,
        "pool": f"{128 * 4096 * found['pool']['bytes_a_step'] / 1e6:.0f}",
    }


def _both(number: dict[str, Any], digits: int, unit: str = "") -> str:
    value, low, high = (
        "?" if number[name] is None else f"{number[name]:.{digits}f}"
        for name in ("value", "low", "high")
    )
    return f"{value}{unit} [{low}, {high}]"


if __name__ == "__main__":
    main()
