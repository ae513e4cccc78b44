"""Hostile texts in every field of every page, in a real browser: nothing runs, nothing is loaded.

NBYT_EVERY_PAYLOAD=1 puts every payload into every field, which takes minutes; else each field has
one of them.
"""

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.report import hostile
from tests.report.browsing import Visit
from tests.report.hostile import PAYLOADS, Rotation, charts_of
from tests.report.pages.probes.probes_sample import training
from tests.report.pages.study.study_sample import study
from tests.report.typed import advice_sample, render, render_probes, render_study
from tests.sweeps.made_up import curves_of, finished, grid_of, record

from nbyt.report.pages.sweep import sweep_page
from nbyt.store.text import plain

Data = dict[str, Any]
ROTATIONS = range(len(PAYLOADS)) if os.environ.get("NBYT_EVERY_PAYLOAD") == "1" else [0]
TALL = {"width": 1280, "height": 20_000}


def sweep() -> Data:
    """A sweep of two layouts with a failed training."""
    grid = grid_of(4, (4, 8))
    return finished(grid, curves_of(grid), grid.cells[:1])


ADVICE_CHOICES = {"objective", "rests_on", "advantages", "start", "gradients", "method"}
# Of each kind of page: data, how it is drawn, keys whose values choose what is shown, and
# mappings from names that are free text; the page looks some of those up.
PAGES: dict[str, tuple[Callable[[], Data], Callable[[Data], str], set[str], set[str]]] = {
    "advice": (advice_sample, render, ADVICE_CHOICES, {"versions"}),
    "sweep": (
        sweep,
        lambda data: sweep_page(record(data)).html(),
        {"normalise_advantages", "on_nonfinite"},
        {"versions"},
    ),
    "probes": (training, render_probes, {"advantages"}, {"settings", "versions"}),
    "study": (study, render_study, {"kind", "word", "says", "effort"}, {"versions", "case"}),
}
LOOKED_UP = {"clip", "lambda"}


def poisoned(kind: str, first: int) -> Data:
    """The data of a page with a payload in every text, and in names that are free text."""
    make, _, choices, free = PAGES[kind]
    rotation = Rotation(first)
    return _renamed(rotation.poisoned(make(), choices), rotation, free)


def _renamed(value: Any, rotation: Rotation, free: set[str], key: str = "") -> Any:
    if isinstance(value, dict):
        own = key in free
        return {
            rotation(name) if own and name not in LOOKED_UP else name: _renamed(
                one, rotation, free, name
            )
            for name, one in value.items()
        }
    if isinstance(value, list):
        return [_renamed(one, rotation, free, key) for one in value]
    return value


# Everything that a reader can do with a page: all charts, all points, sliders, tabs, buttons.
READ = """async () => {
  const all = (selector) => [...document.querySelectorAll(selector)];
  const pause = () => new Promise(requestAnimationFrame);
  const hovered = [];
  const hover = () => {
    for (const chart of all(".chart")) {
      (chart.data || []).forEach((trace, curveNumber) => {
        for (const pointNumber of [0, 1]) {
          try { Plotly.Fx.hover(chart, [{curveNumber, pointNumber}]); } catch { continue; }
          hovered.push(chart.querySelector(".hoverlayer").textContent);
        }
      });
    }
  };
  all("details").forEach((one) => { one.open = true; });
  await pause();
  hover();
  for (const slider of all("input[type=range]")) {
    for (const place of [slider.min, slider.max]) {
      slider.value = place;
      slider.dispatchEvent(new Event("input"));
    }
  }
  hover();
  for (const one of all("[role=tab], [data-show], [data-filter], [data-copy], #theme")) {
    one.click();
    await pause();
  }
  for (const one of all("select")) {
    one.selectedIndex = one.options.length - 1;
    one.dispatchEvent(new Event("change"));
  }
  for (const one of all(".term")) one.dispatchEvent(new Event("mouseover", {bubbles: true}));
  dispatchEvent(new Event("beforeprint"));
  await pause();
  dispatchEvent(new Event("afterprint"));
  const elements = all("*");
  const links = elements.flatMap((one) => [...one.attributes]
    .filter((a) => /^(xlink:)?(href|src|action|formaction|srcset|data|poster|ping)$/i.test(a.name))
    .map((a) => a.value));
  return {
    text: [...all("header, main").map((one) => one.textContent), ...hovered].join(" "),
    links,
    hovered: hovered.filter((one) => one.trim()).length,
    handlers: elements.flatMap((one) => one.getAttributeNames().filter((n) => /^on/i.test(n))),
    tags: [...new Set(elements.map((one) => one.localName))],
    scripts: all("script").length,
  };
}"""
LOADING = {"iframe", "object", "embed", "img", "base", "link", "form", "video", "audio"}


@pytest.fixture
def read(chromium: Any, tmp_path: Path) -> Iterator[Callable[..., tuple[Visit, Data]]]:
    """A function that opens a page, uses everything on it, and returns what was there."""
    opened: list[Visit] = []

    def _read(html: str, **context: Any) -> tuple[Visit, Data]:
        path = tmp_path / "page.html"
        path.write_text(html, encoding="utf-8")
        chart = re.findall(r'<div id="([\w-]+)" class="chart"', html)[0]
        opened.append(Visit(chromium, path, chart, viewport=TALL, **context))
        return opened[-1], opened[-1].page.evaluate(READ)

    yield _read
    for one in opened:
        one.context.close()


@pytest.mark.parametrize("first", ROTATIONS)
@pytest.mark.parametrize("kind", PAGES)
def test_hostile_texts_do_nothing_but_show(read: Any, kind: str, first: int) -> None:
    # Without the page's policy, so that it is the page itself that lets nothing run.
    seen, found = read(PAGES[kind][1](poisoned(kind, first)), bypass_csp=True)
    assert seen.complaints == [] and seen.asked == []
    assert found["handlers"] == [] and not LOADING & set(found["tags"])
    assert all(one.startswith(("#", "data:image/png;base64,")) for one in found["links"])
    assert found["scripts"] == 3 and found["hovered"] > 5
    shown = [one for one in PAYLOADS if plain(one).strip() and plain(one) in found["text"]]
    assert len(shown) > 9


def test_a_label_is_never_taken_for_a_colour() -> None:
    # In behaviour.js a text that begins with @ is the name of one.
    bad = hostile.poisoned(study(), "@blue ", PAGES["study"][2])
    texts = _texts(charts_of(render_study(bad)))
    assert sum(text.startswith("&#64;blue ") for text in texts) > 20
    names = {text for text in texts if text.startswith("@")}
    assert names and all(re.fullmatch(r"@[a-z0-9-]+(:[0-9.]+)?", name) for name in names)


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    inside = value.values() if isinstance(value, dict) else value
    return (
        [text for one in inside for text in _texts(one)] if isinstance(value, dict | list) else []
    )


def test_what_runs_and_what_is_loaded_would_be_seen(read: Any) -> None:
    html = render_probes(training(3))
    bad = "<img src=//evil.example/x onerror=alert(1)><a href='javascript:alert(1)'>x</a>"
    seen, found = read(html.replace("</main>", f"{bad}</main>"), bypass_csp=True)
    assert "dialog: 1" in seen.complaints
    assert any("evil.example" in one for one in seen.asked)
    assert found["handlers"] == ["onerror"] and "img" in found["tags"]
    assert "javascript:alert(1)" in found["links"]
