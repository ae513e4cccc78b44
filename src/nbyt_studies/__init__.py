"""Studies: known claims about N, T and mini-batches, measured one by one."""
