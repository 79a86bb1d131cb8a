"""The published pages as plain Markdown that any generator can build.

Comes in: a `Glossary` and a folder. Goes out: files in it. Must not write a draft, nor into a
folder that holds anything else.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from measured_glossary import website
from measured_glossary.pipeline import Glossary
from measured_glossary.problem import Place, Problem, Refused


def write(glossary: Glossary, folder: Path, docs: Path) -> tuple[str, ...]:
    """Write every public file below a new or empty folder, all of them or none."""
    made = website.outputs(glossary, docs, drafts=False)
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise Refused([_problem(folder, "folder-not-empty", _NOT_EMPTY, "name a new folder")])
        _write_all(made, folder.resolve())
    except OSError as error:
        message = f"cannot be written: {error.strerror}"
        raise Refused([_problem(folder, "cannot-write", message, "name another folder")]) from None
    return tuple(output.uri for output in made)


_NOT_EMPTY = "exists and is not an empty folder"


def _problem(folder: Path, code: str, message: str, hint: str) -> Problem:
    return Problem(place=Place(folder.resolve().name or "/"), code=code, message=message, hint=hint)


def _write_all(made: Sequence[website.Output], folder: Path) -> None:
    """Write beside the folder first; it gets its name when all is there."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".export-") as scratch:
        whole = Path(scratch) / "all"
        for output in made:
            _write(whole / output.uri, output.content)
        if folder.exists():
            folder.rmdir()
        whole.rename(folder)


def _write(path: Path, content: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
