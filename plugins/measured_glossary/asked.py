"""A block of a body as it is asked for, and what every kind of block needs to answer.

Comes in: a block of a page and the evidence it may show. Goes out: the table, the study or the
address it means, or a problem at the block's place. Must not know which kinds of block there are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup
from pydantic import BaseModel, ConfigDict

from measured_glossary.body import Block
from measured_glossary.entry import Measured
from measured_glossary.lab.study import Study
from measured_glossary.lab.table import Table
from measured_glossary.problem import Checked, Problem, meant
from measured_glossary.source import Loc


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A block of a page: its validated options, what it may show and an id for its HTML.

    `repository` is the address below which the project's files are found, or nothing; `top` is the
    way from the page's folder to the site's top.
    """

    page: Measured
    block: Block
    options: Any
    studies: tuple[Study, ...]
    repository: str
    top: str
    ident: str

    @property
    def argument(self) -> str:
        """What stands behind the block's name."""
        return self.block.argument

    def url(self, file: str, lines: str = "") -> str:
        """Give a file in the repository, or else the copy of it that the site publishes."""
        return f"{self.repository}/{file}{lines}" if self.repository else f"{self.top}{file}"


class Plain(BaseModel):
    """A block without options."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


def refuse(asked: Asked, code: str, message: str, hint: str = "", *, at: Loc = ()) -> Checked[Any]:
    """Give no block, and why; `at` is the option that is wrong, if it is one."""
    block = asked.block
    place = block.options.place(at) if at else block.place
    said = f"::: {block.name}: {message}"
    return Checked(value=None, problems=(Problem(place=place, code=code, message=said, hint=hint),))


def declared_table(asked: Asked, wanted: str, *, at: Loc = ()) -> Checked[Table]:
    """Find the table that a block names, as its experiment declares it; `at` is where it does."""
    names = [f"{s.id}.{table.name}" for s in asked.studies for table in s.declared_tables]
    tables = [table for s in asked.studies for table in s.declared_tables]
    found = [t for name, t in zip(names, tables, strict=True) if wanted in (name, t.name)]
    if len(found) == 1:
        return Checked(value=found[0])
    what = "several probes are called" if found else "no probe is called"
    known = names if found else [table.name for table in tables]
    there = f"the probes are: {', '.join(known) or 'none'}"
    hint = there if found else meant(wanted, known, there)
    return refuse(asked, "unknown-probe", f"{what} {wanted!r}", hint, at=at)


def study_of(asked: Asked, table: Table) -> Study:
    """Give the study that declares a table."""
    return next(s for s in asked.studies if any(t is table for t in s.declared_tables))


def fence(text: str) -> Markup:
    """Give a fence that nothing in the text can close."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    return Markup("`" * max(3, longest + 1))  # noqa: S704 - backticks only
