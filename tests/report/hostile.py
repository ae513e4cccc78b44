"""Texts that would like to be markup, and what a page is taken apart with."""

import json
import re
from collections import Counter
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any

Data = dict[str, Any]

PAYLOADS = [
    "<script>alert(1)</script>",
    "</script><script>alert(1)</script>",
    "</SCRIPT ><script>alert(1)</script>",
    "<!--",
    "<!--<script>",
    "-->",
    "]]>",
    "<![CDATA[x]]>",
    "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>",
    "<svg><script>alert(1)</script></svg>",
    "<iframe src=javascript:alert(1)>",
    "<a href='javascript:alert(1)'>x</a>",
    "<b>bold</b><br>",
    "<style>*{display:none}</style>",
    "</style><script>alert(1)</script>",
    "</title><script>alert(1)</script>",
    "</pre></code><script>alert(1)</script>",
    "</textarea><script>alert(1)</script>",
    "</option></select><img src=x>",
    "<base href=//evil.example>",
    "<meta http-equiv=refresh content='0;url=//evil.example'>",
    "<link rel=stylesheet href=//evil.example/x.css>",
    "<form action=//evil.example><input name=x>",
    "<template><p>x",
    "<math><mi xlink:href=javascript:alert(1)>",
    '" onmouseover="alert(1)',
    "' onmouseover='alert(1)",
    '"><img src=x onerror=alert(1)>',
    "'><img src=x onerror=alert(1)>",
    "` onmouseover=alert(1)",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&#60;script&#62;alert(1)&#60;/script&#62;",
    "&amp;&quot;&#0;",
    "\\u003cscript\\u003ealert(1)",
    "\u2028alert(1)\u2029",
    "\x1b]8;;http://evil.example\x07x\x1b]8;;\x07",
    "\x00<script>alert(1)</script>\x00",
    "\u202e\u2066<script>\u2069",
    "%{x}$\\href{javascript:alert(1)}{x}$ {{7*7}} ${7*7}",
    "\ud800<script>",
    "\r\n<p>\r\n\t<script>",
    "@blue",
    "@ink:0.2",
    "javascript:alert(1)//",
    "<a href='//evil.example'>link</a>",
    "x;background:url(//evil.example/x.png)",
    "<image xlink:href=//evil.example/x.png>",
    "<details open ontoggle=alert(1)>",
    "</script><!--><script>alert(1)</script>",
]


class Elements(HTMLParser):
    """Every element with the names of its attributes, and the text outside of scripts."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: Counter[tuple[str, ...]] = Counter()
        self.words: list[str] = []
        self.inside = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found[(tag, *sorted(name for name, _ in attrs))] += 1
        self.inside = tag

    def handle_endtag(self, tag: str) -> None:
        self.found[("end", tag)] += 1
        self.inside = ""

    def handle_comment(self, data: str) -> None:
        self.found[("comment",)] += 1

    def handle_data(self, data: str) -> None:
        if self.inside not in ("script", "style"):
            self.words.append(data)


def poisoned(value: Any, payload: str, choices: set[str]) -> Any:
    """The data with the payload before every text in it.

    choices: keys of what is no free text.
    """
    return _changed(value, lambda text: payload + text, choices)


class Rotation:
    """Every payload in turn, from one text to the next; the same text has the same one."""

    def __init__(self, first: int) -> None:
        self._first = first
        self._places: dict[str, int] = {}

    def __call__(self, text: str) -> str:
        place = self._places.setdefault(text, len(self._places))
        return PAYLOADS[(self._first + place) % len(PAYLOADS)] + text

    def poisoned(self, value: Any, choices: set[str]) -> Any:
        """The data with a payload before every text; choices: keys of what is no free text."""
        return _changed(value, self, choices)


def _changed(value: Any, change: Callable[[str], str], choices: set[str], key: str = "") -> Any:
    if isinstance(value, str):
        return value if key in choices or not value else change(value)
    if isinstance(value, dict):
        return {name: _changed(one, change, choices, name) for name, one in value.items()}
    if isinstance(value, list):
        return [_changed(one, change, choices, key) for one in value]
    return value


def words_of(html: str) -> str:
    """The text of a page on one line."""
    return re.sub(r"\s+", " ", " ".join(Elements(html).words))


def scripts_of(html: str) -> list[tuple[str, str]]:
    """Attributes and content of each script element."""
    return re.findall(r"<script([^>]*)>(.*?)</script>", html, re.DOTALL)


def charts_of(html: str) -> Data:
    """The charts that a page has inside."""
    return json.loads(next(text for attributes, text in scripts_of(html) if "json" in attributes))[
        "charts"
    ]
