"""Laws of the sources: three exact sums, and intervals that are those of plain means."""

import dataclasses

import numpy as np
import pytest

from nbyt.errors import UsageError
from nbyt.stats.estimate import mean
from nbyt.stats.sources import SourceBlocks, SourceEstimates, source_estimates


def some_blocks(count: int = 12, seed: int = 0) -> SourceBlocks:
    """Blocks whose parts are of any sign; their noise is positive."""
    generator = np.random.default_rng(seed)
    blocks = SourceBlocks(*generator.normal(size=(len(SourceBlocks._fields), count)))
    return blocks._replace(trajectory=blocks.trajectory + 5)


def test_the_parts_add_up_in_three_ways() -> None:
    found = {name: part.value for name, part in vars(source_estimates(some_blocks())).items()}
    noise = found["own_step"] + found["credit"]
    np.testing.assert_allclose(found["variance"], found["sampling"] + noise + found["coupling"])
    np.testing.assert_allclose(noise, found["environment"] + found["policy"])
    np.testing.assert_allclose(noise, found["trajectory"] + found["shared_luck"])
    np.testing.assert_allclose(found["environment_share"] + found["policy_share"], 1)


def test_each_part_has_the_interval_of_its_blocks() -> None:
    blocks = some_blocks()
    found = source_estimates(blocks)
    assert found.sampling == mean(blocks.sampling)
    noise = blocks.trajectory + blocks.shared_luck
    assert found.credit == mean(noise - blocks.own_step)
    assert found.variance == mean(blocks.sampling + noise + blocks.coupling)


def test_a_share_of_a_constant_is_a_mean() -> None:
    blocks = some_blocks()
    fixed = blocks._replace(trajectory=np.full(12, 3.0), shared_luck=np.full(12, 1.0))
    found, expected = source_estimates(fixed).environment_share, mean(blocks.environment / 4)
    np.testing.assert_allclose(dataclasses.astuple(found)[:3], dataclasses.astuple(expected)[:3])


def test_many_envs_divide_variances_and_keep_shares() -> None:
    one = source_estimates(some_blocks())
    four = one.over(4)
    assert isinstance(four, SourceEstimates) and four.policy_share == one.policy_share
    for name in ("sampling", "credit", "variance", "shared_luck", "environment"):
        single, divided = getattr(one, name), getattr(four, name)
        assert (divided.value, divided.low, divided.high) == (
            single.value / 4,
            single.low / 4,
            single.high / 4,
        )
    assert set(four.as_dict()) == {field.name for field in dataclasses.fields(SourceEstimates)}
    assert four.as_dict()["credit"]["value"] == four.credit.value


def test_no_noise_has_no_shares() -> None:
    blocks = some_blocks()
    silent = blocks._replace(trajectory=np.zeros(12), shared_luck=np.zeros(12))
    found = source_estimates(silent).over(2)
    assert found.environment_share.value is None and "no measurable noise" in str(
        found.as_dict()["policy_share"]["reason"]
    )


def test_one_block_is_refused() -> None:
    with pytest.raises(UsageError, match="1 blocks"):
        source_estimates(some_blocks(1))
