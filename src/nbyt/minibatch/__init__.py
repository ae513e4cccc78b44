"""Ways to cut a batch into mini-batches."""

from nbyt.minibatch.shuffle import shuffle_and_chop as shuffle_and_chop
