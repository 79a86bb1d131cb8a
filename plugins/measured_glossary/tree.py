"""A site's folder brought up to date: what did not change is not touched, what is gone is deleted.

Comes in: the folder, what a generator wrote elsewhere, and files by key. Goes out: the folder as it
should be. Must not know what a file holds, nor where it was made.

A file is compared with what was written there last: the same key, and on the disk the same size,
time and number. Else its bytes decide. Each is written under another name first.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from measured_glossary.memo import Memo, side_by_side

AT_ONCE = 10  # files that a process writes before it is given others


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """A file of the site: where it stands, what its content depends on, and what gives it."""

    uri: str
    key: bytes
    load: Callable[[], bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What became of a site's folder: how many files were written, deleted, left as they were."""

    written: int
    deleted: int
    untouched: int


def publish(site: Path, staged: Path, leaves: Sequence[Leaf], memo: Memo) -> Change:
    """Bring `site` up to date: what stands in `staged`, and the leaves; nothing else."""
    there, written = dict(_walk(site)), dict(memo.written(str(site)))
    others = [uri for uri, _ in _walk(staged)]
    gone = there.keys() - set(others) - {leaf.uri for leaf in leaves}
    _delete(site, gone)
    news = [uri for uri in others if update(site / uri, (staged / uri).read_bytes())]
    changed = [leaf for leaf in leaves if written.get(leaf.uri) != (leaf.key, there.get(leaf.uri))]
    states = _put(site, changed, there, memo)
    fresh = {leaf.uri: (leaf.key, state) for leaf, (_, state) in zip(changed, states, strict=True)}
    memo.remember(str(site), written.keys() & gone, fresh)
    count = len(news) + sum(is_new for is_new, _ in states)
    wanted = len(others) + len(leaves)
    return Change(written=count, deleted=len(gone), untouched=wanted - count)


def _put(
    site: Path, leaves: Sequence[Leaf], there: Collection[str], memo: Memo
) -> list[tuple[bool, str]]:
    """Write leaves where they stand; of each, say whether it was another, and its state then.

    What a memo has in memory alone, no other process can read.
    """

    def put(first: int) -> list[tuple[bool, str]]:
        return [_put_one(site / leaf.uri, leaf, there) for leaf in leaves[first : first + AT_ONCE]]

    parts = range(0, len(leaves), AT_ONCE)
    jobs = memo.jobs if memo.file else 1
    return [each for part in side_by_side(put, parts, jobs) for each in part]


def _put_one(path: Path, leaf: Leaf, there: Collection[str]) -> tuple[bool, str]:
    content = leaf.load()
    is_new = leaf.uri not in there or not _holds(path, content)
    if is_new:
        _write(path, content)
    return is_new, _state(path.stat())


def _walk(folder: Path) -> Iterator[tuple[str, str]]:
    """Give every file below a folder with its state; hidden ones at the top are not the site's."""
    stack = [""]
    while stack:
        inside = stack.pop()
        with suppress(FileNotFoundError), os.scandir(folder / inside) as found:
            for entry in found:
                uri = f"{inside}{entry.name}"
                if not inside and entry.name.startswith("."):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    stack.append(f"{uri}/")
                else:
                    yield uri, _state(entry.stat(follow_symlinks=False))


def _state(status: os.stat_result) -> str:
    return f"{status.st_size} {status.st_mtime_ns} {status.st_ino}"


def _delete(site: Path, gone: Iterable[str]) -> None:
    """Delete files, and folders in which none is left."""
    for uri in gone:
        (site / uri).unlink(missing_ok=True)
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
        return not path.is_symlink() and path.read_bytes() == content
    return False


def _write(path: Path, content: bytes) -> None:
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(content)
    except FileNotFoundError:
        part.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(content)
    part.replace(path)
