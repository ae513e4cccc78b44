"""When constraints.txt, the newest versions that are tested, was last refreshed.

`make refresh-constraints` writes both.
"""

CONSTRAINTS_REFRESHED = "2026-11-19"
