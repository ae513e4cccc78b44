"""Stages on the command line: which env one runs in."""

from nbyt.envs.lookup import SUITES
from nbyt.errors import UsageError
from nbyt.policy.stage import Stage


def env_of(stage: Stage, env: str, where: str, *, trust: bool = False) -> str:
    """The env to run: the user's word, or the file's where it names one of a suite's."""
    if env:
        return env
    named = str(stage.facts.get("env", ""))
    suite, colon, name = named.partition(":")
    if trust or (suite in SUITES and colon and ":" not in name):
        return named
    raise UsageError(
        f"the stage's file names the env '{named}', which is code that would be imported",
        where=where,
        fix=f"give it yourself with --env {named or 'package.module:make_env'}, or --trust-env",
    )
