"""Published values of the later version of the grids, on Pendulum, to stand beside ours.

They are what was published, rounded as it was; nothing here was measured by us.
"""

PUBLISHED_WITHIN = {1: -0.007, 5: -0.004, 10: -0.008, 20: -0.001}
"""Published correlation of contributions within a trajectory, by lag."""

PUBLISHED_BAND = {1: 0.02}
"""Published half width of the band around it, where one was given."""

PUBLISHED_ACROSS = 0.0
"""Published correlation of contributions of different trajectories, about, at every lag."""

PUBLISHED_COSINE = {"16x64": 0.37, "4x256": 0.36}
"""Published mean absolute cosine between batch means, by layout."""

PUBLISHED_COSINE_BY_LAMBDA = {0.0: 0.66, 1.0: 0.32}
"""Published mean absolute cosine between batch means at other lambdas; the layout is not told."""
