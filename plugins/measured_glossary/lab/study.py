"""All that is known of one experiment in this build.

Comes in: the project's root, an experiment's id and `Settings`. Goes out: a `Study`: its files,
measurements, claims and problems. Must not know of entries, verdicts or pages, nor run author code.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from measured_glossary.lab.record import Record, Reported
from measured_glossary.lab.table import Table
from measured_glossary.problem import Place, Problem
from measured_glossary.source import Source

State = Literal["held", "refuted", "not checked here"]
Origin = Literal["live", "recorded"]
Freshness = Literal["fresh", "stale", "foreign"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredClaim:
    """A claim as its author wrote it: the sentence that is printed, the tables it reads."""

    name: str
    text: str
    tables: tuple[str, ...]
    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimResult:
    """A claim checked: `detail` says why it is refuted, or why it was not checked here."""

    name: str
    text: str
    state: State
    detail: str
    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One record with what this build makes of it.

    `changed` names the inputs that are not those of the record; `log` is what a live run printed.
    """

    record: Record
    origin: Origin
    freshness: Freshness
    changed: tuple[str, ...]
    claims: tuple[ClaimResult, ...]
    log: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """All that is known of one experiment.

    `inputs` maps each file to its SHA-256 and `files` to its content; `declared_tables` are the
    tables without rows. `static` was found in this build's machine code, `claims` are the results
    that rest on it alone, and `notes` say what this machine could not do. Live measurements come
    first, then the recorded ones by machine.
    """

    id: str
    title: str
    inputs: Mapping[str, str]
    files: Mapping[str, Source]
    declared_claims: tuple[DeclaredClaim, ...]
    declared_tables: tuple[Table, ...]
    measurements: tuple[Measurement, ...]
    reported: tuple[Reported, ...]
    static: tuple[Table, ...]
    claims: tuple[ClaimResult, ...]
    notes: tuple[str, ...]
    problems: tuple[Problem, ...]
