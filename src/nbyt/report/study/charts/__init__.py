"""The charts of a study, one kind a file: figures in, Plotly's data out."""
