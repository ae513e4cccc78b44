"""Ways to cut a batch into mini-batches: shuffle-and-chop, those of libraries, known mistakes.

All give the indices of every mini-batch of one update, in order; sample t * N + n is step t of
env n. `SCHEMES` has them by name.
"""

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from math import gcd

import numpy as np
from jaxtyping import Int

from nbyt.errors import LayoutError, UsageError
from nbyt.layout import Layout

# Rules: a rule gives all mini-batches of one update, in order; their sizes may differ. Schemes give
# them as one array.

Order = Int[np.ndarray, " samples"]
Minibatches = list[Int[np.ndarray, " _"]]


@dataclass(frozen=True)
class SamplerSizes:
    """The sizes of a layout whose mini-batch need not divide the batch."""

    envs: int
    steps: int
    minibatch: int
    epochs: int

    @property
    def batch(self) -> int:
        return self.envs * self.steps

    @property
    def unroll(self) -> int:
        """Return the longest unroll that divides both an env's steps and a mini-batch."""
        return gcd(self.steps, self.minibatch)


Rule = Callable[[SamplerSizes, np.random.Generator], Minibatches]


def by_env(envs: int, steps: int) -> Order:
    """Return all sample indices, env after env."""
    return np.arange(envs * steps).reshape(steps, envs).T.reshape(-1)


def short_tail(sizes: SamplerSizes, generator: np.random.Generator) -> Minibatches:
    """Shuffle anew each epoch and chop; the last mini-batch may be short."""
    return _each_epoch(sizes, lambda: _pieces(generator.permutation(sizes.batch), sizes.minibatch))


def tail_dropped(sizes: SamplerSizes, generator: np.random.Generator) -> Minibatches:
    """Shuffle anew each epoch and use only full mini-batches."""
    return _each_epoch(sizes, lambda: _full(generator.permutation(sizes.batch), sizes.minibatch))


def tail_merged(sizes: SamplerSizes, generator: np.random.Generator) -> Minibatches:
    """Shuffle anew each epoch; merge the remainder into the last mini-batch."""

    def epoch() -> Minibatches:
        pieces = _pieces(generator.permutation(sizes.batch), sizes.minibatch)
        if len(pieces) > 1 and len(pieces[-1]) < sizes.minibatch:
            pieces[-2:] = [np.concatenate(pieces[-2:])]
        return pieces

    return _each_epoch(sizes, epoch)


def even_split(sizes: SamplerSizes, generator: np.random.Generator) -> Minibatches:
    """Shuffle anew each epoch and split into parts whose sizes differ by at most one."""
    count = max(sizes.batch // sizes.minibatch, 1)
    return _each_epoch(
        sizes, lambda: list(np.array_split(generator.permutation(sizes.batch), count))
    )


def no_rest(sizes: SamplerSizes, generator: np.random.Generator) -> Minibatches:
    """Shuffle anew each epoch; refuse sizes that do not divide."""
    _require_divisible(sizes)
    return short_tail(sizes, generator)


def one_permutation(sizes: SamplerSizes, generator: np.random.Generator) -> Minibatches:
    """Shuffle once for all epochs of an update; drop the tail."""
    return _full(generator.permutation(sizes.batch), sizes.minibatch) * sizes.epochs


def cyclic(sizes: SamplerSizes, generator: np.random.Generator) -> Minibatches:
    """Let passes run into each other in full mini-batches; the first pass is not shuffled.

    A single epoch is not shuffled at all.
    """
    count = -(-sizes.epochs * sizes.batch // sizes.minibatch)
    first = by_env(sizes.envs, sizes.steps)
    rest = -(-count * sizes.minibatch // sizes.batch) - 1
    shuffled = sizes.epochs > 1
    passes = [generator.permutation(first) if shuffled else first for _ in range(rest)]
    return _full(np.concatenate([first, *passes]), sizes.minibatch)[:count]


def blocks_in_fresh_order(sizes: SamplerSizes, generator: np.random.Generator) -> Minibatches:
    """Cut successive steps into blocks, shuffle their order each epoch, drop the tail."""
    blocks = _full(by_env(sizes.envs, sizes.steps), sizes.minibatch)
    return _each_epoch(sizes, lambda: [blocks[at] for at in generator.permutation(len(blocks))])


def blocks_in_one_order(sizes: SamplerSizes, generator: np.random.Generator) -> Minibatches:
    """Cut successive steps into blocks, shuffle their order once an update."""
    _require_divisible(sizes)
    blocks = _full(by_env(sizes.envs, sizes.steps), sizes.minibatch)
    return [blocks[at] for at in generator.permutation(len(blocks))] * sizes.epochs


def env_slices(sizes: SamplerSizes, generator: np.random.Generator) -> Minibatches:
    """Use whole rollouts, or slices of one, env after env; nothing is shuffled."""
    del generator
    _require_divisible(sizes)
    return _full(by_env(sizes.envs, sizes.steps), sizes.minibatch) * sizes.epochs


def time_slices(sizes: SamplerSizes, generator: np.random.Generator) -> Minibatches:
    """Use a few steps of all envs, in the order of collection; drop the tail."""
    del generator
    return _full(np.arange(sizes.batch), sizes.minibatch) * sizes.epochs


def unrolls(sizes: SamplerSizes, generator: np.random.Generator) -> Minibatches:
    """Shuffle whole unrolls each epoch. An unroll is as long as both sizes allow."""
    _require_divisible(sizes)
    whole = by_env(sizes.envs, sizes.steps).reshape(-1, sizes.unroll)
    return _each_epoch(
        sizes, lambda: _full(generator.permutation(whole).reshape(-1), sizes.minibatch)
    )


def drawn_unrolls(sizes: SamplerSizes, generator: np.random.Generator) -> Minibatches:
    """Draw whole unrolls for each mini-batch, none twice in one, all with equal priority."""
    whole = by_env(sizes.envs, sizes.steps).reshape(-1, sizes.unroll)
    count = sizes.epochs * sizes.batch // sizes.minibatch
    each = sizes.minibatch // sizes.unroll
    return [generator.permutation(whole)[:each].reshape(-1) for _ in range(count)]


def _each_epoch(sizes: SamplerSizes, epoch: Callable[[], Minibatches]) -> Minibatches:
    return [one for _ in range(sizes.epochs) for one in epoch()]


def _pieces(order: Order, minibatch: int) -> Minibatches:
    return [order[first : first + minibatch] for first in range(0, len(order), minibatch)]


def _full(order: Order, minibatch: int) -> Minibatches:
    return [one for one in _pieces(order, minibatch) if len(one) == minibatch]


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
    """Shuffle the batch anew each epoch and chop it into mini-batches.

    Drawn on the host: a true uniform permutation there costs a fraction of a sort on the device,
    and it is drawn while the device is still busy with the update before.

    Parameters
    ----------
    layout : Layout
        Sizes of the update.
    generator : numpy.random.Generator
        Source of the shuffles.

    Returns
    -------
    Int[ndarray, "gradient_steps minibatch"]
        Sample indices of every mini-batch of one update, in order. Index t * N + n is step t of
        env n.

    Examples
    --------
    >>> import numpy as np
    >>> from nbyt import Layout
    >>> layout = Layout(envs=2, steps=3, minibatch=2, epochs=2)
    >>> indices = shuffle_and_chop(layout, np.random.default_rng(0))
    >>> indices.shape
    (6, 2)
    >>> sorted(indices[:3].reshape(-1).tolist())
    [0, 1, 2, 3, 4, 5]
    """
    epochs = [generator.permutation(layout.batch) for _ in range(layout.epochs)]
    return np.concatenate(epochs).astype(np.int32).reshape(-1, layout.minibatch)


Indices = Int[np.ndarray, "gradient_steps minibatch"]
Scheme = Callable[[Layout, np.random.Generator], Indices]


def whole_batch(layout: Layout, generator: np.random.Generator) -> Indices:
    """Use the whole batch every time, whatever the mini-batch size: one gradient step an epoch."""
    del generator
    return np.tile(np.arange(layout.batch, dtype=np.int32), (layout.epochs, 1))


def random_fetch(layout: Layout, generator: np.random.Generator) -> Indices:
    """Draw every sample of every mini-batch from all: some twice, some never."""
    shape = (layout.gradient_steps, layout.minibatch)
    return generator.integers(layout.batch, size=shape, dtype=np.int32)


def random_subsets(layout: Layout, generator: np.random.Generator) -> Indices:
    """Draw every mini-batch from all samples, without replacement within it."""
    fetches = [
        generator.permutation(layout.batch)[: layout.minibatch]
        for _ in range(layout.gradient_steps)
    ]
    return np.stack(fetches).astype(np.int32)


def consecutive(layout: Layout, generator: np.random.Generator) -> Indices:
    """Use successive steps of one env, or of several where a mini-batch needs more.

    Nothing is shuffled but the order of the mini-batches.
    """
    return _chopped(by_env(layout.envs, layout.steps), layout, generator)


def time_slabs(layout: Layout, generator: np.random.Generator) -> Indices:
    """Use a few steps of all envs at a time, in the order of collection.

    Nothing is shuffled but the order of the mini-batches.
    """
    return _chopped(np.arange(layout.batch), layout, generator)


def whole_envs(layout: Layout, generator: np.random.Generator) -> Indices:
    """Use all steps of a few envs, the envs shuffled each epoch, as recurrent policies need."""
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
    """A way to cut a batch: its name, a one-line description, and its rule."""

    name: str
    words: str
    rule: Rule

    def __call__(self, layout: Layout, generator: np.random.Generator) -> Indices:
        sizes = SamplerSizes(layout.envs, layout.steps, layout.minibatch, layout.epochs)
        return np.stack(self.rule(sizes, generator)).astype(np.int32)

    def sampler(self, envs: int, steps: int) -> Sampler:
        """Return the scheme as a sampler of batches of this shape."""

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
    """Turn a scheme into a rule; a layout refuses sizes that leave a remainder."""

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
