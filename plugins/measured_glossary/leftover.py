"""Files that no check would ever look at: what stands beside entries, records of nothing.

Comes in: the project's root. Goes out: problems, so that nothing is left out in silence. Must not
read what is in a file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from operator import itemgetter
from pathlib import Path

from measured_glossary.lab.record import MEASUREMENTS
from measured_glossary.lab.settings import experiment_file
from measured_glossary.problem import Place, Problem
from measured_glossary.project import SETTINGS_FILE
from measured_glossary.trust.folder import ENTRIES
from measured_glossary.trust.registry import PEOPLE_FILE


def problems(root: Path) -> Iterator[Problem]:
    """Give every file of `glossary/` and every record that belongs to nothing."""
    for name, found in _below(root, ENTRIES):
        is_part = found.is_dir(follow_symlinks=False) or name in (SETTINGS_FILE, PEOPLE_FILE)
        if not is_part and (root / name).is_file():
            yield _problem(name, "stray-file", "is no part of an entry", _ENTRY)
    for name, _ in _below(root, MEASUREMENTS):
        experiment = experiment_file(name.rpartition("/")[2])
        if not (root / experiment).is_file():
            message = f"belongs to no experiment: there is no {experiment}"
            yield _problem(name, "unused-record", message, _RECORD)


_ENTRY = f"write it as {ENTRIES}/ID/entry.md, put it into an entry's folder, or delete it"
_RECORD = "call it like the experiment's folder in code/, or delete it"


def _below(root: Path, folder: str) -> list[tuple[str, os.DirEntry[str]]]:
    """Give what stands in a folder; names with a dot in front are the system's and the editor's."""
    if not (root / folder).is_dir():
        return []
    with os.scandir(root / folder) as found:
        seen = [(f"{folder}/{each.name}", each) for each in found if not each.name.startswith(".")]
    return sorted(seen, key=itemgetter(0))


def _problem(name: str, code: str, message: str, hint: str) -> Problem:
    return Problem(place=Place(name), code=code, message=message, hint=hint)
