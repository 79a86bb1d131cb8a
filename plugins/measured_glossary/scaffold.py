"""New glossaries and new entries from the files in `scaffolds/`.

Comes in: a folder, a title or a term. Goes out: the files to write, all of them or none. Must
not overwrite anything.
"""

from __future__ import annotations

import json
import os
import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from string import Template

from measured_glossary.markup import inert
from measured_glossary.problem import Place, Problem, Refused

MAX_TITLE, MAX_PROJECT, MAX_ID = 80, 39, 60

AREA, APPLIES_TO = "Execution model", "CC 7.5 and newer"
ANSWER = "One sentence that a stranger understands and a specialist does not object to."


def slug(term: str) -> str:
    """Make an entry's id from its term: `__syncthreads()` → `syncthreads`."""
    plain = unicodedata.normalize("NFKD", term).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")[:MAX_ID].strip("-")


def new_glossary(folder: str) -> dict[str, str]:
    """Give the files of an empty glossary, by name relative to its root.

    Its title and its project's id are made from the folder's name.
    """
    words = re.sub(r"[^\w.&+]+", " ", folder).strip()[:MAX_TITLE].strip()
    title = words[:1].upper() + words[1:] or "My glossary"
    project = slug(folder)[:MAX_PROJECT].strip("-") or "my-glossary"
    return _files("init", {"title": inert(title), "quoted": _quoted(title), "project": project})


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What a new entry begins with."""

    term: str
    id: str
    question: str
    answer: str = ANSWER
    area: str = AREA
    applies_to: str = APPLIES_TO
    with_experiment: bool = True


def draft(term: str, entry_id: str = "") -> Draft:
    """Give what an entry begins with if nobody says otherwise; the id may be empty."""
    return Draft(term=term, id=entry_id or slug(term), question=f"What does {term} mean in CUDA?")


def new_entry(draft: Draft) -> dict[str, str]:
    """Give the files of a new entry that builds at once, by name relative to the root.

    Entry, kernel, experiment, and a test that sees each claim refuted; or the entry alone.
    """
    words = {
        "term": draft.term,
        "id": draft.id,
        "quoted": _quoted(draft.term),
        "escaped": _quoted(draft.term)[1:-1],
        "quoted_question": _quoted(draft.question),
        "quoted_answer": _quoted(draft.answer),
        "quoted_area": _quoted(draft.area),
        "quoted_applies_to": _quoted(draft.applies_to),
    }
    files = _files("new", words)
    entry, plain = f"glossary/{draft.id}/entry.md", f"glossary/{draft.id}/entry-plain.md"
    if draft.with_experiment:
        del files[plain]
        return files
    return {entry: files[plain]}


def file_of_test(draft: Draft) -> str:
    """Give the name of the test that belongs to a new entry's experiment."""
    return f"tests/test_experiment_{draft.id.replace('-', '_')}.py"


def refuse_taken(root: Path, files: Iterable[str]) -> None:
    """Refuse to go on where a file of one of these names stands."""
    if taken := [name for name in sorted(files) if os.path.lexists(root / name)]:
        raise Refused(
            Problem(place=Place(name), code="file-exists", message="stands here already",
                    hint="choose another name, or remove the file first")
            for name in taken
        )  # fmt: skip


def write_all(root: Path, files: Mapping[str, str | bytes]) -> None:
    """Write new files below `root`; if one of them exists already, none is written."""
    refuse_taken(root, files)
    written: list[Path] = []
    try:
        for name, content in sorted(files.items()):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            with (root / name).open("xb") as file:
                written.append(root / name)
                file.write(content.encode("utf-8") if isinstance(content, str) else content)
    except BaseException as error:
        for path in written:
            path.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise Refused([_not_written(root, name, error)]) from None
        raise


def _not_written(root: Path, name: str, error: OSError) -> Problem:
    place = Path(error.filename) if error.filename else root / name
    told = place.relative_to(root).as_posix() if place.is_relative_to(root) else name
    in_the_way = isinstance(error, NotADirectoryError | FileExistsError)
    return Problem(
        place=Place(told),
        code="cannot-write",
        message=f"cannot be written: {error.strerror}; nothing else was written either",
        hint=_IN_THE_WAY if in_the_way else _NO_ACCESS,
    )


_IN_THE_WAY = "a file stands where a folder is to be: choose another name, or move the file away"
_NO_ACCESS = "look at the folder's permissions and at the space that is left"


def _quoted(text: str) -> str:
    # A JSON string is a YAML string and, for what a term can hold, a Python one.
    return json.dumps(text, ensure_ascii=False)


def _files(folder: str, words: Mapping[str, str]) -> dict[str, str]:
    top = resources.files("measured_glossary") / "scaffolds" / folder
    return {
        _name(name, words): Template(file.read_text("utf-8")).substitute(words)
        for name, file in _walk(top)
    }


def _walk(folder: Traversable, prefix: str = "") -> list[tuple[str, Traversable]]:
    found: list[tuple[str, Traversable]] = []
    for child in sorted(folder.iterdir(), key=lambda item: item.name):
        name = prefix + child.name
        found += _walk(child, f"{name}/") if child.is_dir() else [(name, child)]
    return found


def _name(name: str, words: Mapping[str, str]) -> str:
    # A dot file would be left out of a wheel by some tools, and `ID` stands for the entry's id.
    entry_id = words.get("id", "ID")
    name = name.replace("dot.", ".").replace("/ID/", f"/{entry_id}/")
    name = name.replace("_ID.py", f"_{entry_id.replace('-', '_')}.py")
    return name.replace("kernel.cu", f"{entry_id}.cu")
