"""What is trained and measured for the post; each experiment returns plain data."""

from nbyt_studies.post.experiments import (
    costs,
    critics,
    delay,
    grids,
    layouts,
    minibatches,
    pendulum,
    stability,
    visits,
)
from nbyt_studies.study import by_name

# The longest first, so that no worker is left with one at the end; those that use another's
# trainings after it.
ALL = by_name(
    "layouts surrogate critics pendulum-grids minibatches minibatch-learning minibatch-coverage "
    "visits-lake visits-cartpole visits-pendulum sources advantages dynamics grids stability "
    "clipping controls delay probability costs",
    costs.EXPERIMENTS,
    critics.EXPERIMENTS,
    delay.EXPERIMENTS,
    grids.EXPERIMENTS,
    layouts.EXPERIMENTS,
    minibatches.EXPERIMENTS,
    pendulum.EXPERIMENTS,
    stability.EXPERIMENTS,
    visits.EXPERIMENTS,
)
