"""Laws of imports: light ones stay light, none goes in a circle, extras have one home.

Each law is about a fresh interpreter, so each runs in a process of its own.
"""

import ast
import json
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import nbyt

SOURCE = Path(nbyt.__file__).parents[1]
FILES = sorted(path for name in ("nbyt", "nbyt_studies") for path in (SOURCE / name).rglob("*.py"))
LIGHT = [
    "nbyt",
    "nbyt.layout",
    "nbyt.dialects",
    "nbyt.errors",
    "nbyt.rng",
    "nbyt.system",
    "nbyt.store.run",
    "nbyt.stats",
    "nbyt.stats.prior",
    "nbyt.advice.reasons",
    "nbyt.advice.libraries",
    "nbyt.report.pages.advice",
    "nbyt.cli.main",
]
OPTIONAL = ["torch", "stable_baselines3", "envpool", "mujoco", "tensorboardX", "wandb", "ray"]
OPTIONAL += ["gymnax"]


def module_name(path: Path) -> str:
    """The dotted name of a source file."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def run(code: str) -> str:
    """What a fresh interpreter prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def imported(path: Path) -> set[str]:
    """The top-level packages that a file imports anywhere, by name or by importlib."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "import_module":
            names = [x.value for x in node.args if isinstance(x, ast.Constant)]
            found |= {str(name).partition(".")[0] for name in names}
    return found


def test_light_modules_bring_neither_jax_nor_gymnax() -> None:
    """All of them in one interpreter: what none of them brings, no single one does."""
    code = f"import sys, json, {', '.join(LIGHT)}; print(json.dumps(list(sys.modules)))"
    loaded = json.loads(run(code))
    assert set(LIGHT) <= set(loaded)
    assert not {"jax", "jaxlib", "gymnax", "gymnasium", "torch", "optax"} & set(loaded)


def test_public_names_resolve_when_they_are_used() -> None:
    code = """
import sys, nbyt
assert nbyt.Layout(envs=2, steps=3).batch == 6
assert "jax" not in sys.modules
env = nbyt.envs.tabular.from_arrays([[[1.0]]], [[[2.0]]], [[[True]]], [1.0])
stage = nbyt.policy.table([[0.0, 1.0]], [0.0])
assert env.transition.shape == (1, 1, 1) and stage.policy.head.actions == 2
assert set(dir(nbyt)) == set(nbyt.__all__)
for name in nbyt.__all__:
    getattr(nbyt, name)
try:
    nbyt.nothing
except AttributeError as error:
    print(error)
"""
    assert run(code).strip() == "module 'nbyt' has no attribute 'nothing'"


def needs(path: Path) -> set[str]:
    """The modules of nbyt that a file imports when it is imported itself, not inside functions."""
    known = {module_name(file) for file in FILES}
    found: set[str] = set()
    waiting = list(ast.parse(path.read_text()).body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.If | ast.Try | ast.With):
            waiting += [child for child in ast.walk(node) if isinstance(child, ast.stmt)][1:]
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            inside = {f"{node.module}.{alias.name}" for alias in node.names} & known
            found |= inside or {node.module}
    return (found & known) - {module_name(path)}


def test_no_module_must_be_imported_before_another() -> None:
    """Imports without a circle work in every order."""
    graph = {module_name(path): needs(path) for path in FILES}
    assert "nbyt.layout" in graph["nbyt.advice.request"]
    order = list(TopologicalSorter(graph).static_order())
    assert len(order) == len(FILES)


def test_every_module_imports() -> None:
    names = [module_name(path) for path in FILES]
    imported = (
        f"for name in {names!r}:\n    __import__(name)\nprint(set({names!r}) <= {{*sys.modules}})"
    )
    assert run(f"import sys\n{imported}").strip() == "True"


@pytest.mark.parametrize("package", [*OPTIONAL, "plotly", "psutil"])
def test_such_a_package_is_imported_in_at_most_one_file(package) -> None:
    homes = [path.relative_to(SOURCE) for path in FILES if package in imported(path)]
    assert len(homes) <= 1, homes


def test_the_reader_of_imports_sees_them() -> None:
    """The law above would be empty if its reader saw nothing."""
    homes = {p: [f for f in FILES if p in imported(f)] for p in ("gymnax", "envpool", "jax")}
    assert [f.name for f in homes["gymnax"]] == ["gymnax_suite.py"]
    assert [f.name for f in homes["envpool"]] == ["envpool_suite.py"]
    assert len(homes["jax"]) > 5
