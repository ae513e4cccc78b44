"""Every link between the pages leads somewhere, and figures of the README are those of the page."""

import re
from pathlib import Path

import pytest

import nbyt

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
LINK = re.compile(r"\[[^\]]*\]\((?!https?:|mailto:)([^)\s]*)\)")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    heads = re.findall(r"^#+ (.*)$", FENCE.sub("", page.read_text()), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    for link in LINK.findall(FENCE.sub("", page.read_text())):
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), link
        assert not anchor or target.suffix != ".md" or anchor in anchors(target), link


def test_losses_in_the_readme_are_those_of_the_proving_ground() -> None:
    text = " ".join(FENCE.sub("", (ROOT / "README.md").read_text()).replace("**", "").split())
    known = (ROOT / "docs/proving-ground.md").read_text().replace("**", "")
    losses = re.findall(r"\d+\.\d %(?: \[[\d.]+, [\d.]+\])?", text)
    assert losses
    assert [loss for loss in losses if loss not in known] == []


# Dotted names of the page about the design that are none of our modules.
ELSEWHERE = {"torch.func", "lax.map", "env.reset", "nbyt.studies"}


def test_the_design_names_modules_that_exist() -> None:
    text = (ROOT / "docs/design.md").read_text()
    named = set(re.findall(r"(?<![\w/.])([a-z_]+(?:\.[a-z_]+)+)", text)) - ELSEWHERE
    named -= {f"nbyt.{name}" for name in nbyt.__all__}
    kinds = ("py", "md", "json", "toml", "csv", "yml")
    modules = {name for name in named if name.rpartition(".")[2] not in kinds}
    assert len(modules) > 20
    assert [name for name in sorted(modules) if not _exists(name)] == []


def _exists(name: str) -> bool:
    """Return whether a dotted name is a package, a module, or stands in the module above it."""
    inside, _, rest = name.partition(".")
    root = ROOT / "src" if inside in ("nbyt", "nbyt_studies") else ROOT / "src" / "nbyt"
    place = root.joinpath(inside, *rest.split("."))
    above = place.parent.with_suffix(".py")
    if place.is_dir() or place.with_suffix(".py").exists():
        return True
    return above.exists() and f" {place.name}" in above.read_text()
