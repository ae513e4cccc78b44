"""An error says what, where and what to do, and survives the way to another process."""

import pytest

from nbyt import errors
from nbyt.errors import MissingExtraError, NbytError, StoreError, described, error_from, own_lines

KINDS = [
    kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, NbytError)
]


def test_the_three_parts_are_shown_and_missing_ones_leave_no_trace() -> None:
    error = StoreError("it is damaged", where="a.json", fix="remove it")
    assert str(error) == "it is damaged (a.json)\n  fix: remove it"
    assert str(StoreError("it is damaged")) == "it is damaged"
    assert error.as_dict() == {
        "code": "store",
        "message": "it is damaged",
        "where": "a.json",
        "fix": "remove it",
    }


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_comes_back_from_its_facts(kind: type[NbytError]) -> None:
    error = errors.remade(kind, "words", where="here", fix="do this")
    again = error_from(error.as_facts())
    assert type(again) is kind and again.as_facts() == error.as_facts()
    assert again.exit_code in (1, 2, 130)


def test_a_missing_extra_is_named_as_pip_wants_it() -> None:
    assert MissingExtraError("ray", "ray").fix == "pip install 'nbyt[ray]'"


def test_foreign_words_are_cut_and_foreign_faults_in_them_are_survived() -> None:
    class MuteError(Exception):
        def __str__(self) -> str:
            raise ValueError

        __repr__ = __str__

    assert described(MuteError()) == "MuteError: (no words: its __str__ raised ValueError)"
    assert errors.shown(MuteError()) == "a MuteError that cannot be shown"
    assert described(KeyError()) == "KeyError"
    long = described(ValueError("x" * 10_000))
    assert len(long) < 2_100 and long.endswith("[cut: 10,000 characters]")


def test_of_a_traceback_only_the_users_lines_are_listed() -> None:
    with pytest.raises(ValueError, match="invalid") as caught:
        _ = int("x")
    first, place = own_lines(caught.value)
    assert first == "in your code:" and __file__ in place and 'int("x")' in place
    assert own_lines(None) == own_lines(ValueError()) == []
