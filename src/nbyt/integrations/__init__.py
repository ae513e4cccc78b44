"""Bridges to other tools; each optional package is imported in exactly one file."""
