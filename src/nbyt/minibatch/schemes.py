"""Other ways to cut a batch into mini-batches, beside shuffle-and-chop.

Some are in use, some are known mistakes. All give the indices of every mini-batch of one update,
in order; sample t * N + n is step t of env n. `nbyt.minibatch.schemes` has them all by name.
"""

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from math import gcd

import numpy as np
from jaxtyping import Int

from nbyt.errors import LayoutError, UsageError
from nbyt.layout import Layout

# How PPO implementations cut a batch, a rest included: one function a rule.
#
# A rule gives all mini-batches of one update, in order; their sizes may differ. Sample t * N + n is
# step t of env n.

Order = Int[np.ndarray, " samples"]
Minibatches = list[Int[np.ndarray, " _"]]


@dataclass(frozen=True)
class SamplerSizes:
    """A layout's sizes, of which the mini-batch's need not divide the batch."""

    envs: int
    steps: int
    minibatch: int
    epochs: int

    @property
    def batch(self) -> int:
        """Samples in the rollout buffer: N x T."""
        return self.envs * self.steps

    @property
    def unroll(self) -> int:
        """The longest pieces of rollouts that fill both an env's steps and a mini-batch."""
        return gcd(self.steps, self.minibatch)


Rule = Callable[[SamplerSizes, np.random.Generator], Minibatches]


def by_env(envs: int, steps: int) -> Order:
    """All samples, env after env."""
    return np.arange(envs * steps).reshape(steps, envs).T.reshape(-1)


def short_tail(sizes: SamplerSizes, generator: np.random.Generator) -> Minibatches:
    """A fresh shuffle each epoch, chopped until nothing is left: the last one may be short."""
    return _each_epoch(
        sizes, lambda: _rules_chopped(generator.permutation(sizes.batch), sizes.minibatch)
    )


def tail_dropped(sizes: SamplerSizes, generator: np.random.Generator) -> Minibatches:
    """A fresh shuffle each epoch, of which only full mini-batches are used."""
    return _each_epoch(sizes, lambda: _full(generator.permutation(sizes.batch), sizes.minibatch))


def tail_merged(sizes: SamplerSizes, generator: np.random.Generator) -> Minibatches:
    """A fresh shuffle each epoch; what is left over is joined to the last mini-batch."""

    def epoch() -> Minibatches:
        pieces = _rules_chopped(generator.permutation(sizes.batch), sizes.minibatch)
        if len(pieces) > 1 and len(pieces[-1]) < sizes.minibatch:
            pieces[-2:] = [np.concatenate(pieces[-2:])]
        return pieces

    return _each_epoch(sizes, epoch)


def even_split(sizes: SamplerSizes, generator: np.random.Generator) -> Minibatches:
    """A fresh shuffle each epoch, split into parts whose sizes differ by one at most."""
    count = max(sizes.batch // sizes.minibatch, 1)
    return _each_epoch(
        sizes, lambda: list(np.array_split(generator.permutation(sizes.batch), count))
    )


def no_rest(sizes: SamplerSizes, generator: np.random.Generator) -> Minibatches:
    """A fresh shuffle each epoch, for sizes that divide."""
    _require_divisible(sizes)
    return short_tail(sizes, generator)


def one_permutation(sizes: SamplerSizes, generator: np.random.Generator) -> Minibatches:
    """One shuffle for all epochs of an update; the tail is dropped."""
    return _full(generator.permutation(sizes.batch), sizes.minibatch) * sizes.epochs


def cyclic(sizes: SamplerSizes, generator: np.random.Generator) -> Minibatches:
    """Passes that run into each other, all mini-batches full; the first pass is not shuffled.

    A single epoch is not shuffled at all.
    """
    count = -(-sizes.epochs * sizes.batch // sizes.minibatch)
    first = by_env(sizes.envs, sizes.steps)
    rest = -(-count * sizes.minibatch // sizes.batch) - 1
    shuffled = sizes.epochs > 1
    passes = [generator.permutation(first) if shuffled else first for _ in range(rest)]
    return _full(np.concatenate([first, *passes]), sizes.minibatch)[:count]


def blocks_in_fresh_order(sizes: SamplerSizes, generator: np.random.Generator) -> Minibatches:
    """Steps that follow each other, the blocks' order shuffled each epoch; the tail is dropped."""
    blocks = _full(by_env(sizes.envs, sizes.steps), sizes.minibatch)
    return _each_epoch(sizes, lambda: [blocks[at] for at in generator.permutation(len(blocks))])


def blocks_in_one_order(sizes: SamplerSizes, generator: np.random.Generator) -> Minibatches:
    """Steps that follow each other, the blocks' order shuffled once an update."""
    _require_divisible(sizes)
    blocks = _full(by_env(sizes.envs, sizes.steps), sizes.minibatch)
    return [blocks[at] for at in generator.permutation(len(blocks))] * sizes.epochs


def env_slices(sizes: SamplerSizes, generator: np.random.Generator) -> Minibatches:
    """Whole rollouts, or slices of one, env after env; nothing is shuffled."""
    del generator
    _require_divisible(sizes)
    return _full(by_env(sizes.envs, sizes.steps), sizes.minibatch) * sizes.epochs


def time_slices(sizes: SamplerSizes, generator: np.random.Generator) -> Minibatches:
    """A few steps of all envs, in the order they were collected in; the tail is dropped."""
    del generator
    return _full(np.arange(sizes.batch), sizes.minibatch) * sizes.epochs


def unrolls(sizes: SamplerSizes, generator: np.random.Generator) -> Minibatches:
    """Whole unrolls, shuffled each epoch. An unroll is as long as both sizes allow."""
    _require_divisible(sizes)
    whole = by_env(sizes.envs, sizes.steps).reshape(-1, sizes.unroll)
    return _each_epoch(
        sizes, lambda: _full(generator.permutation(whole).reshape(-1), sizes.minibatch)
    )


def drawn_unrolls(sizes: SamplerSizes, generator: np.random.Generator) -> Minibatches:
    """Whole unrolls drawn for each mini-batch, none twice in one, all with equal priority."""
    whole = by_env(sizes.envs, sizes.steps).reshape(-1, sizes.unroll)
    count = sizes.epochs * sizes.batch // sizes.minibatch
    each = sizes.minibatch // sizes.unroll
    return [generator.permutation(whole)[:each].reshape(-1) for _ in range(count)]


def _each_epoch(sizes: SamplerSizes, epoch: Callable[[], Minibatches]) -> Minibatches:
    return [one for _ in range(sizes.epochs) for one in epoch()]


def _rules_chopped(order: Order, minibatch: int) -> Minibatches:
    return [order[first : first + minibatch] for first in range(0, len(order), minibatch)]


def _full(order: Order, minibatch: int) -> Minibatches:
    return [one for one in _rules_chopped(order, minibatch) if len(one) == minibatch]


def _require_divisible(sizes: SamplerSizes) -> None:
    if sizes.batch % sizes.minibatch:
        raise LayoutError(
            f"this scheme refuses {sizes.batch} samples in mini-batches of {sizes.minibatch}",
            where="minibatch",
            fix=f"use a divisor of {sizes.batch}",
        )


def shuffle_and_chop(
    layout: Layout, generator: np.random.Generator
) -> Int[np.ndarray, "gradient_steps minibatch"]:
    """Indices of every mini-batch of one update, in order.

    Drawn on the host: a true uniform permutation there costs a fraction of a sort on the device,
    and it is drawn while the device is still busy with the update before.
    """
    epochs = [generator.permutation(layout.batch) for _ in range(layout.epochs)]
    return np.concatenate(epochs).astype(np.int32).reshape(-1, layout.minibatch)


Indices = Int[np.ndarray, "gradient_steps minibatch"]
Scheme = Callable[[Layout, np.random.Generator], Indices]


def whole_batch(layout: Layout, generator: np.random.Generator) -> Indices:
    """The whole batch every time, whatever the mini-batch size: one gradient step an epoch."""
    del generator
    return np.tile(np.arange(layout.batch, dtype=np.int32), (layout.epochs, 1))


def random_fetch(layout: Layout, generator: np.random.Generator) -> Indices:
    """Every sample of every mini-batch fetched from all: some twice, some never."""
    shape = (layout.gradient_steps, layout.minibatch)
    return generator.integers(layout.batch, size=shape, dtype=np.int32)


def random_subsets(layout: Layout, generator: np.random.Generator) -> Indices:
    """Every mini-batch without a sample twice, but fetched from all: some samples are in none."""
    fetches = [
        generator.permutation(layout.batch)[: layout.minibatch]
        for _ in range(layout.gradient_steps)
    ]
    return np.stack(fetches).astype(np.int32)


def consecutive(layout: Layout, generator: np.random.Generator) -> Indices:
    """Steps of one env that follow each other, or of several where a mini-batch needs more.

    Nothing is shuffled but the order of the mini-batches.
    """
    return _chopped(by_env(layout.envs, layout.steps), layout, generator)


def time_slabs(layout: Layout, generator: np.random.Generator) -> Indices:
    """A few steps of all envs at a time: the batch chopped in the order it was collected in.

    Nothing is shuffled but the order of the mini-batches.
    """
    return _chopped(np.arange(layout.batch), layout, generator)


def whole_envs(layout: Layout, generator: np.random.Generator) -> Indices:
    """All steps of a few envs, the envs shuffled anew each epoch, as recurrent policies need it."""
    if layout.minibatch % layout.steps:
        raise LayoutError(
            f"a mini-batch of {layout.minibatch} does not hold whole envs of {layout.steps} steps",
            where="minibatch",
            fix=f"use a multiple of {layout.steps}",
        )
    envs = by_env(layout.envs, layout.steps).reshape(layout.envs, layout.steps)
    epochs = [envs[generator.permutation(layout.envs)] for _ in range(layout.epochs)]
    return np.concatenate(epochs).astype(np.int32).reshape(-1, layout.minibatch)


def _chopped(
    order: Int[np.ndarray, " batch"], layout: Layout, generator: np.random.Generator
) -> Indices:
    pieces = order.reshape(-1, layout.minibatch)
    epochs = [pieces[generator.permutation(layout.minibatches)] for _ in range(layout.epochs)]
    return np.concatenate(epochs).astype(np.int32)


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
    ("whole_batch", "all samples every time, whatever the size", whole_batch),
    ("random_fetch", "each sample fetched from all, with replacement", random_fetch),
    ("random_subsets", "each mini-batch fetched anew from all", random_subsets),
    ("consecutive", "steps of one env in a row, in fresh order", consecutive),
    ("time_slabs", "a few steps of all envs, in fresh order", time_slabs),
    ("whole_envs", "all steps of a few envs, in fresh order", whole_envs),
)
_LIBRARIES: tuple[tuple[str, str, Rule], ...] = (
    ("sb3", "shuffled each epoch; the last one short (TorchRL, AgileRL too)", short_tail),
    ("cleanrl", "shuffled each epoch; a rest is one extra mini-batch", short_tail),
    ("ppo1", "shuffled each epoch; the tail dropped (ML-Agents too)", tail_dropped),
    ("purejaxrl", "shuffled each epoch; no rest allowed (PPO2, rejax, Acme)", no_rest),
    ("rllib", "passes run into each other; the first unshuffled", cyclic),
    ("rllib_multi_device", "blocks in fresh order; the tail dropped", blocks_in_fresh_order),
    ("dopamine", "blocks of time, in one order an update", blocks_in_one_order),
    ("tianshou", "shuffled each epoch; the tail merged into the last", tail_merged),
    ("rl_games", "fixed blocks of whole env rollouts, unshuffled", env_slices),
    ("rsl_rl", "one shuffle for all epochs; the tail dropped", one_permutation),
    ("skrl", "shuffled each epoch; split evenly", even_split),
    ("skrl_old", "slices of time, unshuffled; the tail dropped", time_slices),
    ("brax", "whole unrolls, shuffled each epoch", unrolls),
    ("sample_factory", "slices of rollouts, unshuffled", env_slices),
    ("pufferlib", "whole unrolls drawn for each mini-batch, with repeats", drawn_unrolls),
)
SCHEMES: dict[str, NamedScheme] = {
    **{name: NamedScheme(name, words, _divisible(scheme)) for name, words, scheme in _OWN},
    **{name: NamedScheme(name, words, rule) for name, words, rule in _LIBRARIES},
}
