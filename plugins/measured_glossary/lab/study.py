"""All that is known of one experiment in a build, as values.

Comes in: nothing. Goes out: `Study`: an experiment's files, measurements, claims and problems. Must
not know of entries, verdicts or pages, nor how an experiment is studied: `studies` does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from measured_glossary.lab.record import Record, Reported
from measured_glossary.lab.sass import Sass
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
class Attestation:
    """A machine's signature over a record's bytes, verified; `by` names the machine and its key."""

    by: str
    signature: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """One record with what this build makes of it.

    `changed` names the inputs that are not those of the record. `attestation` is there once
    somebody with a registry has verified one.
    """

    record: Record
    origin: Origin
    freshness: Freshness
    changed: tuple[str, ...]
    claims: tuple[ClaimResult, ...]
    attestation: Attestation | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The machine code of one source for one architecture, and what made it."""

    source: str
    architecture: str
    sass: Sass
    toolchain: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """All that is known of one experiment.

    `inputs` maps each file to its SHA-256 and `files` to its content; `declared_tables` are the
    tables without rows. `static` was found in this build's machine code, `claims` are the results
    that rest on it alone, and `notes` say what this machine could not do; `listings` are that
    machine code. Live measurements come first, then the recorded ones by machine.
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
    listings: tuple[Listing, ...] = ()
