"""Trainings and advices that died at some file operation end as if they never had.

In the test command at a few operations, in this process: from the one at which it dies, none
reaches the disk. `make soak` kills real processes at many more.
"""

import contextlib
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest
from benchmarks.soak.cases import Case, contents, damages, leftovers
from benchmarks.soak.operations import count_operations
from tests.faults.disk_limit import full_disk

import nbyt
from nbyt.errors import DiskError
from nbyt.layout import Layout
from nbyt.store.files import RESULT
from nbyt.store.run import open_run
from nbyt.training import loop
from nbyt.training.dqn import DQNPlan, DQNSettings, ReplayLayout
from nbyt.training.plan import AnyPlan, PPOPlan, PPOSettings

TABLE = PPOSettings(network="table", learning_rate=0.1)


class Dead(BaseException):
    """The process is dead."""


def advise(out: Path) -> None:
    nbyt.advise(
        "FrozenLake-v1",
        batch=64,
        steps=[4, 16],
        trainings=1,
        costs="parallel",
        stages=1,
        total=512,
        settings=TABLE,
        out=out,
    )


def trained(plan: AnyPlan) -> Callable[[Path], None]:
    def train(out: Path) -> None:
        run = open_run(out, plan.identity())
        if run.read(RESULT) is None:
            loop.train(plan, run)

    return train


def dqn() -> DQNPlan:
    layout = ReplayLayout(envs=1, steps=4, minibatch=8, gradient_steps=1, buffer=64, warm_up=16)
    return DQNPlan("gymnax:CartPole-v1", layout, 64, 3, DQNSettings(), (4, 12))


HOST = PPOPlan("gym:FrozenLake-v1", Layout(2, 8, 8, 1), 96, 3, TABLE, (2, 6))


@dataclass(frozen=True)
class Command:
    """What is done, which files may differ, and where it dies: shares of its file operations."""

    do: Callable[[Path], object]
    shares: tuple[float, ...]
    differs: str = ""


COMMANDS = {
    "advise": Command(advise, (0.3, 0.6, 0.5), r"report\.html"),
    "train --algo dqn": Command(trained(dqn()), (0.02, 0.5, 0.3, 0.99)),
    # Host envs cannot be saved: a resumed run is a proper one, but has other bits.
    "train on a host env": Command(
        trained(HOST), (0.02, 0.5, 0.3, 0.99), r"(stage|result|metrics).*"
    ),
}


class Undisturbed(NamedTuple):
    """Where a command works, how many file operations it makes, and what it leaves."""

    out: Path
    operations: int
    expected: dict[str, bytes]


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Undisturbed]:
    """Each command, done once; its folder is free again."""

    @cache
    def done(name: str) -> Undisturbed:
        out, made = tmp_path_factory.mktemp("soak") / "out", [0]
        with counted(made.append):
            COMMANDS[name].do(out)
        expected = contents(Case(name, "", COMMANDS[name].differs), out)
        shutil.rmtree(out)
        return Undisturbed(out, made[-1], expected)

    return done


@contextmanager
def counted(before: Callable[[int], None]) -> Iterator[None]:
    end = count_operations(before)
    try:
        yield
    finally:
        end()


@pytest.fixture(autouse=True)
def every_update_is_saved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "_CHECKPOINT_SECONDS", 0.0)
    monkeypatch.setattr(loop, "_SAVING_SHARE", float("inf"))


@pytest.mark.parametrize("name", COMMANDS)
def test_death_at_file_operations_changes_nothing(
    name: str, undisturbed: Callable[[str], Undisturbed]
) -> None:
    command, (out, operations, expected) = COMMANDS[name], undisturbed(name)
    deaths = 0
    for share in command.shares:  # each run goes on from the last one
        with contextlib.suppress(Dead), counted(dies_at(1 + int(share * operations))):
            command.do(out)
            deaths -= 1
        deaths += 1
        assert damages(out) == []
    assert deaths >= 2
    command.do(out)
    assert contents(Case(name, "", command.differs), out) == expected
    assert leftovers(out) == [] and damages(out) == []
    shutil.rmtree(out)


def test_a_checkpoint_that_outlived_its_run_is_removed(
    undisturbed: Callable[[str], Undisturbed],
) -> None:
    """The result is written first: otherwise a death between the two would lose the run."""
    name = "train on a host env"
    out, _, expected = undisturbed(name)

    def die_after_the_result(number: int) -> None:
        if (out / "result.json").exists():
            raise Dead

    with pytest.raises(Dead), counted(die_after_the_result):
        COMMANDS[name].do(out)
    assert list(out.glob("checkpoint*"))
    COMMANDS[name].do(out)
    assert contents(Case(name, "", COMMANDS[name].differs), out) == expected
    shutil.rmtree(out)


def dies_at(place: int) -> Callable[[int], None]:
    """From this file operation on, none is made."""

    def die(number: int) -> None:
        if number >= place:
            raise Dead

    return die


@pytest.mark.skipif(sys.platform == "win32", reason="needs RLIMIT_FSIZE")
def test_an_advice_survives_a_full_disk_also_while_it_is_resumed(
    undisturbed: Callable[[str], Undisturbed],
) -> None:
    out, _, expected = undisturbed("advise")
    # The largest file that the disk takes: neither measurement nor page, then no page.
    for size in (10_000, 100_000):
        with full_disk(size), pytest.raises(DiskError, match="bytes needed") as caught:
            advise(out)
        assert str(out) in caught.value.where and "free some space" in caught.value.fix
        assert damages(out) == [] and leftovers(out) == []
    advise(out)
    assert contents(Case("advise", "", COMMANDS["advise"].differs), out) == expected
    shutil.rmtree(out)
