"""A site's folder brought up to date: nothing is touched without need, nothing old is left."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from measured_glossary.memo import Memo, digest
from measured_glossary.tree import Change, Leaves, standing
from measured_glossary.tree import publish as publish_as_found


def leaves(files: Mapping[str, bytes]) -> Leaves:
    """Give files by key."""
    return Leaves(keys={uri: digest(raw) for uri, raw in files.items()}, load=files.__getitem__)


def publish(site: Path, staged: Path, leaves: Leaves, memo: Memo) -> Change:
    """Look at a site's folder, then bring it up to date."""
    return publish_as_found(site, staged, leaves, memo, standing(site, memo))


@pytest.fixture
def memo() -> Memo:
    """A memo for one test."""
    return Memo()


@pytest.fixture
def staged(tmp_path: Path) -> Path:
    """A folder with what a generator wrote."""
    folder = tmp_path / "staged"
    (folder / "a").mkdir(parents=True)
    (folder / "a" / "theme.css").write_bytes(b"css")
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    """Give every file of a folder."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def test_all_of_it_and_nothing_else(tmp_path: Path, staged: Path, memo: Memo) -> None:
    """A new folder has what was staged and the leaves; a second time, without what is gone."""
    site = tmp_path / "site"
    publish(site, staged, leaves({"x/index.html": b"x", "y/z/index.html": b"z"}), memo)
    assert list(contents(site)) == ["a/theme.css", "x/index.html", "y/z/index.html"]
    change = publish(site, staged, leaves({"x/index.html": b"new"}), memo)
    assert contents(site) == {"a/theme.css": b"css", "x/index.html": b"new"}
    assert not (site / "y").exists()
    assert (change.written, change.deleted, change.untouched) == (1, 1, 1)


def test_many_files_are_written_by_several_processes(tmp_path: Path, staged: Path) -> None:
    """Each process reads for itself what is kept, and what it wrote is known the next time."""
    site, memo = tmp_path / "site", Memo(tmp_path, jobs=2)
    keys = {f"{number}/index.html": digest(number) for number in range(1000)}
    memo.store((key, uri) for uri, key in keys.items())

    def load(uri: str) -> bytes:
        return f"{memo.get(keys[uri])} {os.getpid()}".encode()

    files = Leaves(keys=keys, load=load)
    assert publish(site, staged, files, memo).written == 1001
    written = [(site / uri).read_text().split() for uri in keys]
    assert [uri for uri, _ in written] == list(keys)
    assert str(os.getpid()) not in {writer for _, writer in written}
    assert publish(site, staged, files, memo).untouched == 1001
    (site / "7/index.html").write_bytes(b"tampered")
    assert publish(site, staged, files, memo).written == 1
    memo.close()


def test_what_is_kept_in_memory_alone_is_written_here(tmp_path: Path, staged: Path) -> None:
    """Another process would find nothing in it."""
    memo, raw = Memo(jobs=2), b"x"
    memo.store([(b"key", raw)])
    keys = {f"{number}.txt": b"key" for number in range(1000)}
    files = Leaves(keys=keys, load=lambda uri: memo.get(keys[uri]))
    publish(tmp_path / "site", staged, files, memo)
    assert {path.read_bytes() for path in (tmp_path / "site").glob("*.txt")} == {raw}


def test_what_did_not_change_is_not_touched(tmp_path: Path, staged: Path, memo: Memo) -> None:
    """The same content is neither written nor, where the key is the same, asked for."""
    site, files = tmp_path / "site", {"x/index.html": b"x"}
    publish(site, staged, leaves(files), memo)
    before = {path: path.stat() for path in site.rglob("*")}

    def never(uri: str) -> bytes:
        raise AssertionError(f"{uri} was asked for")

    same = Leaves(keys=leaves(files).keys, load=never)
    assert publish(site, staged, same, memo).written == 0
    other_key = Leaves(keys={"x/index.html": b"other"}, load=files.__getitem__)
    assert publish(site, staged, other_key, memo).written == 0
    assert {path: path.stat() for path in site.rglob("*")} == before


def test_a_file_that_somebody_changed_is_put_right(
    tmp_path: Path, staged: Path, memo: Memo
) -> None:
    """What stands in the folder decides, and not what was once written there."""
    site, files = tmp_path / "site", {"x/index.html": b"x", "y.txt": b"y"}
    publish(site, staged, leaves(files), memo)
    (site / "x" / "index.html").write_bytes(b"tampered")
    (site / "y.txt").unlink()
    (site / "a" / "theme.css").write_bytes(b"other")
    (site / "stray.html").write_bytes(b"stray")
    publish(site, staged, leaves(files), memo)
    assert contents(site) == {"a/theme.css": b"css", "x/index.html": b"x", "y.txt": b"y"}


def test_a_file_may_become_a_folder_and_back(tmp_path: Path, staged: Path, memo: Memo) -> None:
    """What stands in the way is gone first."""
    site = tmp_path / "site"
    for files in ({"x": b"1"}, {"x/y/z": b"2"}, {"x": b"3"}):
        publish(site, staged, leaves(files), memo)
        assert contents(site) == {"a/theme.css": b"css", **files}


def test_a_link_is_replaced_and_not_followed(tmp_path: Path, staged: Path, memo: Memo) -> None:
    """A symbolic link in the folder leads no write to another place."""
    site, elsewhere = tmp_path / "site", tmp_path / "elsewhere"
    site.mkdir()
    elsewhere.write_bytes(b"mine")
    (site / "x").symlink_to(elsewhere)
    publish(site, staged, leaves({"x": b"mine"}), memo)
    assert not (site / "x").is_symlink()
    publish(site, staged, leaves({"x": b"1"}), memo)
    assert elsewhere.read_bytes() == b"mine"


def test_hidden_files_at_the_top_stay(tmp_path: Path, staged: Path, memo: Memo) -> None:
    """As MkDocs does: a folder that is also a git work tree keeps its .git."""
    site = tmp_path / "site"
    (site / ".git").mkdir(parents=True)
    (site / ".git" / "HEAD").write_bytes(b"ref")
    publish(site, staged, leaves({"x": b"1"}), memo)
    assert (site / ".git" / "HEAD").read_bytes() == b"ref"
