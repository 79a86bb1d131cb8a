"""What a glossary says of itself: `glossary/settings.yml`.

Comes in: that file. Goes out: `Project`. Must not know what an entry is.
"""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from measured_glossary.problem import Checked
from measured_glossary.source import parse_yaml, read, validate

SETTINGS_FILE = "glossary/settings.yml"


class Project(BaseModel):
    """The glossary's own settings; all texts."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    title: str = Field(min_length=1, max_length=80, description="The glossary's name")
    repository: str = Field(
        default="",
        pattern=r"^(https://[^\s\"'<>]+[^/\s\"'<>])?$",
        description="Where a reader finds a file: files are linked below it",
    )
    licence: str = Field(default="", max_length=80, description="Of the text, as printed")


def read_project(root: Path) -> Checked[Project]:
    """Read the settings; a glossary without the file is no glossary."""
    source = read(root, SETTINGS_FILE)
    if source.value is None:
        return Checked(value=None, problems=source.problems)
    located = parse_yaml(source.value)
    if located.value is None or located.problems:
        return Checked(value=None, problems=located.problems)
    return validate(Project, located.value, code="settings-field")
