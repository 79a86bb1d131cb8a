"""A site's folder brought up to date: nothing is touched without need, nothing old is left."""

from __future__ import annotations

import errno
import os
import resource
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from measured_glossary.memo import Memo, digest
from measured_glossary.tree import Change, Leaves, NotWritten, standing
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


def test_a_page_that_was_edited_within_its_size_and_times_is_put_right(
    tmp_path: Path, staged: Path, memo: Memo
) -> None:
    """The system keeps one time that nobody sets."""
    page, files = tmp_path / "site" / "index.html", {"index.html": b"right"}
    publish(tmp_path / "site", staged, leaves(files), memo)
    before = page.stat()
    while page.stat().st_ctime_ns == before.st_ctime_ns:
        with page.open("r+b") as opened:
            opened.write(b"wrong")
        os.utime(page, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert page.stat().st_ino == before.st_ino
    assert publish(tmp_path / "site", staged, leaves(files), memo).written == 1
    assert page.read_bytes() == b"right"


def test_a_page_whose_links_changed_is_compared_once(
    tmp_path: Path, staged: Path, memo: Memo
) -> None:
    """A copy of the folder by hard links changes its files' times and not what they hold."""
    page, files = tmp_path / "site" / "index.html", {"index.html": b"x"}
    publish(tmp_path / "site", staged, leaves(files), memo)
    before = page.stat()
    while page.stat().st_ctime_ns == before.st_ctime_ns:
        (tmp_path / "copy").hardlink_to(page)
        (tmp_path / "copy").unlink()
    assert publish(tmp_path / "site", staged, leaves(files), memo).written == 0

    def never(uri: str) -> bytes:
        raise AssertionError(f"{uri} was asked for")

    publish(tmp_path / "site", staged, Leaves(keys=leaves(files).keys, load=never), memo)


# ── a folder in an odd state ─────────────────────────────────────────────────────────────────

FILES = {"x.txt": b"x", "a/b/index.html": b"b", "a/index.html": b"a"}
ALL = {"a/theme.css": b"css", **FILES}


def _empty_folder(page: Path) -> None:
    page.mkdir()


def _folders(page: Path) -> None:
    (page / "empty").mkdir(parents=True)
    (page / "full").mkdir()
    (page / "full" / "file").write_bytes(b"x")


def _file_for_its_folder(page: Path) -> None:
    page.parent.rmdir()
    page.parent.write_bytes(b"x")


def _link_for_its_folder(page: Path) -> None:
    page.parent.rmdir()
    (above,) = (each.parent for each in page.parents if each.name == "site")
    page.parent.symlink_to(above / "elsewhere")


def _link_to_nothing(page: Path) -> None:
    page.symlink_to(page.parent / "nowhere")


def _link_to_nothing_for_its_folder(page: Path) -> None:
    page.parent.rmdir()
    page.parent.symlink_to(page.parent / "nowhere")


def _pipe(page: Path) -> None:
    os.mkfifo(page)


def _read_only(page: Path) -> None:
    page.write_bytes(b"old")
    page.chmod(0o444)


def _name_of_any_bytes(page: Path) -> None:
    Path(os.fsdecode(bytes(page.parent) + b"/\xff.txt")).write_bytes(b"x")
    Path(os.fsdecode(bytes(page.parent) + b"/\xfe")).mkdir()
    Path(os.fsdecode(bytes(page.parent) + b"/\xfe/\xfd")).write_bytes(b"x")


REPAIRED = (
    _empty_folder, _folders, _file_for_its_folder, _link_for_its_folder, _link_to_nothing,
    _link_to_nothing_for_its_folder, _pipe, _read_only, _name_of_any_bytes,
)  # fmt: skip


@pytest.mark.parametrize("uri", ["a/b/index.html", "a/theme.css"])
@pytest.mark.parametrize("spoil", REPAIRED, ids=lambda spoil: spoil.__name__.strip("_"))
def test_what_stands_in_place_of_a_page_is_put_right(
    tmp_path: Path, staged: Path, memo: Memo, spoil: Callable[[Path], None], uri: str
) -> None:
    """The site has nothing of it: as any file that is not the site's, it is deleted."""
    outside = tmp_path / "elsewhere" / "index.html"
    for path in (outside, tmp_path / "site" / uri):
        path.parent.mkdir(parents=True)
    outside.write_bytes(b"outside")
    spoil(tmp_path / "site" / uri)
    publish(tmp_path / "site", staged, leaves(FILES), memo)
    assert contents(tmp_path / "site") == dict(sorted(ALL.items()))
    assert contents(tmp_path / "elsewhere") == {"index.html": b"outside"}
    found = standing(tmp_path / "site", memo)
    assert found.files == set(ALL)
    assert set(found.as_written) == set(FILES)


def _file(site: Path) -> Path:
    site.write_bytes(b"mine")
    return site


def _file_above(site: Path) -> Path:
    site.parent.rmdir()
    site.parent.write_bytes(b"mine")
    return site.parent


def _link(site: Path) -> Path:
    site.symlink_to(site.parent / "nowhere")
    return site


def _link_above(site: Path) -> Path:
    site.parent.rmdir()
    site.parent.symlink_to(site.parent.parent / "nowhere")
    return site.parent


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (_file, errno.ENOTDIR),
        (_file_above, errno.ENOTDIR),
        (_link, errno.ENOENT),
        (_link_above, errno.ENOENT),
    ],
)
def test_what_stands_in_place_of_the_folder_stays(
    tmp_path: Path, staged: Path, memo: Memo, spoil: Callable[[Path], Path], why: int
) -> None:
    """It may be somebody's own; what has to be moved away is named."""
    site = tmp_path / "above" / "site"
    site.parent.mkdir()
    taken = spoil(site)
    with pytest.raises(NotWritten) as refused:
        publish(site, staged, leaves(FILES), memo)
    assert (refused.value.errno, refused.value.filename) == (why, str(taken))
    assert taken.is_symlink() or taken.read_bytes() == b"mine"
    assert not (tmp_path / "nowhere").exists()


# ── a system that refuses ────────────────────────────────────────────────────────────────────


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """Let the system refuse to write larger files, as a full disk would."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_cannot_be_written_is_named_and_the_rest_stays(
    tmp_path: Path, staged: Path, jobs: int
) -> None:
    """Each file is as it was or as it is to be, none is half, and none is missing."""
    site, memo = tmp_path / "site", Memo(tmp_path, jobs=jobs)
    names = [f"{number}/index.html" for number in range(600)]
    old = {**dict.fromkeys(names, b"old"), "gone.html": b"gone"}
    new = {**dict.fromkeys(names, b"new"), names[300]: b"x" * 5000}
    publish(site, staged, leaves(old), memo)
    found = standing(site, memo)
    with files_of_at_most(1000), pytest.raises(NotWritten) as refused:
        publish_as_found(site, staged, leaves(new), memo, found)
    assert refused.value.errno == errno.EFBIG
    assert refused.value.filename == str(site / names[300])
    there = contents(site)
    assert there.keys() == {"a/theme.css", *old}
    assert all(there[name] in (b"old", b"new") for name in names)
    assert (there[names[300]], there["gone.html"]) == (b"old", b"gone")
    publish(site, staged, leaves(new), memo)
    assert contents(site) == dict(sorted({"a/theme.css": b"css", **new}.items()))
    memo.close()


def test_what_cannot_be_staged_is_named_too(tmp_path: Path, staged: Path, memo: Memo) -> None:
    """A file that another wrote is brought over in the same way."""
    site = tmp_path / "site"
    (staged / "a" / "theme.css").write_bytes(b"x" * 5000)
    with files_of_at_most(1000), pytest.raises(NotWritten, match=r"theme\.css"):
        publish(site, staged, leaves(FILES), memo)
    assert contents(site) == {}


def test_a_folder_that_cannot_be_read_is_named(
    tmp_path: Path, staged: Path, memo: Memo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No system refuses this to whoever runs it as its administrator: so it is made up."""
    scandir, site = os.scandir, tmp_path / "site"
    publish(site, staged, leaves(FILES), memo)

    def refusing(folder: Path) -> object:
        if folder == site / "a/b":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))
        return scandir(folder)

    monkeypatch.setattr("os.scandir", refusing)
    with pytest.raises(NotWritten) as refused:
        standing(site, memo)
    assert refused.value.filename == str(site / "a/b")


def test_a_file_that_cannot_be_deleted_is_named(
    tmp_path: Path, staged: Path, memo: Memo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As above; what was to be written is there."""
    site = tmp_path / "site"
    publish(site, staged, leaves({**FILES, "gone.html": b""}), memo)

    def refusing(path: Path) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    monkeypatch.setattr("pathlib.Path.unlink", refusing)
    with pytest.raises(NotWritten) as refused:
        publish(site, staged, leaves({**FILES, "x.txt": b"new"}), memo)
    assert refused.value.filename == str(site / "gone.html")
    assert (site / "x.txt").read_bytes() == b"new"


def test_a_page_that_is_now_written_otherwise_is_there_once(
    tmp_path: Path, staged: Path, memo: Memo
) -> None:
    """A disk that takes `Warp` for `warp` has one file for both: the old one goes first."""
    site, found = tmp_path / "site", list[str]()
    publish(site, staged, leaves({"Warp/index.html": b"x", "old.html": b"x"}), memo)

    def load(uri: str) -> bytes:
        found.extend(contents(site))
        return b"x"

    publish(site, staged, Leaves(keys={"warp/index.html": b"key"}, load=load), memo)
    assert found == ["a/theme.css", "old.html"]
    assert list(contents(site)) == ["a/theme.css", "warp/index.html"]
