"""The rules in the browser and the rules in Python say the same, letter by letter."""

import json
from random import Random
from typing import Any

from benchmarks.soak.settings_values import given
from tests.calculator.conftest import Opened

from nbyt.dialects.comparing import compared
from nbyt.dialects.dialect import load, names
from nbyt.dialects.explaining import explained
from nbyt.dialects.missing import Given, MissingSettingsError
from nbyt.dialects.translating import translated
from nbyt.errors import NbytError

Pairs = list[list[str]]
Question = list[Any]

EXPLAINED, OTHERS, CHUNK = 1_000, 150, 50
_SIZES = [1, 2, 3, 4, 5, 7, 8, 32, 64, 96, 100, 128, 1000, 2048, 4096]


def in_python(question: Question) -> Any:
    """What Python answers, as JSON has it."""
    kind, name, pairs, *more = question
    try:
        if kind == "explain":
            return explained(load(name), pairs).as_dict()
        if kind == "translate":
            return translated(explained(load(name), pairs), load(more[0])).as_dict()
        one, other = (explained(load(library), own) for library, own in (name, pairs))
        return compared(one, other).as_dict()
    except NbytError as error:
        partial = error.partial() if isinstance(error, MissingSettingsError) else None
        return {"error": {"message": error.message, "fix": error.fix}, "partial": partial}


def settings(random: Random, name: str) -> Pairs:
    """Settings of a library: most are sizes that leave a rest, some are wrong or missing."""
    dialect = load(name)
    if random.random() < 0.1:
        return [list(pair) for pair in given(random, dialect, 0.1) if len(pair[1]) < 30]
    needed = Given(dialect, dialect.rules, dialect.defaults).absent()
    pairs = {key: str(random.choice(_SIZES)) for key in needed if random.random() < 0.98}
    for key in random.sample(list(dialect.keys), min(4, len(dialect.keys))):
        role = dialect.role(key)
        if isinstance(dialect.defaults.get(key), bool):
            pairs[key] = random.choice(["true", "false"])
        elif role in ("gamma", "lam", "learning_rate"):
            pairs[key] = random.choice(["0.9", "0.99", "1", "3e-4"])
        elif key not in dialect.derived:
            pairs[key] = str(random.choice([*_SIZES, random.randint(1, 5000), "1e5"]))
    for key in random.sample(list(dialect.other), min(1, len(dialect.other))):
        pairs[key] = random.choice(["0.1", "0.02", "true", "linear", "none"])
    return [list(pair) for pair in pairs.items()]


def questions(seed: int, explains: int, others: int) -> list[Question]:
    """Questions about every library in turn."""
    random, every = Random(seed), names()
    asked: list[Question] = []
    for count in range(explains):
        name = every[count % len(every)]
        asked.append(["explain", name, settings(random, name)])
    for count in range(others):
        one, other = every[count % len(every)], random.choice(every)
        if count % 2:
            asked.append(["translate", one, settings(random, one), other])
        else:
            sides = [[name, settings(random, name)] for name in (one, other)]
            asked.append(["compare", *sides])
    return asked


def in_browser(calculator: Opened, asked: list[Question]) -> list[Any]:
    """What the page answers, as JSON."""
    code = "asked => asked.map(one => answers.text(...one))"
    parts = [asked[at : at + CHUNK] for at in range(0, len(asked), CHUNK)]
    texts = [text for part in parts for text in calculator.page.evaluate(code, part)]
    return [json.loads(text) for text in texts]


def test_the_browser_says_what_python_says(calculator: Opened) -> None:
    asked = questions(2026, EXPLAINED, OTHERS)
    assert {one[1] for one in asked if one[0] == "explain"} == set(names())
    expected = [json.loads(json.dumps(in_python(one))) for one in asked]
    found = in_browser(calculator, asked)
    wrong = [(one, e, f) for one, e, f in zip(asked, expected, found, strict=True) if e != f]
    assert not wrong, f"{len(wrong)} of {len(asked)}, such as {wrong[0]}"
    # The test would be empty if most settings were refused, or none.
    refused = sum("error" in one for one in expected)
    assert len(asked) / 100 < refused < len(asked) / 3
    assert sum(bool(one.get("traps")) for one in expected) > EXPLAINED / 4


def test_a_rule_that_differs_would_be_seen(calculator: Opened) -> None:
    """Change one rule in the page: the comparison has to fail."""
    asked = ["explain", "sb3", [["n_envs", "8"], ["n_steps", "125"], ["batch_size", "64"]]]
    twist = (
        "asked => { const rules = py.modules['nbyt.dialects.sizes'].RAGGED;"
        "const kept = rules.at('keep_short'); rules.set('keep_short', rules.at('drop'));"
        "const text = answers.text(...asked); rules.set('keep_short', kept); return text; }"
    )
    assert json.loads(calculator.page.evaluate(twist, asked)) != in_python(asked)
    assert in_browser(calculator, [asked]) == [in_python(asked)]
