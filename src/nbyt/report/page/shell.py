"""What every page is made of: head, policy, frame, and the data and scripts at its end."""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from functools import cache

from nbyt.report.page.element import Child, Markup, code, join, raw, tag
from nbyt.report.page.escape import embedded
from nbyt.report.page.part import Part
from nbyt.results.values import Data


def whole(
    title: str,
    body: Part,
    *,
    style: str,
    scripts: Sequence[str],
    lazy: bool = False,
) -> str:
    """The page as one HTML text that needs no other file and no network.

    lazy: a chart is drawn when it comes near; for pages with many of them.
    """
    said: Data = {
        "charts": body.charts,
        "sliders": {
            name: {"words": list(one.words), "start": one.start}
            for name, one in body.sliders.items()
        },
        "lazy": lazy,
    }
    last = [
        tag("script", raw(embedded(said)), type="application/json", id="page-data"),
        *(tag("script", raw(script)) for script in scripts),
    ]
    page = tag("html", _head(title, style, scripts), tag("body", body.html, *last), lang="en")
    return f"<!doctype html>\n{page}\n"


def _head(title: str, style: str, scripts: Sequence[str]) -> Markup:
    return tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy(scripts)),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("title", title),
        tag("style", raw(style)),
    )


def policy(scripts: Sequence[str]) -> str:
    """A content security policy that allows these scripts, inline styles, and nothing else."""
    hashes = " ".join(f"'sha256-{_digest(script)}'" for script in scripts)
    # Styles are 'unsafe-inline' because Plotly sets them on its elements; images are what a
    # chart is saved as.
    return (
        f"default-src 'none'; script-src {hashes}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )


@cache
def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")


def frame(header: Markup, content: Markup) -> Markup:
    """Header and content, with the places for a word's meaning and for what is said aloud."""
    tip = tag("div", id="tip", role="tooltip", hidden=True)
    live = tag("div", id="said", class_="visually-hidden", aria_live="polite")
    return join([header, tag("main", content, id="main"), tip, live])


def header(
    brand: str,
    title: Child,
    about: Sequence[Child],
    links: Mapping[str, str],
    skip: tuple[str, str],
) -> Markup:
    """Title, what the page is about, and links to its sections by their id.

    skip: words and section of the link that jumps over the header.
    """
    return tag(
        "header",
        tag("a", skip[0], href=f"#{skip[1]}", class_="skip"),
        tag("p", brand, class_="brand"),
        tag("button", "Dark", type="button", id="theme", aria_pressed="false"),
        tag("h1", title),
        *(tag("p", one, class_="muted") for one in about),
        tag(
            "nav",
            *(tag("a", word, href=f"#{name}") for name, word in links.items()),
            aria_label="Sections",
        ),
    )


def command(text: str, name: str = "reproduce") -> Markup:
    """A command with a button that copies it."""
    button = tag("button", "Copy", type="button", class_="copy", data_copy=name)
    return tag("div", tag("pre", code(text), id=name, tabindex="0"), button, class_="command")


def facts(rows: Sequence[tuple[Child, Child]]) -> Markup:
    """Names with their values."""
    inside = [tag("div", tag("dt", name), tag("dd", value)) for name, value in rows]
    return tag("dl", *inside, class_="assumed")
