"""The published pages as plain Markdown that any generator can build.

Comes in: a `Glossary` and a folder. Goes out: files in it. Must not write a draft, nor into a
folder that holds anything else.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from measured_glossary import website
from measured_glossary.pipeline import Glossary
from measured_glossary.problem import Place, Problem, Refused


def write(glossary: Glossary, folder: Path, docs: Path) -> tuple[str, ...]:
    """Write every public file below a new or empty folder, all of them or none."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        problem = Problem(
            place=Place(folder.name), code="folder-not-empty",
            message="exists and is not an empty folder", hint="name a new folder",
        )  # fmt: skip
        raise Refused([problem])
    made = website.outputs(glossary, docs, drafts=False)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".export-") as scratch:
        for output in made:
            _write(Path(scratch) / "all" / output.uri, output.content)
        shutil.copytree(Path(scratch) / "all", folder, dirs_exist_ok=True)
    return tuple(output.uri for output in made)


def _write(path: Path, content: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
