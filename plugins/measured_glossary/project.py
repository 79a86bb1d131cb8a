"""What a glossary says of itself: `glossary/settings.yml`.

Comes in: that file. Goes out: `Project`. Must not know what an entry is.
"""

from __future__ import annotations

import os
import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from measured_glossary.problem import Checked
from measured_glossary.source import parse_yaml, read, validate

SETTINGS_FILE = "glossary/settings.yml"


_ADDRESS = re.compile(r"(https://[^\s\"'<>]+[^/\s\"'<>])?")
_START = "glossary init starts a glossary here; --root FOLDER names another folder"


def _repository(text: str) -> str:
    if not _ADDRESS.fullmatch(text):
        raise ValueError("expected an address that begins with 'https://' and ends without '/'")
    return text


class Project(BaseModel):
    """The glossary's own settings; all texts."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    title: str = Field(min_length=1, max_length=80, description="The glossary's name")
    repository: Annotated[str, AfterValidator(_repository)] = Field(
        default="", description="Where a reader finds a file: files are linked below it"
    )
    licence: str = Field(default="", max_length=80, description="Of the text, as printed")


def hint_above(root: Path) -> str:
    """Say how to reach the glossary in whose subfolder one stands, or nothing if in none."""
    for folder in root.resolve().parents:
        if (folder / SETTINGS_FILE).is_file():
            up = shlex.quote(os.path.relpath(folder))
            return f"the glossary is a folder above: cd {up} and type it there, or add --root {up}"
    return ""


def read_project(root: Path) -> Checked[Project]:
    """Read the settings; a glossary without the file is no glossary."""
    source = read(root, SETTINGS_FILE)
    if source.value is None:
        hint = hint_above(root) or _START
        hinted = tuple(replace(problem, hint=hint) for problem in source.problems)
        return Checked(value=None, problems=hinted)
    located = parse_yaml(source.value)
    if located.value is None or located.problems:
        return Checked(value=None, problems=located.problems)
    return validate(Project, located.value, code="settings-field")
