"""What is measured for the claims; each module gives its experiments."""

from nbyt.studies.study import Experiment

ALL: tuple[Experiment, ...] = ()
