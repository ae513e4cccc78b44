"""What the note claims, by topic, in the order of the page."""

from nbyt.studies.study import Claim

ALL: tuple[Claim, ...] = ()
