"""The public surface as lines of text: names with signatures, flags, exit codes, files, schemas.

It is read from source files and pins, so nothing is imported and every Python finds the same lines.
"""

import ast
import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path

from nbyt.results.schema import FOLDER, schemas

ROOT = Path(__file__).parents[2]
FILE = Path(__file__).with_name("surface.txt")
CHANGELOG = ROOT / "CHANGELOG.md"
SOURCE = ROOT / "src"
# Packages whose names are promised; docs/compatibility.md says how firmly.
PACKAGES = (
    "nbyt",
    "nbyt.dialects",
    "nbyt.envs",
    "nbyt.errors",
    "nbyt.exact",
    "nbyt.integrations.jax",
    "nbyt.integrations.sb3",
    "nbyt.integrations.torch",
    "nbyt.integrations.trackers",
    "nbyt.minibatch",
    "nbyt.policy",
    "nbyt.results",
    "nbyt.stats",
)
_DEFINITIONS = (ast.FunctionDef, ast.ClassDef)
_SEALED = "changelog "


def lines(source: Path = SOURCE) -> list[str]:
    """List the public surface, sorted."""
    return sorted({*_names(source), *_flags(), *_files(source), *_schemas()})


def schema_text(schema: dict) -> str:
    """Write a schema as its file has it."""
    return json.dumps(schema, indent=1) + "\n"


def unreleased(changelog: str) -> str:
    """Return a digest of what the changelog has under Unreleased."""
    found = re.search(r"^## \[Unreleased\]\n(.*?)(?=^## |\Z)", changelog, re.DOTALL | re.MULTILINE)
    return hashlib.sha256((found[1] if found else "").strip().encode()).hexdigest()[:16]


def sealed(text: str) -> set[str]:
    """Return the digests that a snapshot names: of the changelog that it was written with.

    There are several in a file with the conflict marks of a merge.
    """
    found = (line for line in text.splitlines() if line.startswith(_SEALED))
    return {line.removeprefix(_SEALED) for line in found}


def known(text: str) -> list[str]:
    """Return the lines of a snapshot about the surface."""
    return [line for line in text.splitlines() if line and not line.startswith(_SEALED)]


def as_text(surface: list[str], digest: str) -> str:
    """Write a snapshot."""
    return "\n".join([_SEALED + digest, *surface]) + "\n"


def difference(before: list[str], after: list[str]) -> list[str]:
    """List the lines that are gone with -, and new ones with +."""
    gone = [f"- {line}" for line in before if line not in set(after)]
    return [*gone, *(f"+ {line}" for line in after if line not in set(before))]


def _names(source: Path) -> Iterator[str]:
    for package in PACKAGES:
        exported = _exported(source, package)
        for name in exported:
            found = _definition(source, package, name)
            if found is not None:
                yield from _described(source, f"python {package}.{name}", *found, exported)


def _path(source: Path, module: str) -> Path:
    place = source.joinpath(*module.split("."))
    return place / "__init__.py" if place.is_dir() else place.with_suffix(".py")


def _tree(source: Path, module: str) -> ast.Module:
    return ast.parse(_path(source, module).read_text(encoding="utf-8"))


def _exported(source: Path, module: str) -> set[str]:
    """Return the names that a package exports: in `__all__`, as `X as X`, or its own."""
    tree, found = _tree(source, module), set()
    is_package = _path(source, module).name == "__init__.py"
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            found |= {alias.name for alias in node.names if alias.asname == alias.name}
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            found |= {one.value for one in ast.walk(node.value) if isinstance(one, ast.Constant)}
    if not is_package:
        found |= {node.name for node in tree.body if isinstance(node, _DEFINITIONS)}
    return {name for name in found if not name.startswith("_")}


def _definition(source: Path, module: str, name: str) -> tuple[str, ast.stmt] | None:
    """Find the module that defines a name, through imports; None for modules and values."""
    tree = _tree(source, module)
    for node in ast.walk(tree):
        if isinstance(node, _DEFINITIONS) and node.name == name and node in tree.body:
            return module, node
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("nbyt"):
            for alias in node.names:
                if (alias.asname or alias.name) != name:
                    continue
                if _path(source, f"{node.module}.{alias.name}").exists():
                    return None
                return _definition(source, node.module or "", alias.name)
    return None


def _described(
    source: Path, name: str, module: str, node: ast.stmt, exported: set[str]
) -> Iterator[str]:
    """Yield a line for a function; for a class one for itself, each field and each method."""
    if isinstance(node, ast.FunctionDef):
        yield f"{name}{_signature(node)}"
    if isinstance(node, ast.ClassDef):
        bases = [base.id for base in node.bases if isinstance(base, ast.Name)]
        yield f"{name}: class({', '.join(base for base in bases if base in exported)})"
        for one in _members(source, module, node).values():
            yield from _member(f"{name}.", one)


def _members(source: Path, module: str, node: ast.ClassDef) -> dict[str, ast.stmt]:
    """Return what a class has by name, its own and that of bases of ours."""
    found: dict[str, ast.stmt] = {}
    for base in node.bases:
        defined = _definition(source, module, base.id) if isinstance(base, ast.Name) else None
        if defined is not None and isinstance(defined[1], ast.ClassDef):
            found |= _members(source, defined[0], defined[1])
    return found | {_name_of(one): one for one in node.body}


def _name_of(node: ast.stmt) -> str:
    if isinstance(node, ast.FunctionDef):
        return node.name
    return ast.unparse(node.target if isinstance(node, ast.AnnAssign) else node).partition(" =")[0]


def _member(prefix: str, node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef):
        name, marks = node.name, {ast.unparse(one) for one in node.decorator_list}
        if name == "__init__" or not name.startswith("_"):
            is_property = bool(marks & {"property", "cached_property"})
            yield f"{prefix}{name}{': property' if is_property else _signature(node)}"
    elif isinstance(node, ast.AnnAssign | ast.Assign):
        target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
        if isinstance(target, ast.Name) and not target.id.startswith("_"):
            yield f"{prefix}{ast.unparse(node)}"


def _signature(node: ast.FunctionDef) -> str:
    returned = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"({ast.unparse(node.args)}){returned}"


def _flags() -> Iterator[str]:
    """Yield every flag, as the pins of tests/golden have them; those are compared with the help."""
    for path in (ROOT / "tests" / "golden" / "pins").glob("flags-*.json"):
        command = path.stem.removeprefix("flags-")
        yield from (f"flag nbyt {command} {flag}" for flag in json.loads(path.read_text()))


def _files(source: Path) -> Iterator[str]:
    """Yield the name of every file that runs keep, from the table of files."""
    tree = _tree(source, "nbyt.store.files")
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call):
            words = [one.value for one in ast.walk(node.value) if isinstance(one, ast.Constant)]
            texts = (one for one in words if isinstance(one, str))
            yield from (f"file {one}" for one in texts if re.fullmatch(r"[\w{:}-]+\.\w+", one))


def _schemas() -> Iterator[str]:
    """Yield a digest of each schema; what changed in it is seen in its own file."""
    for name, schema in schemas().items():
        digest = hashlib.sha256(schema_text(schema).encode()).hexdigest()[:16]
        yield f"schema {(FOLDER / name).relative_to(SOURCE)}.json {digest}"
