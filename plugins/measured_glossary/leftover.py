"""Files that no check would ever look at: what stands beside entries, records of nothing.

Comes in: the project's root. Goes out: problems, so that nothing is left out in silence. Must not
read what is in a file.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from measured_glossary.lab.bench import experiment_file
from measured_glossary.lab.record import MEASUREMENTS
from measured_glossary.problem import Place, Problem
from measured_glossary.project import SETTINGS_FILE
from measured_glossary.trust.folder import ENTRIES
from measured_glossary.trust.registry import PEOPLE_FILE


def problems(root: Path) -> Iterator[Problem]:
    """Give every file of `glossary/` and every record that belongs to nothing."""
    for name in _below(root, ENTRIES):
        if name not in (SETTINGS_FILE, PEOPLE_FILE) and (root / name).is_file():
            yield _problem(name, "stray-file", "is no part of an entry", _ENTRY)
    for name in _below(root, MEASUREMENTS):
        experiment = experiment_file(name.rpartition("/")[2])
        if not (root / experiment).is_file():
            message = f"belongs to no experiment: there is no {experiment}"
            yield _problem(name, "unused-record", message, _RECORD)


_ENTRY = f"write it as {ENTRIES}/ID/entry.md, put it into an entry's folder, or delete it"
_RECORD = "call it like the experiment's folder in code/, or delete it"


def _below(root: Path, folder: str) -> list[str]:
    """Give what stands in a folder; names with a dot in front are the system's and the editor's."""
    top = root / folder
    paths = sorted(top.iterdir()) if top.is_dir() else []
    return [f"{folder}/{path.name}" for path in paths if not path.name.startswith(".")]


def _problem(name: str, code: str, message: str, hint: str) -> Problem:
    return Problem(place=Place(name), code=code, message=message, hint=hint)
