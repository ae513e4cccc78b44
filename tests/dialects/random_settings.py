"""Random settings of any library, as a user might give them: some named, the rest its defaults."""

import re
from typing import Any

from hypothesis import strategies as st

from nbyt.dialects import explain, names
from nbyt.dialects.dialect import Dialect, load
from nbyt.dialects.explaining import Explanation
from nbyt.errors import DialectError

_SIZES = st.one_of(
    st.integers(1, 12), st.integers(0, 12).map(lambda power: 2**power), st.integers(1, 5000)
)
_NAMED = re.compile(r"([A-Za-z_][\w.]*)=([\w.+-]+)")


def _value(dialect: Dialect, key: str) -> st.SearchStrategy[Any]:
    role = dialect.role(key)
    if isinstance(dialect.defaults.get(key), bool):
        return st.booleans()
    if role in ("gamma", "lam"):
        return st.sampled_from([0.9, 0.95, 0.99, 1.0])
    if role == "learning_rate":
        return st.sampled_from([1e-4, 3e-4, 1e-3])
    if role == "total":
        return st.one_of(_SIZES, st.integers(10**4, 10**6))
    return _SIZES


@st.composite
def explanations(draw: st.DrawFn) -> Explanation:
    """What a library does with random settings that it can read."""
    dialect = load(draw(st.sampled_from(names())))
    sizes = [
        key
        for word in ("envs", "steps", "fragment", "batch", "minibatch", "minibatches", "epochs")
        for key in dialect.words.get(word, ())
    ]
    needed = [key for key in dict.fromkeys(sizes) if key not in dialect.defaults]
    free = [key for key in dialect.keys if key not in needed and key not in dialect.derived]
    chosen = [*needed, *draw(st.lists(st.sampled_from(free), unique=True, max_size=6))]
    given = {key: draw(_value(dialect, key)) for key in chosen}
    try:
        return explain(dialect.id, **given)
    except DialectError:  # two names of one size that disagree, or too few steps for the envs
        return explain(dialect.id, **dict.fromkeys(needed, 4))


def applied(explanation: Explanation, change: dict[str, Any]) -> Explanation:
    """The same settings after a user has followed some advice."""
    settings = explanation.reading.settings
    preset = {"preset": settings.preset} if settings.preset else {}
    return explain(explanation.dialect.id, **{**preset, **settings.given, **change})


def settings_named(dialect: Dialect, text: str) -> dict[str, str]:
    """The settings of a library that a sentence names with a value."""
    return {key: value.rstrip(".") for key, value in _NAMED.findall(text) if key in dialect.keys}
