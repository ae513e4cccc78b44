"""From an env id to an environment.

`tabular:`, `gymnax:`, `gym:` and `envpool:` name a suite; `package.module:name` is code of the
user's, imported only because the user wrote it on the command line or in a call.
"""

import difflib
from typing import Any

from gymnasium import Env

from nbyt.envs.named import named
from nbyt.envs.protocol import DeviceEnv, HostEnv
from nbyt.envs.user_code import calling_user_code, imported
from nbyt.errors import EnvUsageError, described

SUITES = ("tabular", "gymnax", "gym", "envpool")


def resolve(env: Any) -> DeviceEnv | HostEnv:
    """The environment that an id names; an environment passes through."""
    if not isinstance(env, str):
        return _from_object(env, where=type(env).__name__)
    suite, colon, name = env.partition(":")
    if suite in SUITES and colon:
        return _require(_find(suite, name), env)
    if colon:
        return _from_object(import_code(env), where=env, name=env)
    for suite in ("tabular", "gymnax", "gym"):
        found = _find(suite, env)
        if found is not None:
            return found
    return _require(None, env)


def _find(suite: str, name: str) -> DeviceEnv | HostEnv | None:
    # Suites are imported when asked for: each costs seconds or is an extra.
    if suite == "tabular":
        from nbyt.envs import tabular

        return tabular.find(name)
    if suite == "gymnax":
        from nbyt.envs import gymnax_suite

        return gymnax_suite.find(name)
    if suite == "gym":
        from nbyt.envs import gymnasium_suite

        return gymnasium_suite.find(name)
    from nbyt.envs import envpool_suite

    return envpool_suite.find(name)


def _require(found: DeviceEnv | HostEnv | None, env: str) -> DeviceEnv | HostEnv:
    if found is not None:
        return found
    near = difflib.get_close_matches(env.rpartition(":")[2], _known(), n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}? " if near else ""
    raise EnvUsageError(
        f"no environment is called '{env}'",
        where="env",
        fix=f"{hint}ids are tabular:, gymnax:, gym: or envpool: and a name, or package.module:make",
    )


def _known() -> list[str]:
    import gymnasium

    from nbyt.envs import gymnax_suite

    return sorted({*gymnasium.registry, *gymnax_suite.names()})


def import_code(env: str) -> Any:
    """What the id of a user's own env names; None for an env of a suite."""
    suite, colon, _ = env.partition(":")
    if suite in SUITES or not colon:
        return None
    return imported(
        env,
        where="env",
        fix="give package.module:name of a function that makes an env",
        error=EnvUsageError,
    )


def _from_object(thing: Any, *, where: str, name: str = "") -> DeviceEnv | HostEnv:
    """The env that a thing is or makes. name: what the user typed, which finds it again."""
    if not isinstance(thing, type) and isinstance(thing, DeviceEnv | HostEnv):
        return named(name, thing) if name else thing
    if not callable(thing):
        raise EnvUsageError(
            f"'{where}' is not an environment nor a function that makes one",
            where="env",
            fix="name a function without arguments that returns a Gymnasium env",
        )
    from nbyt.envs import gymnasium_suite

    with calling_user_code(lambda error: _raised(where, error)):
        made = thing()
    if isinstance(made, DeviceEnv | HostEnv):
        return named(name, made) if name else made
    if not isinstance(made, Env):
        raise EnvUsageError(
            f"'{where}' returned {type(made).__name__}, not an environment",
            where="env",
            fix="return a gymnasium.Env, or an object with nbyt's DeviceEnv protocol",
        )
    return gymnasium_suite.from_factory(where, thing, made)


def _raised(where: str, error: BaseException) -> EnvUsageError:
    return EnvUsageError(f"'{where}' raised {described(error)}", where="env", fix="fix the factory")
