"""The `nbyt` command: finds the subcommand, and turns errors into messages and exit codes.

Subcommands are imported when they are called, so that help and errors in words cost no JAX.
"""

import contextlib
import faulthandler
import inspect
import os
import re
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any, TextIO, get_args

from cyclopts import App, CycloptsError, Parameter
from cyclopts.config import Dict

from nbyt import __version__
from nbyt.cli.config import options_of_file, read_numbers, unknown_key
from nbyt.cli.output import Algo, Common, Outcome, kept_streams, print_error, print_json
from nbyt.errors import (
    DISK_FAULTS,
    DiskError,
    NbytError,
    RunInterruptedError,
    UsageError,
    described,
)
from nbyt.processes.signals import TerminatedError, sigterm_raises

# Each command: where its function is, and its line of help.
_COMMANDS = {
    "advise": ("advise:run", "Say which N x T to use on an env, how certain that is, and why."),
    "time": ("time:run", "Time updates with different N, to advise for the machine that trains."),
    "report": (
        "report:run",
        "Rebuild the page of a stored advice, sweep, study or probed training.",
    ),
    "train": (
        "train:run_ppo",
        "Train PPO, or DQN, with exactly the layout you name, and keep stages.",
    ),
    "probe": ("probe:run", "Measure what every split of a batch would do to a stage's gradient."),
    "reproduce": ("reproduce:run", "Measure what a text claims about N and T, claim by claim."),
    "sweep": (
        "sweep:run",
        "Train every layout of a batch with many seeds, and compare the results.",
    ),
    "explain": (
        "libraries:explain",
        "Explain another library's settings: layout, schedule and traps.",
    ),
    "translate": ("libraries:translate", "Translate a layout to another library's words."),
    "compare": (
        "libraries:compare",
        "Show what changed between two settings, in terms that matter.",
    ),
    "audit": ("audit:run", "Check that a sampler shuffles every epoch, and what it costs if not."),
    "dialects": ("dialects:run", "List the libraries and their words, or show one in full."),
    "check-config": (
        "check_config:run",
        "Check configuration files of a library for traps: for hooks and CI.",
    ),
    "calculator": (
        "calculator:run",
        "Write one HTML file that explains, translates and compares settings.",
    ),
    "check-env": ("check_env:run", "Check an env: spaces, numbers, seeding, resets, speed."),
    "doctor": ("doctor:run", "Show versions and devices, and run a control with a known answer."),
}
# Seconds that threads of an env may take to end.
_LAST_SECONDS = 5.0
_WORDS = {"lam": "lambda", "from_": "from"}


def _option_name(name: str) -> str:
    return _WORDS.get(name, name).strip("_").replace("_", "-")


def build_app(algo: str = "ppo") -> App:
    """Build the command line, importing no subcommand; `algo` selects the options of `train`."""
    app = App(
        name="nbyt",
        help="N by T: how to split a PPO batch into parallel environments and rollout steps.",
        version=__version__,
        name_transform=_option_name,
        default_parameter=Parameter(negative=(), name_transform=_option_name),
        help_format="plaintext",
        suppress_keyboard_interrupt=False,  # `run` answers it, with a message and exit code 130
    )
    for name, (place, words) in _COMMANDS.items():
        if name == "train" and algo in get_args(Algo):  # algorithms differ in their options
            place = f"train:run_{algo}"
        app.command(f"nbyt.cli.{place}", name=name, help=words)
    app.register_install_completion_command()
    return app


def _spelled(name: str) -> str:
    """Return an option's name as we spell it; the American spelling of `normalise` is known too."""
    return re.sub("^(--)?normalize(?=[-_])", r"\1normalise", name)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    tokens = list(sys.argv[1:] if arguments is None else arguments)
    if sys.stderr is not None:
        faulthandler.enable()  # shows where an env crashes
    code = run(tokens)
    if any(not one.daemon for one in threading.enumerate() if one is not threading.main_thread()):
        _end_after(_LAST_SECONDS, code)
    sys.exit(code)


def _end_after(seconds: float, code: int) -> None:
    """End this process after some seconds, if a thread that an env left behind keeps it alive."""
    timer = threading.Timer(seconds, os._exit, [code])
    timer.daemon = True
    timer.start()


def run(tokens: list[str]) -> int:
    """Run one command line and return its exit code."""
    with sigterm_raises():
        return _run(tokens)


def _run(given: list[str]) -> int:
    tokens = [_spelled(one) for one in given]
    as_json = "--json" in tokens
    command = tokens[0] if tokens and not tokens[0].startswith("-") else "nbyt"
    try:
        stated = options_of_file(_value_of("--config", tokens), command, _COMMANDS)
        options = {_spelled(name): value for name, value in stated.items()}
        as_json = as_json or options.get("json") is True
        function, bound = parse(tokens, options)
        as_json = bound.arguments.get("common", Common()).json
        # With --json, stdout belongs to the one JSON object.
        with kept_streams(quiet_stdout=as_json):
            outcome = function(*bound.args, **bound.kwargs)
        if as_json and isinstance(outcome, Outcome):
            print_json(command, outcome)
        sys.stdout.flush()  # here, where a reader that has gone is answered
    except NbytError as error:
        return _fail(error, command, as_json=as_json)
    except KeyboardInterrupt as error:
        by = "SIGTERM" if isinstance(error, TerminatedError) else "Ctrl-C"
        return _fail(RunInterruptedError(f"by {by}"), command, as_json=as_json)
    except MemoryError as error:
        return _fail(_memory_is_full(error, command), command, as_json=as_json)
    except BrokenPipeError:
        # The reader of our output has gone; there is nobody left to tell.
        _silence(sys.stdout)
        return 1
    except OSError as error:
        if error.errno not in DISK_FAULTS:
            raise
        _silence(sys.stdout)  # if it goes to that disk, it would fail again at the exit
        return _fail(_disk_is_full(error), command, as_json=False)
    return outcome.exit_code if isinstance(outcome, Outcome) else 0


def _fail(error: NbytError, command: str, *, as_json: bool) -> int:
    """Print the error where that is still possible, and return its exit code."""
    for stream, json in ((sys.stdout, as_json), (sys.stderr, False)):
        try:
            print_error(error, command, as_json=json)
            break
        except OSError:  # the reader has gone, or the disk that it is written to is full
            _silence(stream)
    return error.exit_code


def _disk_is_full(error: OSError) -> DiskError:
    """Return an error about a write that is not part of any run, such as what is printed."""
    message = f"a write failed: {error.strerror}"
    fix = "free some space and run the same command again; what was saved is intact"
    return DiskError(message, where=str(error.filename or "what this command prints"), fix=fix)


def _memory_is_full(error: MemoryError, command: str) -> NbytError:
    message = f"not enough memory: {described(error)}"
    fix = "use fewer envs, smaller observations or a smaller network"
    return NbytError(message, where=command, fix=fix)


def _silence(stream: TextIO) -> None:
    """Redirect a stream, and what it still buffers, to os.devnull."""
    with contextlib.suppress(OSError, ValueError):  # a stream in memory has no number
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def parse(
    tokens: list[str], options: dict[str, Any]
) -> tuple[Callable[..., Any], inspect.BoundArguments]:
    """Find the function that a command line calls, and parse its arguments; options: of a file."""
    algo = _value_of("--algo", tokens) or options.get("algo", "ppo")
    app = build_app(algo)
    source = _value_of("--config", tokens) or ""
    file = Dict(options, use_commands_as_keys=False, source=source)
    app.config = [file, read_numbers] if options else [read_numbers]
    # `compare` reads its own `--`; options may follow it.
    end = "" if tokens[:1] == ["compare"] else "--"
    try:
        function, bound, _ = app.parse_args(
            tokens, exit_on_error=False, print_error=False, end_of_options_delimiter=end
        )
    except CycloptsError as error:
        where = f"nbyt {tokens[0]}" if tokens and tokens[0] in _COMMANDS else "nbyt"
        if (tokens[:1], algo) == (["train"], "dqn"):
            where += " --algo dqn"
        message = " ".join(str(error).split())
        usage = UsageError(message, where=where, fix=f"see `{where} --help`")
        raise unknown_key(error, source) or usage from error
    return function, bound


def _value_of(option: str, tokens: list[str]) -> str | None:
    for place, token in enumerate(tokens):
        name, equals, value = token.partition("=")
        if name == option:
            return value if equals else "".join(tokens[place + 1 : place + 2])
    return None


if __name__ == "__main__":
    main()
