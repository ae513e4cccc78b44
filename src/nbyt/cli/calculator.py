"""`nbyt calculator`: the answers about settings as one page, to be used without a network."""
