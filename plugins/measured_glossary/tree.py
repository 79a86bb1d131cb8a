"""A site's folder brought up to date: what did not change is not touched, what is gone is deleted.

Comes in: the folder, what a generator wrote elsewhere, and files by key. Goes out: the folder as it
should be. Must not know what a file holds, nor where it was made.

A file is compared with what was written there last: the same key, and on the disk the same size,
times and number. Else its bytes decide. Each is written under another name first, and what is gone
is deleted last: where the system refuses something, the rest of the folder can be read on.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from measured_glossary.memo import Memo, side_by_side

AT_ONCE = 10  # files that a process writes before it is given others


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaves:
    """Files of the site: the key of what each holds, by where it stands, and what gives that."""

    keys: Mapping[str, bytes]
    load: Callable[[str], bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A site's folder as it was found: its files, and the keys of those that are as written."""

    files: Set[str]
    as_written: Mapping[str, bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What became of a site's folder: how many files were written, deleted, left as they were."""

    written: int
    deleted: int
    untouched: int


class NotWritten(OSError):  # noqa: N818 - the outcome's own name
    """The system refused something in a site's folder: `filename` says where, `strerror` why."""


def standing(site: Path, memo: Memo) -> Standing:
    """Look at a site's folder: of what a build wrote there, what is still as it was written."""
    with _refusals():
        there = dict(_walk(site))
    written = memo.written(_text(str(site))).items()
    kept = {uri: key for uri, (key, state) in written if there.get(uri) == state}
    return Standing(files=set(there), as_written=kept)


def publish(site: Path, staged: Path, leaves: Leaves, memo: Memo, found: Standing) -> Change:
    """Bring `site` up to date: what stands in `staged`, and the leaves; nothing else."""
    _make(site)
    others = [uri for uri, _ in _walk(staged)]
    kept = found.as_written.get
    changed = [uri for uri, key in leaves.keys.items() if kept(uri) != key]
    gone = found.files - leaves.keys.keys() - set(others)
    in_the_way = _in_the_way(gone, (*others, *changed)) if gone else set()
    _delete(site, in_the_way)
    news = [uri for uri in others if update(site / uri, (staged / uri).read_bytes())]
    states = _put(site, changed, leaves, found, memo)
    _delete(site, gone - in_the_way)
    fresh = {
        uri: (leaves.keys[uri], state) for uri, (_, state) in zip(changed, states, strict=True)
    }
    memo.remember(_text(str(site)), map(_text, gone), fresh)
    count = len(news) + sum(is_new for is_new, _ in states)
    wanted = len(others) + len(leaves.keys)
    return Change(written=count, deleted=len(gone), untouched=wanted - count)


def _put(
    site: Path, uris: Sequence[str], leaves: Leaves, found: Standing, memo: Memo
) -> list[tuple[bool, str]]:
    """Write leaves where they stand; of each, say whether it was another, and its state then.

    What a memo has in memory alone, no other process can read.
    """

    def put(first: int) -> list[tuple[bool, str]]:
        part = uris[first : first + AT_ONCE]
        return [_put_one(site / uri, leaves.load(uri), uri in found.files) for uri in part]

    parts = range(0, len(uris), AT_ONCE)
    jobs = memo.jobs if memo.file else 1
    return [each for part in side_by_side(put, parts, jobs) for each in part]


def _put_one(path: Path, content: bytes, is_there: bool) -> tuple[bool, str]:
    is_new = not is_there or not _holds(path, content)
    if is_new:
        _write(path, content)
    return is_new, _state(path.stat())


def _make(site: Path) -> None:
    """Make a site's folder; what stands in its place may be somebody's own, and stays."""
    with _refusals():
        try:
            site.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            taken = next(each for each in (site, *site.parents) if os.path.lexists(each))
            why = errno.ENOTDIR if taken.exists() else errno.ENOENT  # a link that leads nowhere
            raise OSError(why, os.strerror(why), str(taken)) from None


def _in_the_way(gone: Iterable[str], wanted: Iterable[str]) -> set[str]:
    """Give what is to be deleted before anything is written.

    It stands where a file or folder will, or does so on a disk that does not tell capitals apart.
    """
    places = {_folded(place) for uri in wanted for place in (uri, *_parents(uri))}
    return {uri for uri in gone if _folded(uri) in places}


def _folded(uri: str) -> str:
    return unicodedata.normalize("NFC", uri).casefold()


def _text(name: str) -> str:
    """Give a name as a memo can keep it: a file system takes any bytes for one."""
    return name.encode("utf-8", "backslashreplace").decode("utf-8")


def _walk(folder: Path) -> Iterator[tuple[str, str]]:
    """Give every file below a folder with its state; hidden ones at the top are not the site's."""
    stack = [""]
    while stack:
        inside = stack.pop()
        with suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder / inside) as found:
            for entry in found:
                uri = f"{inside}{entry.name}"
                if not inside and entry.name.startswith("."):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    stack.append(f"{uri}/")
                else:
                    yield uri, _state(entry.stat(follow_symlinks=False))


def _state(status: os.stat_result) -> str:
    return f"{status.st_size} {status.st_mtime_ns} {status.st_ctime_ns} {status.st_ino}"


def _delete(site: Path, gone: Iterable[str]) -> None:
    """Delete files, and folders in which none is left."""
    for uri in gone:
        with _refusals(site / uri), suppress(FileNotFoundError, NotADirectoryError):
            (site / uri).unlink()
    for folder in sorted({parent for uri in gone for parent in _parents(uri)}, reverse=True):
        with suppress(OSError):  # another file is in it
            (site / folder).rmdir()


def _parents(uri: str) -> Iterator[str]:
    parts = uri.split("/")[:-1]
    return ("/".join(parts[: depth + 1]) for depth in range(len(parts)))


def update(path: Path, content: bytes) -> bool:
    """Write a file if it has another content; say whether it was written."""
    is_new = not _holds(path, content)
    if is_new:
        _write(path, content)
    return is_new


def _holds(path: Path, content: bytes) -> bool:
    with suppress(OSError):
        found = path.lstat()
        is_alike = stat.S_ISREG(found.st_mode) and found.st_size == len(content)
        return is_alike and path.read_bytes() == content
    return False


def _write(path: Path, content: bytes) -> None:
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    with _refusals(path):
        try:
            _write_new(part, content)
            _move(part, path)
        except OSError:
            with suppress(OSError):
                part.unlink()
            raise


def _write_new(part: Path, content: bytes) -> None:
    try:
        part.write_bytes(content)
    except FileNotFoundError:
        part.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(content)


def _move(part: Path, path: Path) -> None:
    """Put a file where it belongs, a folder of that name deleted: the site has none there."""
    try:
        part.replace(path)
    except IsADirectoryError:
        shutil.rmtree(path)
        part.replace(path)


@contextmanager
def _refusals(path: Path | None = None) -> Iterator[None]:
    """Say on which path of the site the system refused something; without one, it knows."""
    try:
        yield
    except OSError as error:
        raise NotWritten(error.errno, error.strerror, str(path or error.filename)) from None
