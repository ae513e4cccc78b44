"""The page of an advice as one HTML file, or a card for notebooks. No JAX."""

from nbyt.report.pages.advice.document import advice_page, card

__all__ = ["advice_page", "card"]
