"""The page of an advice: plain data to one HTML file, or to a card for notebooks. No JAX."""

from nbyt.report.pages.advice.document import card, render, write_page

__all__ = ["card", "render", "write_page"]
