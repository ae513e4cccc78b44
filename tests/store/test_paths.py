"""Laws of the door for writes: no link is followed, where folders can be opened and where not."""

import os
from pathlib import Path

import pytest
from tests.faults.links import require_links, seen

from nbyt.errors import StoreError
from nbyt.store import paths
from nbyt.store.atomic import write_bytes
from nbyt.store.paths import locked


@pytest.fixture(autouse=True, params=["posix", "windows"])
def system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows opens no folders and has no O_NOFOLLOW."""
    require_links()
    if request.param == "windows":
        monkeypatch.setattr(paths, "_CAN_OPEN_FOLDERS", False)
        for flags in ("_CREATE", "_LOCK"):
            monkeypatch.setattr(paths, flags, getattr(paths, flags) & ~paths.NOFOLLOW)
        monkeypatch.setattr(paths, "NOFOLLOW", 0)


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """Somebody else's folder, with a file in it."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "file").write_bytes(b"theirs")
    return folder


def test_no_change_goes_through_a_link(tmp_path: Path, outside: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "part").symlink_to(outside)
    (out / "file").symlink_to(outside / "file")
    before = seen(outside)
    for change in (
        lambda: write_bytes(out / "part" / "file", b"ours"),
        lambda: write_bytes(out / "part" / "new", b"ours"),
        lambda: paths.make_folder(out / "part"),
        lambda: paths.make_folder(out / "part" / "a" / "b"),
        lambda: paths.remove_file(out / "part" / "file"),
        lambda: paths.remove_leftovers(out / "part"),
        lambda: locked(out / "part" / "lock").__enter__(),
        lambda: locked(out / "file").__enter__(),
    ):
        with pytest.raises(StoreError, match=r"out/(part|file) is a symlink") as caught:
            change()
        assert caught.value.fix
    assert seen(outside) == before
    write_bytes(out / "file", b"ours")
    paths.remove_file(out / "part")
    paths.remove_file(out / "part")
    assert seen(outside) == before
    assert sorted(os.listdir(out)) == ["file"] and not (out / "file").is_symlink()


def test_links_that_lead_nowhere_or_to_themselves_are_refused(tmp_path: Path) -> None:
    (tmp_path / "nowhere").symlink_to(tmp_path / "none" / "such")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    before = seen(tmp_path)
    for name in ("nowhere", "loop"):
        for change in (
            lambda path: write_bytes(path / "file", b"ours"),
            lambda path: paths.make_folder(path),
            lambda path: paths.make_folder(path / "more"),
        ):
            with pytest.raises(StoreError):
                change(tmp_path / name)
    assert seen(tmp_path) == before


def test_what_the_user_names_is_resolved_and_an_entry_in_it_is_not(
    tmp_path: Path, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = tmp_path / "real" / "runs"
    real.mkdir(parents=True)
    (tmp_path / "runs").symlink_to(real)
    (real / "page").symlink_to(outside / "file")
    assert paths.resolved(tmp_path / "runs") == real
    assert paths.resolved(tmp_path / "runs" / "new") == real / "new"
    assert paths.resolved_entry(tmp_path / "runs" / "page") == real / "page"
    # As the system has it: the folder above is that of what the link leads to.
    assert paths.resolved_entry(tmp_path / "runs" / ".." / "page") == tmp_path / "real" / "page"
    assert paths.resolved_entry(tmp_path / "runs" / "..") == tmp_path / "real"
    monkeypatch.chdir(real)
    assert paths.resolved_entry(Path()) == real
    assert paths.resolved_entry(Path("page")) == real / "page"
    for bad in ("nul\0", "nul\0/x"):
        with pytest.raises(StoreError, match="cannot be a folder"):
            paths.resolved_entry(tmp_path / bad / "x")


def test_a_folder_that_becomes_a_link_while_it_is_open_is_still_the_folder(
    tmp_path: Path, outside: Path
) -> None:
    if not paths._CAN_OPEN_FOLDERS:
        pytest.skip("there it is looked at before, which is weaker")
    out = tmp_path / "out"
    out.mkdir()
    before = seen(outside)
    with paths.opened(out) as folder:
        out.rename(tmp_path / "moved")
        out.symlink_to(outside)
        folder.create("new").close()
        folder.move("new", "file")
        folder.make("part")
        folder.remove_all("part")
    assert seen(outside) == before and os.listdir(tmp_path / "moved") == ["file"]


def test_our_leftovers_are_removed_and_nothing_else(tmp_path: Path) -> None:
    keep = ["a.tmp", ".a.tmp", ".a.0123.tmp", "a.0123456789abcdef.tmp", ".x.0123456789abcdeg.tmp"]
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("x")
    folder = tmp_path / "folder"
    folder.mkdir()
    for name in keep:
        (folder / name).write_text("x")
    (folder / ".a.json.0123456789abcdef.tmp").write_text("x")
    (folder / ".stage-1.0123456789abcdef.tmp").mkdir()
    (folder / ".stage-1.0123456789abcdef.tmp" / "stage.json").write_text("x")
    (folder / ".stage-1.0123456789abcdef.tmp" / "link").symlink_to(outside)
    (folder / ".l.0123456789abcdef.tmp").symlink_to(outside)
    assert paths.remove_leftovers(folder) == 3
    assert sorted(os.listdir(folder)) == sorted(keep)
    assert (outside / "precious").exists()
