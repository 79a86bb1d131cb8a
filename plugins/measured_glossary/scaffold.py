"""New glossaries and new entries from the files in `scaffolds/`.

Comes in: a folder, a title or a term. Goes out: the files to write, all of them or none. Must
not overwrite anything.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from string import Template

from measured_glossary.problem import Place, Problem, Refused


def slug(term: str) -> str:
    """Make an entry's id from its term: `__syncthreads()` → `syncthreads`."""
    plain = unicodedata.normalize("NFKD", term).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-")[:60].strip("-")


def new_glossary(title: str, project: str) -> dict[str, str]:
    """Give the files of an empty glossary, by name relative to its root."""
    return _files("init", {"title": title, "quoted": _quoted(title), "project": project})


def new_entry(term: str, area: str, *, with_experiment: bool) -> dict[str, str]:
    """Give the files of a new entry that builds at once, by name relative to the root."""
    entry_id = slug(term)
    words = {"term": term, "id": entry_id, "quoted": _quoted(term), "quoted_area": _quoted(area),
             "question": _quoted(f"What is {term} in CUDA?")}  # fmt: skip
    files = _files("new", words)
    entry, plain = f"glossary/{entry_id}/entry.md", f"glossary/{entry_id}/entry-plain.md"
    if with_experiment:
        del files[plain]
        return files
    return {entry: files[plain]}


def write_all(root: Path, files: Mapping[str, str]) -> None:
    """Write new files below `root`; if one of them exists already, none is written."""
    if taken := [name for name in sorted(files) if (root / name).exists()]:
        raise Refused(
            Problem(place=Place(name), code="file-exists", message="stands here already",
                    hint="choose another name, or remove the file first")
            for name in taken
        )  # fmt: skip
    for name, text in sorted(files.items()):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8", newline="\n")


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
    name = name.replace("dot.", ".").replace("/ID/", f"/{words.get('id', 'ID')}/")
    return name.replace("kernel.cu", f"{words.get('id', 'kernel')}.cu")
