"""Files that are whole and wrong: one key changed, sealed again with the right hash.

`python -m benchmarks.soak.mutations --count 5000` makes a folder of every kind with the real
commands, changes one key at a time, gives the folder to the commands that read it, and prints how
often they finished, refused it in words, or ended in a traceback. Nothing but the first two is
right.

With `--every K` each key of each file is changed K times, instead of keys drawn at random.
"""

import argparse
import contextlib
import copy
import io
import json
import os
import random
import re
import shutil
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from nbyt.cli import main as cli
from nbyt.store.files import STUDY
from nbyt.store.formats import sealed
from nbyt.store.run import Folder

ENV = "tabular:FrozenLake-v1"
SIZES = "--network table --quiet"
TRAIN = f"train {ENV} --envs 4 --steps 8 --minibatch 16 --total 96 --stages 2 {SIZES}"
SWEEP = f"sweep {ENV} --batch 32 --layouts 4x8,8x4 --seeds 2 --total 128 --minibatch 16 {SIZES}"
ADVISE = f"advise {ENV} --batch 16 --total 160 --stages 2 {SIZES}"
_STUDY = Path(__file__).parents[2] / "tests/golden/folders/study/study.json"

Path_ = tuple[str | int, ...]
_DEEP: Any = []
for _ in range(150):
    _DEEP = [_DEEP]
VALUES = (None, "x", -1, 0, 1, 0.5, 1e308, -1e99, 1e-99, 10**15, 10**30, [], {}, True, "x" * 10_000)


class Target(NamedTuple):
    """A file of a folder, and the command lines that read it; FOLDER stands for the folder."""

    name: str
    folder: Path
    file: str
    commands: tuple[str, ...]


class Outcome(NamedTuple):
    """What a command did with a changed file: "finished", "refused" or the end of a traceback."""

    word: str
    detail: str = ""


def forms(facts: Any) -> dict[str, list[Path_]]:
    """Group the paths of all keys by their form: the path without places in lists."""
    by_form: dict[str, list[Path_]] = {}
    for path in _paths(facts):
        by_form.setdefault(_form(path), []).append(path)
    return by_form


def mutated(facts: Any, chance: random.Random, form: str = "") -> tuple[Any, str]:
    """Return a copy with one key changed, and what was changed in words.

    Keys are drawn by their form unless one is given, so that a file's many numbers do not crowd
    out the few keys that decide.
    """
    found = copy.deepcopy(facts)
    by_form = forms(found)
    path = chance.choice(by_form[form or chance.choice(sorted(by_form))])
    parent, key = _at(found, path[:-1]), path[-1]
    changes: list[Callable[[], str]] = [lambda: _replace(parent, key, chance)] * 4
    changes.append(lambda: _delete(parent, key))
    if isinstance(parent[key], list) and parent[key]:
        changes += [lambda: _relist(found, parent, key, chance)] * 2
    return found, f"{_shown(path)} {chance.choice(changes)()}"


def rewrite(path: Path, facts: Any) -> None:
    """Seal other facts in a file, with the right hash, as somebody with nbyt at hand can."""
    record = json.loads(path.read_text())
    more = {key: record[key] for key in ("file", "sha256") if key in record}
    path.write_bytes(sealed(facts, kind=record["kind"], **more))


def attempt(target: Target, change: Callable[[Any], Any], scratch: Path) -> list[Outcome]:
    """Return what each command does with a copy of the folder in which one file was changed."""
    outcomes = []
    for command in target.commands:
        folder = scratch / "folder"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(target.folder, folder, copy_function=_link)
        file = folder / target.file
        facts = change(json.loads(file.read_text())["facts"])
        file.unlink()
        record = target.folder / target.file
        file.write_bytes(record.read_bytes())
        rewrite(file, facts)
        outcomes.append(run(command.replace("FOLDER", str(folder)), scratch))
    return outcomes


def run(command: str, scratch: Path) -> Outcome:
    """Run a command line in this process."""
    words = command.replace("SCRATCH", str(scratch)).split()
    said, told = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(told):
        try:
            code = cli.run(words)
        except BaseException as error:  # whatever it is, a user would see a traceback
            last = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{Path(last.filename).name}:{last.lineno}"
            return Outcome("traceback", f"{type(error).__name__} at {where}: {str(error)[:80]}")
    if fainted := re.search(r"^\w*(Error|Exception|Iteration): .*", said.getvalue(), re.MULTILINE):
        return Outcome("traceback", f"{words[0]}: {fainted[0][:80]}")
    bad_words = code not in (0, 1, 2) or (code == 1 and words[0] != "doctor")
    if bad_words:
        return Outcome("other exit", f"{words[0]}: {code}: {told.getvalue()[-300:]}")
    return Outcome("refused" if code else "finished")


def make_targets(folder: Path, wanted: set[str] | None = None) -> list[Target]:
    """Make a folder of every kind with the real commands, and say what reads each file."""
    for name, command in (
        ("train", TRAIN),
        ("sweep", SWEEP),
        ("advise", f"{ADVISE} --effort normal --current 4x4"),
    ):
        if wanted is None or name in wanted:
            done = run(f"{command} --out {folder / name}", folder)
            assert done.word == "finished", done
    if wanted is None or "study" in wanted:
        (folder / "study").mkdir()
        Folder(folder / "study").write(STUDY, json.loads(_STUDY.read_text())["facts"])
    if wanted is None or "probes" in wanted:
        probe_a_training(folder / "probes")
    return [one for one in _targets(folder) if (one.folder / one.file).exists()]


def probe_a_training(out: Path) -> None:
    """Probe three batches of a loop in JAX."""
    import jax.numpy as jnp

    from nbyt.integrations.jax import GradientProbe

    def log_prob(params: Any, rows: Any, actions: Any) -> Any:
        return -0.5 * (actions - rows @ params["actor"]) ** 2

    def value(params: Any, rows: Any) -> Any:
        return rows @ params["critic"]

    params = {"actor": jnp.ones(3), "critic": jnp.ones(3)}
    probe = GradientProbe(log_prob=log_prob, value=value, gamma=0.9, lam=0.9, out=out)
    draw = np.random.default_rng(0).standard_normal
    shape, never = (8, 8), np.zeros((8, 8), bool)
    for _ in range(3):
        obs = draw((*shape, 3)).astype(np.float32)
        actions, rewards, values = (draw(shape).astype(np.float32) for _ in range(3))
        probe.measure(params, obs, actions, rewards, never, never, values)


def _targets(folder: Path) -> Iterator[Target]:
    report, doctor = "report FOLDER --out SCRATCH/page.html --quiet", "doctor --dir FOLDER --quiet"
    sweep, advise = folder / "sweep", folder / "advise"
    resume = f"{ADVISE} --effort normal --current 4x4 --out FOLDER"
    for name, file in (("advise", "advice.json"), ("sweep", "sweep.json"), ("study", "study.json")):
        yield Target(file, folder / name, file, (report, doctor))
    for file in ("probes.json", "record-000002.json"):
        yield Target(file, folder / "probes", file, (report, doctor))
    for pattern in ("cell-*.json", "times.json", "failed-*.json"):
        for path in sorted(sweep.glob(pattern))[:1]:
            yield Target(pattern, sweep, path.name, (f"{SWEEP} --out FOLDER", doctor))
    kept = ("costs.json", "untrained.json", "cell-*.json", "look-*.json")
    for pattern in (*kept, "measured-1/measurement.json"):
        for path in sorted(advise.glob(pattern))[:1]:
            name = "an advice's cell" if pattern.startswith("cell") else pattern
            yield Target(name, advise, str(path.relative_to(advise)), (resume, doctor))
    for path in sorted(advise.glob("training-*/stage-1/stage.json")):
        yield Target("a training's stage", advise, str(path.relative_to(advise)), (resume,))
    stage = "FOLDER/stage-1"
    reads = (
        f"probe {stage} --env {ENV} --batch 16 --chains 8 --quiet",
        f"{TRAIN} --out SCRATCH/from --force --from {stage}",
        f"advise {ENV} --batch 16 --effort quick --quiet --out SCRATCH/given --force --dry-run "
        f"--from {stage}",
        doctor,
    )
    yield Target("stage.json", folder / "train", "stage-1/stage.json", reads)
    yield Target("result.json", folder / "train", "result.json", (f"{TRAIN} --out FOLDER", doctor))
    yield Target("marker", folder / "train", "nbyt-run.json", (f"{TRAIN} --out FOLDER", doctor))


def _paths(tree: Any, path: Path_ = ()) -> Iterator[Path_]:
    pairs = tree.items() if isinstance(tree, dict) else enumerate(tree)
    for key, value in pairs:
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from _paths(value, (*path, key))


def _form(path: Path_) -> str:
    return ".".join("*" if isinstance(key, int) else str(key) for key in path)


def _shown(path: Path_) -> str:
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path)


def _at(tree: Any, path: Path_) -> Any:
    for key in path:
        tree = tree[key]
    return tree


def _replace(parent: Any, key: Any, chance: random.Random) -> str:
    value = chance.choice((*VALUES, _DEEP))
    parent[key] = copy.deepcopy(value)
    return f"is {str(value)[:20]}"


def _delete(parent: Any, key: Any) -> str:
    del parent[key]
    return "is gone"


def _relist(tree: Any, parent: Any, key: Any, chance: random.Random) -> str:
    """Change a list's length or order, or put another list of the file in its place."""
    own = parent[key]
    others = [path for path in _paths(tree) if isinstance(_at(tree, path), list)]
    word, value = chance.choice(
        [
            ("is cut", own[:-1]),
            ("is doubled", own + own),
            ("is reversed", own[::-1]),
            ("is another list", copy.deepcopy(_at(tree, chance.choice(others)))),
        ]
    )
    parent[key] = value
    return word


def _changes(targets: list[Target], asked: argparse.Namespace) -> Iterator[tuple[Target, str, str]]:
    """Yield what to change: the file, the form of the key ("" for any), and a seed."""
    if not asked.every:
        for number in range(asked.count):
            yield targets[number % len(targets)], "", f"{asked.seed}-{number}"
        return
    for target in targets:
        facts = json.loads((target.folder / target.file).read_text())["facts"]
        for form in sorted(forms(facts)):
            for number in range(asked.every):
                yield target, form, f"{asked.seed}-{number}-{form}"


def _link(source: str, target: str) -> None:
    """Link instead of copying: nbyt replaces files and never writes into one."""
    os.link(source, target)


def main() -> None:
    """Change files many times and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="files to change")
    parser.add_argument("--every", type=int, default=0, help="changes of each key, instead")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="kinds of files, by comma")
    asked = parser.parse_args()
    counts, faults = Counter[str](), Counter[str]()
    changed, began = 0, time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        root = Path(name).resolve()
        targets = make_targets(root)
        chosen = [one for one in targets if not asked.only or one.name in asked.only.split(",")]
        scratch = root / "scratch"
        scratch.mkdir()
        by_file: dict[str, Counter[str]] = {one.name: Counter() for one in chosen}
        for target, form, seed in _changes(chosen, asked):
            changed += 1
            said = ""

            def change(facts: Any, form: str = form, seed: str = seed) -> Any:
                nonlocal said
                found, said = mutated(facts, random.Random(seed), form)
                return found

            for outcome in attempt(target, change, scratch):
                counts[outcome.word] += 1
                by_file[target.name][outcome.word] += 1
                if outcome.detail:
                    faults[f"{target.name}{said}: {outcome.detail}"] += 1
    found = {
        "files_changed": changed,
        "changes_of_each_key": asked.every,
        "seed": asked.seed,
        "outcomes": dict(counts),
        "by_file": {name: dict(one) for name, one in by_file.items()},
        "faults": dict(faults.most_common(40)),
        "wall_seconds": round(time.monotonic() - began),
    }
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
