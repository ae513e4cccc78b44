"""Every scheme by name: our own, known mistakes, and the rules of other libraries' PPO."""

import difflib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from nbyt.errors import UsageError
from nbyt.layout import Layout
from nbyt.minibatch import rules, schemes
from nbyt.minibatch.rules import Minibatches, Rule, SamplerSizes
from nbyt.minibatch.schemes import Indices, Scheme
from nbyt.minibatch.shuffle import shuffle_and_chop

# batch, minibatch, epochs, seed -> the mini-batches of one update
Sampler = Callable[[int, int, int, int], Minibatches]


@dataclass(frozen=True)
class NamedScheme:
    """A way to cut a batch: its name, one line of words, and its rule."""

    name: str
    words: str
    rule: Rule

    def __call__(self, layout: Layout, generator: np.random.Generator) -> Indices:
        """Indices of every mini-batch of one update, in order."""
        sizes = SamplerSizes(layout.envs, layout.steps, layout.minibatch, layout.epochs)
        return np.stack(self.rule(sizes, generator)).astype(np.int32)

    def sampler(self, envs: int, steps: int) -> Sampler:
        """The scheme as a sampler of batches of so many envs and steps, a rest included."""

        def sample(batch: int, minibatch: int, epochs: int, seed: int) -> Minibatches:
            if batch != envs * steps:
                raise UsageError(
                    f"{envs} envs x {steps} steps are {envs * steps} samples, not {batch}",
                    where="batch",
                )
            generator = np.random.default_rng(seed)
            return self.rule(SamplerSizes(envs, steps, minibatch, epochs), generator)

        return sample


def find(name: str) -> NamedScheme:
    """The scheme of that name."""
    if name in SCHEMES:
        return SCHEMES[name]
    near = difflib.get_close_matches(name, SCHEMES, n=2)
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    raise UsageError(
        f"no scheme is called '{name}'",
        where="sampler",
        fix=f"{hint}give package.module:sampler, or one of {', '.join(SCHEMES)}",
    )


def _divisible(scheme: Scheme) -> Rule:
    """A scheme as a rule; a layout refuses sizes that leave a rest."""

    def rule(sizes: SamplerSizes, generator: np.random.Generator) -> Minibatches:
        layout = Layout(sizes.envs, sizes.steps, sizes.minibatch, sizes.epochs)
        return list(scheme(layout, generator))

    return rule


_OWN: tuple[tuple[str, str, Scheme], ...] = (
    ("shuffle_and_chop", "a fresh shuffle each epoch, chopped", shuffle_and_chop),
    ("whole_batch", "all samples every time, whatever the size", schemes.whole_batch),
    ("random_fetch", "each sample fetched from all, with replacement", schemes.random_fetch),
    ("random_subsets", "each mini-batch fetched anew from all", schemes.random_subsets),
    ("consecutive", "steps of one env in a row, in fresh order", schemes.consecutive),
    ("time_slabs", "a few steps of all envs, in fresh order", schemes.time_slabs),
    ("whole_envs", "all steps of a few envs, in fresh order", schemes.whole_envs),
)
_LIBRARIES: tuple[tuple[str, str, Rule], ...] = (
    ("sb3", "shuffled each epoch; the last one short (TorchRL, AgileRL too)", rules.short_tail),
    ("cleanrl", "shuffled each epoch; a rest is one extra mini-batch", rules.short_tail),
    ("ppo1", "shuffled each epoch; the tail dropped (ML-Agents too)", rules.tail_dropped),
    ("purejaxrl", "shuffled each epoch; no rest allowed (PPO2, rejax, Acme)", rules.no_rest),
    ("rllib", "passes run into each other; the first unshuffled", rules.cyclic),
    ("rllib_multi_device", "blocks in fresh order; the tail dropped", rules.blocks_in_fresh_order),
    ("dopamine", "blocks of time, in one order an update", rules.blocks_in_one_order),
    ("tianshou", "shuffled each epoch; the tail merged into the last", rules.tail_merged),
    ("rl_games", "fixed blocks of whole env rollouts, unshuffled", rules.env_slices),
    ("rsl_rl", "one shuffle for all epochs; the tail dropped", rules.one_permutation),
    ("skrl", "shuffled each epoch; split evenly", rules.even_split),
    ("skrl_old", "slices of time, unshuffled; the tail dropped", rules.time_slices),
    ("brax", "whole unrolls, shuffled each epoch", rules.unrolls),
    ("sample_factory", "slices of rollouts, unshuffled", rules.env_slices),
    ("pufferlib", "whole unrolls drawn for each mini-batch, with repeats", rules.drawn_unrolls),
)
SCHEMES: dict[str, NamedScheme] = {
    **{name: NamedScheme(name, words, _divisible(scheme)) for name, words, scheme in _OWN},
    **{name: NamedScheme(name, words, rule) for name, words, rule in _LIBRARIES},
}
