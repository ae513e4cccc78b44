"""From an env id to an environment, through the table of suites.

To add a suite, write a module with `find(name)` and `names()` and add a line to the table.
`package.module:name` is code of the user's, imported only because the user wrote it on the command
line or in a call.
"""

import difflib
import importlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from nbyt.envs.protocol import DeviceEnv, HostEnv
from nbyt.errors import EnvUsageError, MissingExtraError


class Suite(NamedTuple):
    """Where a suite's envs are found.

    module: imported when it is asked for, because each costs seconds or is an extra. extra: the
    extra of nbyt that installs it. bare: its envs are also found without the prefix.
    """

    module: str
    extra: str = ""
    bare: bool = True

    def call(self, function: str, *arguments: Any) -> Any:
        """Call a function of the suite's module."""
        try:
            return getattr(importlib.import_module(self.module), function)(*arguments)
        except ImportError as error:
            if self.extra:
                raise MissingExtraError(self.extra, self.extra) from error
            raise


# Names without a prefix are looked up in this order.
SUITES = {
    "tabular": Suite("nbyt.envs.tabular"),
    "classic": Suite("nbyt.envs.classic"),
    "gymnax": Suite("nbyt.envs.gymnax_suite", extra="gymnax"),
    "gym": Suite("nbyt.envs.gymnasium_suite"),
    "envpool": Suite("nbyt.envs.envpool_suite", extra="envpool", bare=False),
}
_PREFIXES = [f"{prefix}:" for prefix in SUITES]
_IDS = f"{', '.join(_PREFIXES[:-1])} or {_PREFIXES[-1]} and a name"
ENV_HELP = f"{_IDS}, package.module:make_env, or a bare name."


def resolve(env: Any) -> DeviceEnv | HostEnv:
    """Find the environment that an id names; an environment passes through."""
    if not isinstance(env, str) or _is_code(env):
        from nbyt.envs.user_code import env_from

        return env_from(import_code(env), env) if isinstance(env, str) else env_from(env)
    prefix, colon, name = env.partition(":")
    if colon:
        found = SUITES[prefix].call("find", name)
    else:
        every = (suite.call("find", env) for suite in _bare())
        found = next((one for one in every if one is not None), None)
    if found is None:
        raise _unknown(env)
    return found


def import_code(env: str) -> Any:
    """Import what the id of a user's own env names; return None for an env of a suite."""
    if not _is_code(env):
        return None
    from nbyt.envs.user_code import imported

    return imported(
        env,
        where="env",
        fix="give package.module:name of a function that makes an env",
        error=EnvUsageError,
    )


def _bare() -> Iterator[Suite]:
    """Yield the suites whose envs need no prefix; an extra that is not installed is left out."""
    for suite in SUITES.values():
        if suite.bare:
            with suppress(MissingExtraError):
                suite.call("names")
                yield suite


def _is_code(env: str) -> bool:
    prefix, colon, _ = env.partition(":")
    return bool(colon) and prefix not in SUITES


def _unknown(env: str) -> EnvUsageError:
    known = {name for suite in _bare() for name in suite.call("names")}
    near = difflib.get_close_matches(env.rpartition(":")[2], sorted(known), n=3, cutoff=0.5)
    own = _with_colon(env)
    near = [own] if own else near
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    lacking = [suite.extra for suite in SUITES.values() if suite.bare and suite not in {*_bare()}]
    more = "".join(f"; more envs with pip install 'nbyt[{extra}]'" for extra in lacking)
    message = f"no environment is called '{env}'"
    fix = f"{hint}ids are {_IDS}, or package.module:make{more}"
    return EnvUsageError(message, where="env", fix=fix)


def _with_colon(env: str) -> str:
    """Return module:name for a module.name whose module is a file here; "" for all else."""
    module, dot, name = env.rpartition(".")
    is_dotted = all(part.isidentifier() for part in env.split("."))
    return f"{module}:{name}" if dot and is_dotted and _is_here(module) else ""


def _is_here(module: str) -> bool:
    place = Path(*module.split("."))
    return place.with_suffix(".py").is_file() or (place / "__init__.py").is_file()
