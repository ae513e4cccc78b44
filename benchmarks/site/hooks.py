"""What the documentation site has beside the pages in docs: mkdocs calls these functions.

The README is its first page; the project's other pages, files that pages link to, the calculator
and a reference of every public name are added. Links into the repository follow them.
"""

import importlib
import json
import re
import tempfile
import typing
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

import nbyt
from nbyt.calculator import page as calculator

_ROOT = Path(__file__).resolve().parents[2]
_PAGES = {"README.md": "index.md"} | {
    name: name for name in ("CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "SECURITY.md")
}
_LINK = re.compile(r"(\]\()([^)\s#]+)((?:#[^)\s]*)?\))")
_PICTURE = re.compile(r'(src(?:set)?=)"docs/')
_CALCULATOR = "calculator.html"
_NOTEBOOK = Path("tutorials/notebook.ipynb")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add pages and files from outside docs."""
    for name, place in _PAGES.items():
        files.append(File.generated(config, place, content=(_ROOT / name).read_text("utf-8")))
    for target in sorted(_linked()):
        path = _ROOT / target
        if path.is_dir():
            text = "\n".join(["# " + target, "", *(f"- {one.name}" for one in _names(path))])
            files.append(File.generated(config, f"{target}/index.md", content=text))
        else:
            files.append(File.generated(config, target, abs_src_path=str(path)))
    files.append(File.generated(config, "api.md", content=_reference()))
    files.append(File.generated(config, _NOTEBOOK.with_suffix(".md").as_posix(), content=_cells()))
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, _CALCULATOR)
        calculator.write(made, nbyt.__version__)
        files.append(File.generated(config, _CALCULATOR, content=made.read_text("utf-8")))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Let links point to where things are on the site."""
    if page.file.src_uri not in _PAGES.values():
        return _relink(markdown, _from_docs)
    return _relink(_PICTURE.sub(r'\1"', markdown), _from_root)


def _relink(text: str, where: Callable[[str], str]) -> str:
    return _LINK.sub(lambda found: found[1] + where(found[2]) + found[3], text)


def _from_root(link: str) -> str:
    return _PAGES.get(link, link.removeprefix("docs/"))


def _from_docs(link: str) -> str:
    if not link.startswith("../"):
        return link
    target = link.removeprefix("../").rstrip("/")
    return f"{target}/index.md" if (_ROOT / target).is_dir() else _PAGES.get(target, target)


def _linked() -> Iterator[str]:
    """Yield files and folders outside docs that a page links to."""
    found = set()
    for path in sorted(_ROOT.glob("docs/*.md")):
        links = (match[2] for match in _LINK.finditer(path.read_text("utf-8")))
        found |= {link[3:].rstrip("/") for link in links if link.startswith("../")}
    for name in _PAGES:
        links = (match[2] for match in _LINK.finditer((_ROOT / name).read_text("utf-8")))
        found |= {link for link in links if not re.match(r"docs/|https?:|mailto:", link)}
    yield from found - set(_PAGES)


def _names(folder: Path) -> list[Path]:
    return sorted(one for one in folder.iterdir() if not one.name.startswith((".", "__")))


def _cells() -> str:
    """Return the notebook as a page, with a link to the notebook itself."""
    book = json.loads((_ROOT / "docs" / _NOTEBOOK).read_text("utf-8"))
    parts = []
    for cell in book["cells"]:
        text = "".join(cell["source"])
        parts.append(text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```")
    parts.insert(1, f"[Download the notebook]({_NOTEBOOK.name})")
    return "\n\n".join(parts)


# What the functions return, and the packages with names of their own for users.
_RETURNED = (
    "nbyt.advice.run.Advice",
    "nbyt.sweeps.run.Sweep",
    "nbyt.api.training.Training",
    "nbyt.measure.measurement.Measurement",
    "nbyt.api.stored.StoredMeasurement",
    "nbyt.dialects.explaining.Explanation",
    "nbyt.dialects.translating.Translation",
    "nbyt.dialects.comparing.Comparison",
    "nbyt.minibatch.auditing.Audit",
    "nbyt.stats.estimate.Estimate",
)
PACKAGES = (
    "integrations.sb3",
    "integrations.torch",
    "integrations.jax",
    "minibatch",
    "envs",
    "exact",
)


def public(package: str) -> dict[str, Any]:
    """Return the functions and classes that a package of ours gives to users, by name."""
    module = importlib.import_module(f"nbyt.{package}")
    found = {name: one for name, one in vars(module).items() if not name.startswith("_")}
    # A package gives what it imports for its users; a module, what is written in it.
    prefix = "nbyt." if hasattr(module, "__path__") else f"{module.__name__}."
    return {name: one for name, one in found.items() if _place(one).startswith(prefix)}


def _place(thing: Any) -> str:
    """Return where a function or class is defined; empty for anything else."""
    if not (isinstance(thing, type) or callable(thing)) or typing.get_origin(thing):
        return ""
    module, name = getattr(thing, "__module__", ""), getattr(thing, "__qualname__", "")
    return f"{module}.{name}" if module and name else ""


def _reference() -> str:
    """Return a page with every public function and class."""
    things = {name: getattr(nbyt, name) for name in nbyt.__all__}
    named = {f"nbyt.{name}": place for name, one in things.items() if (place := _place(one))}
    functions = {name: place for name, place in named.items() if name.islower()}
    classes = {name: place for name, place in named.items() if name not in functions}
    lines = ["# Python", "", *(nbyt.__doc__ or "").splitlines()[1:], ""]
    lines += [*_entries("Functions", functions), *_entries("Settings and errors", classes)]
    lines += _entries("What they return", {place: place for place in _RETURNED})
    for package in PACKAGES:
        own = {f"nbyt.{package}.{name}": _place(one) for name, one in public(package).items()}
        lines += _entries(f"nbyt.{package}", own)
    return "\n".join(lines)


def _entries(title: str, places: Mapping[str, str]) -> Iterator[str]:
    """Yield a heading and the directives that document these things, by the names they go by."""
    yield from (f"## {title}", "")
    for name, place in places.items():
        label = name.rpartition(".")[2]
        heading = label if place == name else name
        yield f"::: {place}"
        yield f'    options: {{heading: "{heading}", toc_label: "{label}"}}'
        yield ""
