"""Law: without torch, Stable-Baselines3, Ray and gymnax everything works that does not need them.

In a real environment of its own, whose packages are links to those here, those left out.
"""

import json
import os
import subprocess
import sys
import sysconfig
from fnmatch import fnmatch
from pathlib import Path

import pytest

import nbyt

LEFT_OUT = ("torch*", "functorch*", "stable_baselines3*", "sb3*", "ray", "ray-*", "nbyt*")
LEFT_OUT += ("_editable_impl_nbyt*",)
# What gymnax brings.
LEFT_OUT += ("gymnax*", "flax*", "orbax*", "tensorstore*", "pandas*", "matplotlib*", "seaborn*")
SOURCE = Path(nbyt.__file__).parents[1]
NBYT = "import sys; from nbyt.cli.main import run; sys.exit(run(sys.argv[1:]))"
WHERE = """
from importlib.util import find_spec

print(find_spec("torch"), find_spec("stable_baselines3"), find_spec("nbyt").origin)
"""
PROBE = "probe --control sticky --chains 8 --json --quiet"
TRAIN = "train CartPole-v1 --envs 4 --steps 8 --minibatch 32 --epochs 1 --total 64 --json"

# In one process, since each would need seconds to import JAX.
WORK = f"""
from nbyt.cli.main import run

assert run({PROBE.split()!r}) == 0
assert run({TRAIN.split()!r} + ["--quiet", "--out", "run"]) == 0
for env in ("gymnax:CartPole-v1", "Breakout-MinAtar"):
    assert run(["train", env, "--json"]) == 2
"""

BRIDGES = """
import json, nbyt.integrations, nbyt.integrations.trackers
from nbyt.errors import MissingExtraError
from nbyt.sweeps.cluster import Connection

for name in ("sb3", "torch", "ray"):
    for attempt in range(2):  # the first must leave nothing behind that the second takes for it
        try:
            Connection("auto") if name == "ray" else getattr(nbyt.integrations, name)
        except MissingExtraError as error:
            print(json.dumps([name, error.message, error.fix]))
"""


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of an environment without the two."""
    home = tmp_path_factory.mktemp("lean") / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    packages = next(home.glob("lib/python*/site-packages"))
    for folder in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
        for entry in Path(folder).iterdir():
            if not any(fnmatch(entry.name, pattern) for pattern in LEFT_OUT):
                (packages / entry.name).symlink_to(entry)
    (packages / "nbyt.pth").write_text(f"{SOURCE}\n")
    return home / "bin" / "python"


def in_lean(python: Path, code: str, *arguments: str) -> str:
    """What the lean interpreter prints; it must end well."""
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    command = [str(python), "-c", code, *arguments]
    done = subprocess.run(
        command, cwd=python.parent, env=environment, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_two_are_not_there_and_the_help_is(python: Path) -> None:
    assert in_lean(python, WHERE).split() == ["None", "None", str(SOURCE / "nbyt" / "__init__.py")]
    assert "advise" in in_lean(python, NBYT, "--help")


def test_probing_and_training_work(python: Path) -> None:
    said = map(json.loads, in_lean(python, WORK).splitlines())
    probed, trained, *refused = said
    assert (probed["status"], trained["status"]) == ("ok", "ok")
    assert probed["data"]["layouts"] and trained["data"]["updates"] == 2
    assert len(refused) == 2
    for one in refused:
        assert "pip install 'nbyt[gymnax]'" in one["error"]["fix"]


def test_a_bridge_says_which_extra_is_missing_and_nothing_else(python: Path) -> None:
    said = [json.loads(line) for line in in_lean(python, BRIDGES).splitlines()]
    assert [name for name, _, _ in said] == ["sb3", "sb3", "torch", "torch", "ray", "ray"]
    for name, message, fix in said:
        assert "not installed" in message
        assert fix == f"pip install 'nbyt[{'ray' if name == 'ray' else 'sb3'}]'"
