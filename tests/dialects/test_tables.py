"""Tables of the libraries: one of each file, on top of the one it is like."""

from nbyt.dialects.tables import ids, table


def test_a_table_takes_over_what_it_does_not_say() -> None:
    base, other = table("cleanrl"), table("cleanrl_atari")
    assert other["words"] == base["words"] and other["defaults"]["num_envs"] == 8
    assert other["defaults"]["num_steps"] == base["defaults"]["num_steps"]
    assert other["learning_defaults"] == {**base["learning_defaults"], "clip": 0.1}


def test_names_and_counts_are_a_librarys_own() -> None:
    assert table("cleanrl")["live"] == "counted" != table("cleanrl_atari")["live"]
    assert "called" not in table("cleanrl_atari") or table("cleanrl_atari")["called"]


def test_every_id_has_a_table() -> None:
    assert list(ids()) == sorted(ids()) and all(table(one)["library"] for one in ids())
