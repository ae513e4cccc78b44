"""Ways to cut a batch into mini-batches: shuffle-and-chop, and in `schemes` the others."""

from nbyt.minibatch.shuffle import shuffle_and_chop as shuffle_and_chop
