"""Drawings for the docs: SVG text that follows a light or a dark theme."""

from dataclasses import dataclass
from html import escape

import numpy as np

_STYLE = """
    .panel { fill: #ffffff; stroke: #d0d7de; }
    .word { fill: #1f2328; }
    .soft { fill: #59636e; }
    .axis { stroke: #59636e; fill: none; }
    .grid { stroke: #d0d7de; fill: none; }
    .mid { text-anchor: middle; }
    .right { text-anchor: end; }
    text { font-family: system-ui, "Segoe UI", Helvetica, Arial, sans-serif; font-size: 13px; }
    .big { font-size: 16px; font-weight: 600; }
    .small { font-size: 11px; }
"""
_DARK = """
      .panel { fill: #161b22; stroke: #3d444d; }
      .word { fill: #f0f6fc; }
      .soft { fill: #a5afba; }
      .axis { stroke: #a5afba; }
      .grid { stroke: #3d444d; }
"""


@dataclass(frozen=True)
class Box:
    """Where a panel's axes are in the drawing, and which values they show."""

    left: float
    top: float
    width: float
    height: float
    x_range: tuple[float, float]
    y_range: tuple[float, float]

    def x(self, value: float) -> float:
        """Where a value lies from left to right."""
        low, high = self.x_range
        return self.left + self.width * (value - low) / (high - low)

    def y(self, value: float) -> float:
        """Where a value lies from top to bottom."""
        low, high = self.y_range
        return self.top + self.height * (high - value) / (high - low)

    def path(self, xs: np.ndarray, ys: np.ndarray) -> str:
        """The points of a line."""
        return " ".join(f"{self.x(x):.1f},{self.y(y):.1f}" for x, y in zip(xs, ys, strict=True))


def text(x: float, y: float, words: str, kind: str) -> str:
    """Words at a place; a minus sign in front becomes a true one."""
    shown = words.replace("-", "−", 1) if words[:1] == "-" else words
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{escape(shown)}</text>'


def line(kind: str, x1: float, y1: float, x2: float, y2: float) -> str:
    """A straight line."""
    return f'<line class="{kind}" x1="{x1:.1f}" x2="{x2:.1f}" y1="{y1:.1f}" y2="{y2:.1f}"/>'


def rect(kind: str, x: float, y: float, width: float, height: float) -> str:
    """A rectangle."""
    return (
        f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"/>'
    )


def drawing(
    width: int,
    height: int,
    title: str,
    about: str,
    parts: list[str],
    *,
    style: str = "",
    dark: str = "",
) -> str:
    """The whole drawing. style, dark: its own rules, and what changes on a dark page."""
    rules = f"{_STYLE}{style}    @media (prefers-color-scheme: dark) {{{_DARK}{dark}    }}\n"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" role="img" aria-labelledby="title desc">',
            f'<title id="title">{escape(title)}</title>',
            f'<desc id="desc">{escape(about)}</desc>',
            f"<style>{rules}</style>",
            f'<rect class="panel" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}"/>',
            *parts,
            "</svg>\n",
        ]
    )
