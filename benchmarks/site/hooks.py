"""What the documentation site has beside the pages in docs: mkdocs calls these functions.

The README is its first page; the project's other pages, files that pages link to, the calculator
and a reference of every public name are added. Links into the repository follow them.
"""

import json
import re
import tempfile
from collections.abc import Callable, Iterator
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
    from_root = page.file.src_uri in _PAGES.values()
    return _relink(markdown, _from_root if from_root else _from_docs)


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


def _reference() -> str:
    """Return a page with every public function and class."""
    lines = ["# Python", "", *(nbyt.__doc__ or "").splitlines()[1:], ""]
    for name in nbyt.__all__:
        thing = getattr(nbyt, name)
        module, own = getattr(thing, "__module__", None), getattr(thing, "__qualname__", None)
        if module and own:
            options = f'    options: {{heading: "nbyt.{name}", toc_label: "{name}"}}'
            lines += [f"::: {module}.{own}", options, ""]
    return "\n".join(lines)
