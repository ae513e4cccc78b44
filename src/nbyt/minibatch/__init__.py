"""Ways to cut a batch into mini-batches: shuffle-and-chop, and by name in `SCHEMES` the others."""

from nbyt.minibatch.named import SCHEMES as SCHEMES
from nbyt.minibatch.shuffle import shuffle_and_chop as shuffle_and_chop
