"""Names and values of settings: most as a user gives them, some that no user would."""

from random import Random

from nbyt.dialects.dialect import Dialect, every

Given = list[tuple[str, str]]

_SIZES = [1, 2, 3, 4, 5, 7, 8, 32, 64, 96, 128, 1000, 2048, 4096, 65536]
_LARGE = [10**6, 10**9, 2**31, 10**15 - 1, 10**15, 10**15 + 1, 2**53, 10**18, 10**30]
_FLOATS = ["0.5", "1.5", "0.99", "3e-4", "1e6", "1e15", "1e-300", "1e300", "1e400", "-0.0", "-2.5"]
_WORDS = ["", "nan", "inf", "-inf", "none", "None", "null", "true", "False", "yes", "auto", "word"]
_ODD = ["1_000", " 8", "0x10", "\u0663", "½", "九", "lin_3e-4", "8,8", "[8]", "{}", "8=8", "--"]
_HOSTILE = ["9" * 5000, "-" + "9" * 5000, "x" * 10_000, "\x1b]0;title\x07", "\udcff", "\u202e8"]
_NAMES = ["", "a.b.c", "n__envs", "ключ", "x" * 5000, "\x1b[31m", "\udcff", "-", "__class__"]


def given(random: Random, dialect: Dialect, wild: float) -> Given:
    """Return settings of a library: what it has no default for, and a few more.

    wild: the share of names and values that nobody would give on purpose.
    """
    words = [word for word in dialect.words if not word.endswith("_or")]
    needed = [key for word in words for key in dialect.words[word] if key not in dialect.defaults]
    kept = [key for key in dict.fromkeys(needed) if random.random() > wild / 2]
    more = [_name(random, dialect, wild) for _ in range(random.randint(0, 4))]
    return [(name, _value(random, dialect, name, wild)) for name in dict.fromkeys([*kept, *more])]


def _name(random: Random, dialect: Dialect, wild: float) -> str:
    if random.random() < wild:
        other = random.choice(every())
        aside = [*dialect.derived, *other.keys, *other.aliases, *other.presets]
        return random.choice([*aside, *_NAMES, *(["preset"] * 5)])
    return random.choice([*dialect.keys[: len(dialect.words)], *dialect.other, *dialect.aliases])


def _value(random: Random, dialect: Dialect, name: str, wild: float) -> str:
    if random.random() < wild:
        presets = list(dialect.presets) or [""]
        pool = random.choice([_LARGE, _LARGE, _FLOATS, _FLOATS, _WORDS, _ODD, _HOSTILE, presets])
        return str(random.choice([*pool, -random.randint(1, 99)]))
    key = dialect.aliases.get(name, name)
    role = dialect.role(key)
    if isinstance(dialect.defaults.get(key), bool):
        return random.choice(["true", "false"])
    if role in ("gamma", "lam", "learning_rate"):
        return random.choice(["0.9", "0.99", "1", "3e-4"])
    drawn = [random.randint(1, 5000), 2 ** random.randint(0, 16)]
    return str(random.choice([*_SIZES, *drawn, *_LARGE[:5]]))
