"""What was computed once, kept by a digest of all that went into it; what is missing is computed.

Comes in: keys, and a function for what has no value yet. Goes out: values by key. Must not know
what is computed: that a key names everything that goes in is its caller's part.

The file may be deleted at any time, two builds may use it at once, and a build may be killed while
it writes: SQLite sees to that. What cannot be read is computed again.
"""

from __future__ import annotations

import gc
import hashlib
import io
import marshal
import multiprocessing
import os
import pickle
import sqlite3
import sys
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from functools import cache
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import Any, TypeVar

from measured_glossary.aside import end_with_parent

T = TypeVar("T")

FILE = "memo.sqlite"
MAX_BYTES = 2 << 30
WAIT_S = 10  # for another build, which writes for moments; for whoever locks the file longer, once
FEW = 24  # fewer than this are computed here: starting processes takes longer
CHUNK = 8
SPAN = 1_000  # items, or about, after which processes end: what one looked at is no more shared
JOINED = 50  # values that are kept once more as one: an edit makes one such group anew
LOOSE = 10_000  # values, of a dozen pages, after which a process looks for those it may drop
_EACH_ANEW = 2  # the form of `marshal` in which the same value gives the same bytes
_SEAL_BYTES = 16
_HELD = 50  # values that are written at once: some are large
_ROWS = 500  # keys of one question; SQLite takes at most 999
_MARKS = ",".join("?" * _ROWS)
_VALUES = f"select key, day, value from kept where key in ({_MARKS})"  # noqa: S608 - question marks
_DAYS = f"select key, day from kept indexed by days where key in ({_MARKS})"  # noqa: S608 - as above
_OLDEST = "delete from kept where key in (select key from kept order by day, key limit 1000)"
_PRAGMAS = "pragma journal_mode=wal; pragma synchronous=normal;"
_SCHEMA = """
create table if not exists kept (key blob primary key, day integer, value blob) without rowid;
create index if not exists days on kept (key, day);
create table if not exists written (site text, uri text, key blob, state text,
    primary key (site, uri)) without rowid;
"""


def digest(*parts: object) -> bytes:
    """Give the SHA-256 of values whose `repr` says all of them: texts, numbers, frozen values."""
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).digest()


def plain_digest(*parts: Any) -> bytes:
    """Give the SHA-256 of plain values, as texts, bytes, numbers, and lists and tuples of them.

    Faster than `digest` where there are many. Any other value raises `ValueError`.
    """
    return hashlib.sha256(marshal.dumps(parts, _EACH_ANEW)).digest()


def content_digest(content: str | bytes) -> bytes:
    """Give the SHA-256 of one text or file: faster than `digest` where it is long."""
    raw = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    return hashlib.sha256(raw).digest()


def files_digest(files: Mapping[str, bytes]) -> bytes:
    """Give the SHA-256 of files together, by name, in their order."""
    return plain_digest(*files.items())


@cache
def package() -> str:
    """Give a SHA-256 of all code that computes values: this package's, and what is installed."""
    root = Path(__file__).parent
    files = (path for path in root.rglob("*") if path.is_file() and path.suffix != ".pyc")
    named = ((path.relative_to(root).as_posix(), path.read_bytes()) for path in files)
    own = [(name, hashlib.sha256(raw).hexdigest()) for name, raw in sorted(named)]
    return digest(own, _installed(), sys.version, sys.flags.optimize).hex()


def _installed() -> list[str]:
    """Give name and version of all that is installed, as its folders are called."""
    folders = [Path(folder) for folder in sys.path if Path(folder).is_dir()]
    kinds = ("*.dist-info", "*.egg-info")
    return sorted({path.name for f in folders for kind in kinds for path in f.glob(kind)})


class Memo:
    """Values by key, in one file; without a folder, in memory.

    `jobs` is how many processes compute at once, `day` the present one, as a number: a value that
    was not asked for in many days is the first to go when the file grows over `max_bytes`.
    """

    def __init__(
        self, folder: Path | None = None, *, jobs: int = 1, day: int = 0, max_bytes: int = MAX_BYTES
    ) -> None:
        self.jobs, self.day, self.max_bytes = jobs, day, max_bytes
        self.file = folder / FILE if folder else None
        self.misses = 0
        self._db = _Database(self.file)
        self._last: tuple[bytes, Any] = b"", None

    def values(self, keys: Sequence[bytes], compute: Callable[[int], T]) -> list[T]:
        """Give the value of each key; `compute` is asked for the index of one that has none.

        It may run in a process of its own, so what it changes is lost.
        """
        found = dict(self.load(keys))
        missing = [index for index, key in enumerate(keys) if key not in found]
        made = {keys[index]: value for index, value in self.computed(missing, compute)}
        self.store(made.items())
        self.join(keys, found | made, made)
        return [found[key] if key in found else made[key] for key in keys]

    def keep(self, keys: Sequence[bytes], compute: Callable[[int], object]) -> None:
        """See to it that each key has a value, without holding them all: `load` gives them."""
        known = self.known(keys)
        missing = [index for index, key in enumerate(keys) if key not in known]
        made = self.computed(missing, lambda index: packed(compute(index)))
        self.store((keys[index], value) for index, value in made)

    def load(self, keys: Iterable[bytes]) -> Iterator[tuple[bytes, Any]]:
        """Give the values there are."""
        parts = _joinable(keys)
        joined = dict(self._load(parts))
        for name, part in parts.items():
            yield from zip(part, joined.get(name, ()), strict=False)
        yield from self._load(key for name in parts.keys() - joined.keys() for key in parts[name])

    def join(
        self, keys: Iterable[bytes], found: Mapping[bytes, object], fresh: Collection[bytes]
    ) -> None:
        """Keep values once more, many in one: asked for together again, they load in half the time.

        `fresh` are the keys that were not kept before: where there is none, nothing is done.
        """
        parts = _joinable(keys) if fresh else {}
        self.store(
            (name, [found[key] for key in part])
            for name, part in parts.items()
            if not part.keys().isdisjoint(fresh)
        )

    def _load(self, keys: Iterable[bytes]) -> Iterator[tuple[bytes, Any]]:
        for asked in _parts(keys):
            rows = self._db.all(_VALUES, asked)
            for key, _, value in rows:
                with suppress(Exception):  # written by another version, or damaged
                    yield key, _unsealed(key, value)
            self._used([key for key, day, _ in rows if day != self.day])

    def get(self, key: bytes) -> Any:
        """Give one value, or `None`, which nobody keeps; the last is at hand."""
        if self._last[0] != key:
            rows = self._db.all("select value from kept where key = ?", [key])
            self._last = key, None
            with suppress(Exception):  # as above
                self._last = key, _unsealed(key, rows[0][0])
        return self._last[1]

    def store(self, items: Iterable[tuple[bytes, object]]) -> None:
        """Keep values, without holding them all at once; an older one of the same key goes."""
        self._last = b"", None
        rows = ((key, self.day, _sealed(key, packed(value).raw)) for key, value in items)
        while part := list(islice(rows, _HELD)):
            self._db.write(("insert or replace into kept values (?, ?, ?)", part))

    def close(self) -> None:
        """Drop what is too much, oldest first, and let go of the file."""
        self._db.close(self.max_bytes)

    # What was written where: `tree` asks, so that an unchanged file is not touched.

    def written(self, site: str) -> dict[str, tuple[bytes, str]]:
        """Give, for each file written to a site, the key of its content and its state then."""
        rows = self._db.all("select uri, key, state from written where site = ?", [site])
        return {uri: (key, state) for uri, key, state in rows}

    def remember(
        self, site: str, gone: Iterable[str], new: Mapping[str, tuple[bytes, str]]
    ) -> None:
        """Note what was deleted from a site, and what was written to it."""
        self._db.write(
            ("delete from written where site = ? and uri = ?", [(site, uri) for uri in gone]),
            (
                "insert or replace into written values (?, ?, ?, ?)",
                [(site, uri, key, state) for uri, (key, state) in new.items()],
            ),
        )

    def computed(
        self, missing: Sequence[int], compute: Callable[[int], T]
    ) -> Iterator[tuple[int, T]]:
        """Give the value of each index, `jobs` at once, and keep none.

        The first is computed here: what all need is loaded before the processes part.
        """
        self.misses += len(missing)
        made = chain(map(compute, missing[:1]), side_by_side(compute, missing[1:], self.jobs))
        return zip(missing, made, strict=True)

    def known(self, keys: Iterable[bytes]) -> set[bytes]:
        """Give the keys that have a value."""
        found: list[tuple[bytes, int]] = []
        for asked in _parts(keys):
            found += self._db.all(_DAYS, asked)
        self._used([key for key, day in found if day != self.day])
        return {key for key, _ in found}

    def _used(self, keys: Sequence[bytes]) -> None:
        self._db.write(("update kept set day = ? where key = ?", [(self.day, key) for key in keys]))


class _Database:
    """The file, or what stands for it in memory; whatever is wrong with it, a build goes on.

    It is opened when a process first asks for it: none may use the connection of another.
    """

    def __init__(self, file: Path | None) -> None:
        self.file = file
        self._is_locked = self._is_damaged = False
        self._connections: dict[int, sqlite3.Connection] = {}  # by the process that opened it

    def all(self, question: str, values: Sequence[object]) -> list[Any]:
        """Give the rows that there are."""
        try:
            return self._own().execute(question, values).fetchall()
        except sqlite3.Error as error:
            self._note(error)
            return []

    def write(self, *changes: tuple[str, Iterable[Sequence[object]]]) -> None:
        """Write all or nothing; a file that cannot be written to makes a build slow, not wrong.

        For somebody who keeps it locked a build waits once.
        """
        if self._is_locked:
            return
        try:
            with self._own() as own:
                for statement, rows in changes:
                    own.executemany(statement, rows)
        except sqlite3.Error as error:
            self._note(error)

    def close(self, max_bytes: int) -> None:
        """Drop what is too much, oldest first, and let go of the file; one that is damaged goes."""
        if own := self._connections.pop(os.getpid(), None):
            with suppress(sqlite3.Error):
                if not self._is_locked:
                    _shrink(own, max_bytes)
                own.close()
        if self.file and self._is_damaged:
            self.file.unlink(missing_ok=True)

    def _own(self) -> sqlite3.Connection:
        if (process := os.getpid()) not in self._connections:
            self._connections[process] = _opened(self.file)
        return self._connections[process]

    def _note(self, error: sqlite3.Error) -> None:
        name = getattr(error, "sqlite_errorname", "")
        self._is_locked |= name.startswith("SQLITE_BUSY")
        self._is_damaged |= name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB"))


def _shrink(db: sqlite3.Connection, max_bytes: int) -> None:
    """Drop what nobody asked for longest, until the rest is small enough."""
    size = "select coalesce(sum(length(value)), 0) from kept"
    while db.execute(size).fetchone()[0] > max_bytes:
        with db:
            db.execute(_OLDEST)
        db.execute("vacuum")


def _opened(file: Path | None) -> sqlite3.Connection:
    """Open the file; one that is no database is begun anew, one that cannot be, kept in memory."""
    if file is None:
        return _connected(":memory:")
    with suppress(OSError, sqlite3.OperationalError):
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            return _connected(str(file))
        except sqlite3.OperationalError:  # somebody's, or not to be written
            return _connected(":memory:")
        except sqlite3.DatabaseError:
            file.unlink()
            return _connected(str(file))
    return _connected(":memory:")


def _connected(name: str) -> sqlite3.Connection:
    connection = sqlite3.connect(name, timeout=WAIT_S)
    connection.executescript(_PRAGMAS + _SCHEMA)
    connection.execute("select count(*) from written").fetchone()
    return connection


def _joinable(keys: Iterable[bytes]) -> dict[bytes, dict[bytes, None]]:
    """Give keys in groups, in their order, each by a key of its own."""
    left, found = iter(dict.fromkeys(keys)), {}
    while part := list(islice(left, JOINED)):
        found[digest("joined", part)] = dict.fromkeys(part)
    return found


def _parts(keys: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Give keys in parts of one size; the last is filled up with a key that nothing has."""
    left = iter(dict.fromkeys(keys))
    while part := list(islice(left, _ROWS)):
        yield part + [b""] * (_ROWS - len(part))


# ── values as bytes ──────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Packed:
    """A value as it is kept: where another process made it, all of it need not come over."""

    raw: bytes


def packed(value: object) -> Packed:
    """Give a value as it is kept; one that is packed stays as it is.

    Whoever makes bytes, of a picture say, has made them small.
    """
    if isinstance(value, Packed):
        return value
    level = 0 if isinstance(value, bytes) else 1
    return Packed(zlib.compress(pickle.dumps(value, 5), level))


def unpacked(value: Packed) -> Any:
    """Give what was packed."""
    return _unpacked(value.raw)


def _unpacked(raw: bytes) -> Any:
    return _Plain(io.BytesIO(zlib.decompress(raw))).load()


def _sealed(key: bytes, raw: bytes) -> bytes:
    """Give a packed value behind a digest of its key and itself: another row's is none."""
    seal = hashlib.sha256(key)
    seal.update(raw)
    return seal.digest()[:_SEAL_BYTES] + raw


def _unsealed(key: bytes, sealed: bytes) -> Any:
    """Give the value of a row; raises `ValueError` where it is not what was written there."""
    raw = sealed[_SEAL_BYTES:]
    if _sealed(key, raw) != sealed:
        raise ValueError("damaged")
    return _unpacked(raw)


class _Plain(pickle.Unpickler):
    """Reads values of this package and dates: a file that somebody wrote into runs no code."""

    def find_class(self, module: str, name: str) -> Any:
        """Give a class that is only data; anything else is refused."""
        known = _classes.get((module, name))
        if known is None and _is_ours(module, name):
            found = super().find_class(module, name)
            known = _classes[module, name] = found if _is_data(found, module) else None
        if known is None:
            raise pickle.UnpicklingError(f"{module}.{name} is not kept here")
        return known


# Each is asked for by every value.
_classes: dict[tuple[str, str], type | None] = {("datetime", "date"): date}


def _is_ours(module: str, name: str) -> bool:
    """Say whether a module of this package may define it; `pickle` would follow a dot anywhere."""
    return module.startswith("measured_glossary.") and "." not in name


def _is_data(known: Any, module: str) -> bool:
    """Say whether it is a class of frozen data, and of that module: many import what acts."""
    if not isinstance(known, type) or known.__module__ != module:
        return False
    of_data_class = getattr(known, "__dataclass_params__", None)
    of_model: Mapping[str, object] = getattr(known, "model_config", {})
    is_named = issubclass(known, tuple) and hasattr(known, "_fields")
    return is_named or getattr(of_data_class, "frozen", False) or bool(of_model.get("frozen"))


# ── several at once ──────────────────────────────────────────────────────────────────────────


def side_by_side(
    compute: Callable[[int], T], items: Sequence[int], jobs: int, *, few: int = FEW
) -> Iterator[T]:
    """Give `compute` of each item, in their order, `jobs` at once in processes of their own.

    Where a process cannot be forked, and for few items, one after the other here.
    """
    if jobs < 2 or len(items) < few or "fork" not in multiprocessing.get_all_start_methods():
        yield from map(compute, items)
        return
    from concurrent.futures import ProcessPoolExecutor  # slow to import, and mostly not needed

    forked = multiprocessing.get_context("fork")
    for part in _in_equal_parts(items, max(1, round(len(items) / SPAN))):
        with ProcessPoolExecutor(
            jobs, mp_context=forked, initializer=_begin, initargs=(compute,)
        ) as pool:
            yield from pool.map(_go_on, part, chunksize=CHUNK)


def _in_equal_parts(items: Sequence[int], count: int) -> Iterator[Sequence[int]]:
    bounds = [len(items) * part // count for part in range(count + 1)]
    return (items[first:end] for first, end in pairwise(bounds))


_work: list[Callable[[int], Any]] = []  # of a worker process, which has one task in its life


def _begin(compute: Callable[[int], Any]) -> None:
    end_with_parent()
    gc.freeze()  # what was there before is shared as long as nobody writes to it, and this would
    gc.set_threshold(LOOSE, 20, 100)
    gc.enable()
    _work.append(compute)


def _go_on(item: int) -> Any:
    return _work[-1](item)
