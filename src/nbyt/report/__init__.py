"""Results as terminal tables and HTML pages. No JAX."""
