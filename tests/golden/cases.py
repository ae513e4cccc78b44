"""Small fixed cases of every command, and what each is reduced to."""

import contextlib
import csv
import io
import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.golden.pinned import FOLDERS, flags, outline, shape

from nbyt.cli import main

LAKE = "tabular:FrozenLake-v1"
SIZES = "--network table --minibatch 16"
STAGE = FOLDERS / "train" / "stage-2"
SB3 = "sb3 n_envs=8 n_steps=256 batch_size=64 n_epochs=10"
COMMANDS = {
    # Which numbers of a measured policy are approximate differs from run to run: none is measured.
    "advise": "advise gymnax:CartPole-v1 --batch 256 --steps 8,32 --trainings 1 --costs parallel "
    "--stages 0 --total 20480 --network 16 --learning-rate 0.01 --out OUT",
    "advise-prior": f"advise {LAKE} --batch 64 --trainings 0 --current 4x16 "
    "--network table --out OUT",
    "time": f"time {LAKE} --batch 16 --envs 2,8 --network table --out OUT/costs.json",
    "advise-dry-run": "advise CartPole-v1 --batch 256 --dry-run",
    "train": f"train {LAKE} --envs 4 --steps 8 --total 96 --stages 2 {SIZES} --out OUT",
    "train-dqn": f"train {LAKE} --algo dqn --envs 4 --total 400 --warm-up 100 "
    "--network table --out OUT",
    "train-dry-run": "train CartPole-v1 --envs 4 --steps 8 --minibatch 16 --total 320 --dry-run",
    "probe": f"probe {STAGE} --batch 16 --chains 16",
    "probe-control": "probe --control sticky",
    "sweep": f"sweep {LAKE} --batch 32 --layouts 4x8,8x4 --seeds 2 --total 128 {SIZES} "
    "--no-advice --out OUT",
    "sweep-dry-run": "sweep CartPole-v1 --batch 256 --seeds 2 --total 1024 --dry-run",
    "reproduce-dry-run": "reproduce post --dry-run",
    "report": f"report {FOLDERS / 'sweep'} --out OUT/page.html",
    "check-env": f"check-env {LAKE}",
    "doctor-dir": f"doctor --dir {FOLDERS / 'train'}",
    "audit": "audit brax --batch 32 --minibatch 8 --epochs 2 --skip-rollout",
    "error": "train CartPole-v1 --envs 4 --steps 8 --minibatch 7",
}
# What these print is text and whole numbers: pinned to the letter.
EXACT = {
    "explain": f"explain {SB3}",
    "translate": "translate sb3 cleanrl n_envs=8 n_steps=256 batch_size=64 n_epochs=10",
    "compare": f"compare {SB3} -- rsl_rl num_envs=2048 num_steps_per_env=24",
    "dialects": "dialects",
    "dialect": "dialects skrl",
}
PAGES = ("advise", "sweep", "study", "probes")


def json_of(command: str, out: Path) -> tuple[int, Any]:
    """Run a command line in this process; return its exit code and its JSON."""
    said = io.StringIO()
    words = command.replace("OUT", str(out)).split()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(io.StringIO()):
        code = main.run([*words, *(["--json"] if "--json" not in words else [])])
    return code, json.loads(said.getvalue())


def shape_of(command: str, out: Path) -> Any:
    """Return the exit code of a command and the shape of its JSON."""
    code, record = json_of(command, out)
    # Which packages are named depends on what this process has imported.
    (record["data"] or {}).pop("versions", None)
    return {**shape(record), "code": code, "status": record["status"]}


def help_of(command: str) -> list[str]:
    """Return the options that the help text of a command names."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.suppress(SystemExit):
        main.run([*command.split(), "--help"])
    return flags(said.getvalue())


def page_of(kind: str, out: Path) -> dict[str, Any]:
    """Rebuild the page of a stored folder and return its outline."""
    folder = out / kind
    shutil.copytree(FOLDERS / kind, folder)
    code, _ = json_of(f"report {folder}", out)
    assert code == 0
    return outline((folder / "report.html").read_text())


def sb3_scalars(out: Path) -> list[str]:
    """Return the names that GradientProbe logs in a short training."""
    from stable_baselines3 import PPO
    from stable_baselines3.common.env_util import make_vec_env
    from stable_baselines3.common.logger import configure

    from nbyt.integrations.sb3 import GradientProbe

    model = PPO("MlpPolicy", make_vec_env("CartPole-v1", 8, seed=3), n_steps=32, seed=3)
    model.set_logger(configure(str(out), ["csv"]))
    model.learn(2 * 256, callback=GradientProbe(every=1, pool=8, verbose=2))
    with (out / "progress.csv").open() as file:
        names = next(csv.reader(file))
    # An end of an interval that is not finite is not logged, so ends are not pinned.
    known = {name.removesuffix("_low").removesuffix("_high") for name in names}
    return sorted(name for name in known if name.startswith("nbyt/"))


def pins() -> Iterator[tuple[str, Callable[[Path], Any]]]:
    """Yield every pin: its name, and the function that makes it in a folder."""
    for name, command in COMMANDS.items():
        yield f"shape-{name}", lambda out, command=command: shape_of(command, out)
    for name, command in EXACT.items():
        yield f"json-{name}", lambda out, command=command: list(json_of(command, out))
    for kind in PAGES:
        yield f"page-{kind}", lambda out, kind=kind: page_of(kind, out)
    yield "sb3-scalars", sb3_scalars
    for command in (*main._COMMANDS, "train --algo dqn"):
        name = command.replace(" --algo ", "-")
        yield f"flags-{name}", lambda out, command=command: help_of(command)
