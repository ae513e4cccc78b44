"""The whole page of a probed training: its sections in order."""

from pathlib import Path

from nbyt.report.page.assets import behaviour, plotly_script, style
from nbyt.report.page.element import Child, Markup
from nbyt.report.page.part import Part, merged
from nbyt.report.page.shell import frame, header, whole
from nbyt.report.probes.block import unknown_section
from nbyt.report.probes.made import made_section
from nbyt.report.probes.minibatches import minibatch_section
from nbyt.report.probes.now import now_section
from nbyt.report.probes.truth import truth_section
from nbyt.report.probes.variance import variance_section
from nbyt.report.probes.worth import worth_section
from nbyt.report.study.assets import study_style
from nbyt.results.values import Data
from nbyt.store.atomic import write_text

_SECTIONS = {
    "now": ("Now", now_section),
    "variance": ("Variance", variance_section),
    "worth": ("Worth", worth_section),
    "minibatches": ("Mini-batches", minibatch_section),
    "truth": ("True gradient", truth_section),
}


def render_probes(data: Data) -> str:
    """The page of a probed training as one HTML text that needs no other file and no network."""
    return whole(
        data["title"],
        _body(data),
        style=style() + study_style(),
        scripts=[plotly_script(), behaviour()],
        lazy=True,
    )


def write_probes_page(data: Data, path: Path) -> None:
    """Nothing; `path` then holds the page, or what it held before."""
    write_text(path, render_probes(data))


def _body(data: Data) -> Part:
    made = Part(made_section(data))
    if not data["records"]:
        content = merged([_nothing_yet(data), made])
        links = {"now": "Now"}
    else:
        content = merged([*(part(data) for _, part in _SECTIONS.values()), made])
        links = {name: word for name, (word, _) in _SECTIONS.items()}
    top = _header(data, {**links, "made": "How it was made"})
    return content.inside(frame(top, content.html))


def _nothing_yet(data: Data) -> Part:
    every = data.get("every")
    often = "" if every is None else f" A probe is made every {every:,} updates."
    return unknown_section("now", "Now", None, f"Nothing was measured yet.{often}")


def _header(data: Data, links: dict[str, str]) -> Markup:
    about: list[Child] = [_trained(data)]
    if data["records"]:
        count, last = len(data["records"]), data["records"][-1]["update"]
        probes = "1 probe" if count == 1 else f"{count:,} probes, the last"
        about.append(f"{probes} at update {last:,}")
    return header("nbyt", data["title"], about, links, ("Skip to the last probe", "now"))


def _trained(data: Data) -> str:
    """What was trained, with which layout, as far as that is known."""
    layout = data.get("layout") or {}
    said = [data.get(key) for key in ("library", "algorithm", "env")]
    if layout.get("envs") and layout.get("steps"):
        said.append(f"{layout['envs']:,} envs × {layout['steps']:,} steps")
    if layout.get("minibatch"):
        said.append(f"mini-batches of {layout['minibatch']:,}")
    if layout.get("epochs"):
        said.append(f"{layout['epochs']:,} epochs")
    return ", ".join(str(one) for one in said if one)
