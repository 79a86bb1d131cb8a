"""An entry's folder as bytes: the files that are signed, and what lies in `signatures/`.

Comes in: the project's root and an entry's id. Goes out: an `EntryFolder`, read once, or what in
it is no plain file. Must not know what a statement says.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from measured_glossary.problem import Checked, Place, Problem
from measured_glossary.source import read_here

ENTRIES = "glossary"
SIGNATURES = "signatures"
MAX_FILES = 500
MAX_DEPTH = 6

# Names that every file system keeps apart and spells alike.
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}(?<!\.)")
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryFolder:
    """The bytes of an entry: `files` by path from the root, `signatures` by file name."""

    files: Mapping[str, bytes]
    signatures: Mapping[str, bytes]


def entry_ids(root: Path) -> tuple[str, ...]:
    """Give the ids of the entries: the folders below `glossary/`, in order."""
    return tuple(sorted(path.name for path in (root / ENTRIES).iterdir() if not path.is_file()))


def read_folder(root: Path, entry: str) -> Checked[EntryFolder]:
    """Read every file of an entry; anything that is no plain file refuses the whole."""
    walk = _Walk(root)
    found = walk.found(f"{ENTRIES}/{entry}", MAX_DEPTH)
    if walk.problems:
        return Checked(value=None, problems=tuple(sorted(set(walk.problems))))
    inside = f"{ENTRIES}/{entry}/{SIGNATURES}/"
    signatures = {n.removeprefix(inside): raw for n, raw in found.items() if n.startswith(inside)}
    files = {name: raw for name, raw in found.items() if not name.startswith(inside)}
    return Checked(value=EntryFolder(files=files, signatures=signatures))


def read_signatures(root: Path, entry: str) -> Mapping[str, bytes]:
    """Give the files of an entry's `signatures/` by name, without those that are refused."""
    inside = f"{ENTRIES}/{entry}/{SIGNATURES}"
    found = _Walk(root).found(inside, depth_left=1)
    return {path.removeprefix(f"{inside}/"): raw for path, raw in found.items()}


def name_problem(name: str, place: Place) -> Problem | None:
    """Say what is wrong with one part of a path, if anything."""
    if _is_plain(name):
        return None
    return Problem(
        place=place,
        code="bad-file-name",
        message=f"{name!r} is not a name that is the same on every system",
        hint="use letters, digits, '-', '_' and '.'; delete what an editor or a system left there",
    )


def is_plain_path(path: str) -> bool:
    """Say whether every part of a relative path is a name that is the same on every system."""
    return all(map(_is_plain, path.split("/")))


@lru_cache(maxsize=1024)  # the files of all entries are called alike
def _is_plain(name: str) -> bool:
    return bool(_PLAIN_NAME.fullmatch(name)) and not _RESERVED.fullmatch(name)


class _Walk:
    """Walks a folder in the order of names and collects every fault on the way."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.problems: list[Problem] = []
        self.count = 0

    def found(self, folder: str, depth_left: int) -> dict[str, bytes]:
        """Give the files of a folder, by path from the root."""
        return dict(self.files(folder, depth_left)) if self.finds(folder) else {}

    def finds(self, folder: str) -> bool:
        """Say whether there is a folder; below a link the bytes would be another place's."""
        path = str(self.root)
        for part in folder.split("/"):
            path = f"{path}/{part}"
            if not _is_folder(path):
                self._add(folder, "not-a-folder", f"{part} is not a folder of the project")
                return False
        return True

    def files(self, folder: str, depth_left: int) -> Iterator[tuple[str, bytes]]:
        if not depth_left:
            self._add(folder, "too-deep", f"folders are nested deeper than {MAX_DEPTH} levels")
            return
        with os.scandir(f"{self.root}/{folder}") as found:
            children = sorted(found, key=lambda child: child.name)
        self._fold(folder, [child.name for child in children])
        for child in children:
            path = f"{folder}/{child.name}"
            if not _is_plain(child.name):
                self.problems += filter(None, [name_problem(child.name, Place(_printable(path)))])
            elif child.is_dir(follow_symlinks=False):
                yield from self.files(path, depth_left - 1)
            else:
                yield from self._file(path, child)

    def _fold(self, folder: str, children: list[str]) -> None:
        seen: dict[str, str] = {}
        for name in children:
            other = seen.setdefault(name.casefold(), name)
            if other != name:
                said = f"{name!r} and {other!r} are one file on some systems"
                self._add(f"{folder}/{_printable(name)}", "same-name", said, "rename one of them")
        if depth_of(folder) == depth_of(ENTRIES) + 1:
            for name in children:
                if name.casefold() == SIGNATURES and name != SIGNATURES:
                    said = f"the folder is called {SIGNATURES!r}, in small letters"
                    self._add(f"{folder}/{name}", "same-name", said, "rename it")

    def _file(self, path: str, child: os.DirEntry[str]) -> Iterator[tuple[str, bytes]]:
        self.count += 1
        if self.count == MAX_FILES + 1:
            self._add(path, "too-many-files", f"there are more than {MAX_FILES} files")
        if self.count > MAX_FILES:
            return
        if child.is_symlink():
            self._add(path, "unreadable-file", f"cannot be read: {path} is a symbolic link")
            return
        read = read_here(child.path, path, is_alone=True)
        self.problems += read.problems
        if read.value is not None:
            yield path, read.value

    def _add(self, file: str, code: str, message: str, hint: str = "") -> None:
        self.problems.append(Problem(place=Place(file), code=code, message=message, hint=hint))


def _is_folder(path: str) -> bool:
    with suppress(OSError):
        return stat.S_ISDIR(os.lstat(path).st_mode)
    return False


def depth_of(path: str) -> int:
    """Give the number of parts of a relative path."""
    return len(path.split("/"))


def _printable(path: str) -> str:
    return path.encode("utf-8", "backslashreplace").decode("utf-8")
