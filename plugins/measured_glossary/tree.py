"""A site's folder brought up to date: what did not change is not touched, what is gone is deleted.

Comes in: the folder, what a generator wrote elsewhere, and files by key. Goes out: the folder as it
should be. Must not know what a file holds, nor where it was made.

A file is compared with what was written there last: the same key, and on the disk the same size,
time and number. Else its bytes decide. Each is written under another name first.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from measured_glossary.memo import Memo

Seen = Mapping[str, str]  # of each file, by where it stands, its state


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
    fresh: dict[str, tuple[bytes, str]] = {}
    for leaf in leaves:
        if written.get(leaf.uri) == (leaf.key, there.get(leaf.uri)):
            continue
        if update(site / leaf.uri, leaf.load()):
            news.append(leaf.uri)
        fresh[leaf.uri] = leaf.key, _state((site / leaf.uri).stat())
    memo.remember(str(site), written.keys() & gone, fresh)
    wanted = len(others) + len(leaves)
    return Change(written=len(news), deleted=len(gone), untouched=wanted - len(news))


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
    with suppress(OSError):
        if not path.is_symlink() and path.read_bytes() == content:
            return False
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    part.write_bytes(content)
    part.replace(path)
    return True
