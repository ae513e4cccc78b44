"""Charts as plain JSON for Plotly; colours are names such as @blue, which the page fills in."""
