"""Live buffers and loaders: what they do is seen, and nothing of theirs is changed."""

import numpy as np
import pytest

from nbyt.errors import UsageError
from nbyt.minibatch import audit, sampler_of

torch = pytest.importorskip("torch")
sb3 = pytest.importorskip("stable_baselines3")
data = torch.utils.data


@pytest.fixture(scope="module")
def buffer():
    """The rollout buffer of a real, short training: 2 envs x 64 steps."""
    envs = sb3.common.env_util.make_vec_env("CartPole-v1", n_envs=2, seed=0)
    sizes = {"n_steps": 64, "batch_size": 32, "n_epochs": 1, "device": "cpu", "seed": 0}
    return sb3.PPO("MlpPolicy", envs, **sizes).learn(128).rollout_buffer


def test_the_buffer_of_stable_baselines3_is_right(buffer) -> None:
    found = audit(
        sampler_of(buffer), batch=128, minibatch=32, epochs=4, envs=2, steps=64, order="env-major"
    )
    assert found.ok and found.minibatch_sizes == (32,) * 4 and found.remarks == ()
    short = audit(buffer, batch=128, minibatch=48, epochs=4)
    assert short.ok and short.minibatch_sizes == (48, 48, 32) and short.remarks


def test_the_buffer_and_shared_random_states_are_left_as_they_were(buffer) -> None:
    held = dict(vars(buffer))
    states = np.random.get_state()[1].copy(), torch.get_rng_state()
    audit(sampler_of(buffer), batch=128, minibatch=32, epochs=2)
    assert vars(buffer).keys() == held.keys()
    assert all(vars(buffer)[name] is held[name] for name in held)
    np.testing.assert_array_equal(np.random.get_state()[1], states[0])
    assert torch.equal(torch.get_rng_state(), states[1])


def test_a_batch_that_is_not_the_buffers_is_refused(buffer) -> None:
    with pytest.raises(UsageError, match="holds 128 samples, not 64"):
        audit(sampler_of(buffer), batch=64, minibatch=32, epochs=2)


def test_loaders_and_samplers_of_torch() -> None:
    samples = data.TensorDataset(torch.arange(128))
    generator = torch.Generator().manual_seed(3)
    before = generator.get_state()
    cases = [
        (data.DataLoader(samples, batch_size=32, shuffle=True), set()),
        (data.DataLoader(samples, batch_size=32, shuffle=True, generator=generator), set()),
        (data.DataLoader(samples, batch_size=32), {"unshuffled", "blocks"}),
        (data.DataLoader(samples, batch_size=48, shuffle=True, drop_last=True), {"tail_dropped"}),
        (
            data.BatchSampler(data.RandomSampler(samples, replacement=True), 32, False),
            {"unused", "repeated"},
        ),
    ]
    for loader, codes in cases:
        assert audit(sampler_of(loader), batch=128, minibatch=32, epochs=3).codes == codes
    assert torch.equal(generator.get_state(), before)


class Shuffler:
    """An object with a random state of its own."""

    def __init__(self) -> None:
        self.generator = np.random.default_rng(0)

    def __iter__(self):
        yield from self.generator.permutation(128).reshape(-1, 32)

    def get(self, minibatch: int):
        yield from self.generator.permutation(128).reshape(-1, minibatch)


def test_an_iterable_and_a_get_of_ones_own() -> None:
    shuffler = Shuffler()
    before = shuffler.generator.bit_generator.state
    assert audit(sampler_of(shuffler), batch=128, minibatch=16, epochs=2).ok
    fixed = list(shuffler.__class__())
    assert audit(sampler_of(fixed), batch=128, minibatch=32, epochs=2).codes == {"same_permutation"}
    assert shuffler.generator.bit_generator.state == before


def test_what_is_no_source_of_minibatches_is_refused() -> None:
    for thing in (iter([np.arange(4)]), 7, "abc", {"a": 1}, None):
        with pytest.raises(UsageError, match="no sampler can be made"):
            sampler_of(thing)
