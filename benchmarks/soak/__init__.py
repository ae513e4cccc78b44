"""Soak: hostile inputs by the thousand, counted."""
