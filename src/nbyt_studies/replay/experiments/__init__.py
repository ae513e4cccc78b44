"""What is trained and measured for the note; each experiment returns plain data."""

from nbyt_studies.replay.experiments import gradients, schemes, stability, training_sizes, unseen
from nbyt_studies.study import in_order

# The longest first, so that no worker is left with one at the end.
ALL = in_order(
    "training-sizes stability gradients unseen-few-lakes unseen-many-lakes unseen-carts schemes "
    "scheme-ends optimisers step-seconds",
    gradients.EXPERIMENTS,
    schemes.EXPERIMENTS,
    stability.EXPERIMENTS,
    training_sizes.EXPERIMENTS,
    unseen.EXPERIMENTS,
)
