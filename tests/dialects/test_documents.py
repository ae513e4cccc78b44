"""Documents are parsed by their suffix, and nothing in them is executed."""

import pytest

from nbyt.dialects.documents import parsed


def test_sections_of_an_ini_file() -> None:
    text = "[train]\nbatch_size = auto\ngamma = 0.9\n[vec]\nnum_envs = 2\n"
    assert parsed(text, ".ini") == {
        "train": {"batch_size": "auto", "gamma": "0.9"},
        "vec": {"num_envs": "2"},
    }


def test_an_ini_file_interpolates_nothing() -> None:
    assert parsed("[a]\nx = %(y)s\n", ".ini") == {"a": {"x": "%(y)s"}}


def test_bindings_of_a_gin_file() -> None:
    text = "import x\nA.size = 64  # each\nA.name = 'b'\nA.net = @networks.C\n"
    assert parsed(text, ".gin") == {"A.size": "64", "A.name": "b", "A.net": "@networks.C"}


@pytest.mark.parametrize(
    ("text", "suffix"),
    [
        ("x = 1\n", ".ini"),
        ("[a]\nx=1\n[a]\n", ".ini"),
        ("A.b = 1\nA.b = 2\n", ".gin"),
        ("{", ".json"),
    ],
    ids=["no section", "section twice", "binding twice", "unclosed"],
)
def test_a_broken_document_is_a_value_error(text: str, suffix: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parsed(text, suffix)
