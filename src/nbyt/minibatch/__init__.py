"""Ways to cut a batch into mini-batches, by name in `SCHEMES`, and the audit of any sampler."""

from nbyt.minibatch.auditing import Audit as Audit
from nbyt.minibatch.auditing import audit as audit
from nbyt.minibatch.reading import sampler_of as sampler_of
from nbyt.minibatch.schemes import SCHEMES as SCHEMES
from nbyt.minibatch.schemes import shuffle_and_chop as shuffle_and_chop
