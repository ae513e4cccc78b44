"""Settings to paste: all of them are written, and no others."""

import re

import pytest

from nbyt.dialects.dialect import Dialect, every, names
from nbyt.dialects.pasting import pasted, pasted_change

each = pytest.mark.parametrize("dialect", every(), ids=names())


@each
def test_a_paste_names_settings_that_exist_and_writes_all_of_them(dialect: Dialect) -> None:
    named = set(re.findall(r"\{([A-Za-z_.]+)\}", dialect.paste.text))
    groups = {"arguments", "flags", "lines", "overrides", "script"}
    assert named - groups <= {*dialect.keys, *dialect.learning.values()}
    values = {key: 7 for keys in dialect.words.values() for key in keys}
    values |= dict.fromkeys(dialect.learning.values(), 7)
    text = pasted(dialect, values)
    assert not re.findall(r"\{[A-Za-z_.]+\}", text)
    alone = {key: 1000 + place for place, key in enumerate(values)}
    assert all(str(value) in pasted(dialect, alone) for value in alone.values()), dialect.id


@each
def test_what_changes_is_written_alone_and_all_of_it(dialect: Dialect) -> None:
    values = {key: 1000 + n for n, key in enumerate(dialect.keys) if dialect.role(key) != "total"}
    changed = {key: value for key, value in values.items() if key in [*_sizes(dialect)][:2]}
    text = pasted_change(dialect, changed)
    assert all(str(value) in text for value in changed.values()), text
    assert not re.findall(r"\{[A-Za-z_.]+\}", text)
    assert not [value for value in re.findall(r"\d{4}", text) if int(value) not in changed.values()]
    assert pasted_change(dialect, {}) == ""


def _sizes(dialect: Dialect) -> list[str]:
    return [key for word in ("envs", "steps", "batch", "fragment") if (key := dialect.key(word))]
