"""Numbers on the command line and in files: what is taken is what was given, or it is refused.

The flags are those that the commands have, so that a new one is tried too.
"""

from datetime import date
from decimal import Decimal
from math import isfinite
from pathlib import Path
from typing import Any

import pytest
from cyclopts import CycloptsError, Token

from nbyt.cli import main
from nbyt.cli.config import read_numbers
from nbyt.errors import UsageError
from nbyt.numbers import kind_of

LAKE = "tabular:FrozenLake-v1"
# Each command with what it needs, by the algorithm that decides its options.
COMMANDS = {
    "advise": ["advise", LAKE],
    "report": ["report", "folder"],
    "train": ["train", LAKE],
    "dqn": ["train", LAKE, "--algo=dqn"],
    "probe": ["probe", "folder"],
    "reproduce": ["reproduce", "post"],
    "sweep": ["sweep", LAKE, "--batch=64"],
    "time": ["time", LAKE],
    "explain": ["explain", "sb3"],
    "translate": ["translate", "sb3", "cleanrl"],
    "compare": ["compare", "sb3", "--", "sb3"],
    "audit": ["audit", "brax", "--batch=64", "--minibatch=8", "--epochs=1"],
    "dialects": ["dialects"],
    "check-env": ["check-env", LAKE],
    "doctor": ["doctor"],
}
TEXTS = ["0", "-1", "1.5", "nan", "inf", "1e20", "1" + "0" * 20, "9" * 5000, "", "x", "1e-400"]
# The same in a file, where values have types.
VALUES = [True, [1, 2], float("nan"), 10**40, date(2020, 1, 1)]


def arguments_of(name: str) -> dict[str, Any]:
    """Every option of a command, by its flag."""
    tokens = COMMANDS[name]
    app = main.build_app("dqn" if name == "dqn" else "ppo")
    sub, usual = app[tokens[0]], app.default_parameter
    found = sub.assemble_argument_collection(default_parameter=usual)
    flags = [one for one in found if one.name.startswith("--") and one.parse and not one.children]
    return {one.name: one for one in flags if one.keys or one.field_info.is_keyword_only}


def without(flag: str, tokens: list[str]) -> list[str]:
    return [token for token in tokens if not token.startswith(f"{flag}=")]


def numbers_of(name: str) -> list[str]:
    """The flags of a command that take numbers."""
    found = arguments_of(name).items()
    return [flag for flag, one in found if kind_of(one.field_info.annotation) is not None]


def same(got: Any, text: str) -> bool:
    """Whether a value is what the text says, and nothing else."""
    if isinstance(got, bool):
        return text == str(int(got))
    if isinstance(got, int):
        return Decimal(got) == Decimal(text)
    if isinstance(got, float):
        return got == float(text) and isfinite(got)
    one = got[0] if isinstance(got, tuple | list) and len(got) == 1 else got
    return str(one) == (str(Path(text)) if isinstance(one, Path) else text)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_flag_takes_what_it_is_given_or_refuses_it_by_name(name: str) -> None:
    taken = refused = 0
    for text in TEXTS:
        for flag, argument in arguments_of(name).items():
            argument.append(Token(keyword=flag, value=text, source="cli"))
            try:
                read_numbers(None, (), [argument])
                got = argument.convert()
            except (UsageError, CycloptsError) as error:
                assert flag in str(error), (flag, text[:30], str(error))  # noqa: PT017
                refused += 1
            else:
                assert same(got, text), (flag, text[:30], got)
                taken += 1
    assert taken > 0 and refused > 0


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_line_is_read_so(name: str) -> None:
    for flag in numbers_of(name):
        with pytest.raises(UsageError) as refused:
            main.parse([*without(flag, COMMANDS[name]), f"{flag}=nan"], {})
        assert refused.value.exit_code == 2
        assert refused.value.where == flag and flag in refused.value.message and refused.value.fix


@pytest.mark.parametrize("name", ["train", "dqn"])
def test_a_file_is_read_so(name: str) -> None:
    for flag in numbers_of(name):
        key, tokens = flag.strip("-"), without(flag, COMMANDS[name])
        for value in VALUES:
            with pytest.raises(UsageError) as refused:
                main.parse([*tokens, "--config=run.toml"], {key: value})
            assert refused.value.exit_code == 2 and refused.value.fix
            assert key in f"{refused.value.message} {refused.value.where}"
            assert "run.toml" in str(refused.value)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_number_of_every_command_has_a_kind_with_bounds(name: str) -> None:
    """One without would be read by somebody else, who rounds 1.5 to 2."""
    for flag, argument in arguments_of(name).items():
        if {int, float} & {argument.hint, *getattr(argument.hint, "__args__", ())}:
            assert kind_of(argument.field_info.annotation) is not None, flag


EXTREMES = ["1", str(2**31), "1e15", "10000", "0.5"]


@pytest.mark.parametrize("name", ["train", "dqn", "audit"])
def test_whatever_is_taken_a_dry_run_comes_back(
    name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for flag in numbers_of(name):
        for text in EXTREMES:
            code = main.run([*without(flag, COMMANDS[name]), f"{flag}={text}", "--dry-run"])
            said = capsys.readouterr().err
            assert code in (0, 2) and "Traceback" not in said, (flag, text, said)
    assert not list(tmp_path.iterdir())


def test_a_stage_that_is_not_there_is_missed_by_a_dry_run_too(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for algo in ("ppo", "dqn"):
        command = ["train", LAKE, "--algo", algo, "--dry-run", "--from", "nope"]
        assert main.run(command) == 2 and "nope" in capsys.readouterr().err


WITH_SEED = {
    "advise": ("advise", LAKE, "--batch", "64"),
    "train": ("train", LAKE, "--envs", "8", "--steps", "32", "--total", "1024"),
    "dqn": ("train", LAKE, "--algo", "dqn"),
    "probe": ("probe", "nowhere", "--batch", "64"),
    "reproduce": ("reproduce", "post"),
    "sweep": ("sweep", LAKE, "--batch", "64"),
    "audit": ("audit", "permutation", "--batch", "64", "--minibatch", "8", "--epochs", "1"),
    "check-env": ("check-env", LAKE),
    "doctor": ("doctor",),
}


@pytest.mark.parametrize("seed", ["99999999999999999999999", "-1", "1.5", "", "nan", "inf", "x"])
@pytest.mark.parametrize("command", WITH_SEED)
def test_a_seed_that_cannot_be_is_refused_at_once(
    command: str, seed: str, capsys: pytest.CaptureFixture[str], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    assert main.run([*WITH_SEED[command], f"--seed={seed}"]) == 2
    said = capsys.readouterr().err
    assert "seed" in said and "fix:" in said and "Traceback" not in said
    assert not list(tmp_path.iterdir())
