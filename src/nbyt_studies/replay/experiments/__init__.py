"""What is trained and measured for the note; each experiment returns plain data."""

from nbyt_studies.replay.experiments import gradients, schemes, trainings, unseen
from nbyt_studies.study import by_name

# The longest first, so that no worker is left with one at the end.
ALL = by_name(
    "training-sizes stability gradients unseen-few-lakes unseen-many-lakes unseen-carts schemes "
    "scheme-ends optimisers step-seconds",
    gradients.EXPERIMENTS,
    schemes.EXPERIMENTS,
    trainings.EXPERIMENTS,
    unseen.EXPERIMENTS,
)
