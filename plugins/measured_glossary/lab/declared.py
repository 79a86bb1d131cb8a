"""An experiment as read: its files, its declaration, and what compiling it gave.

Comes in: the project's root, an experiment's id, a `Bench`. Goes out: `Declared` and `Built`, or
problems at their line. Must not know measurements or records.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import ValidationError

import measured_glossary
from measured_glossary.lab.answer import (
    ClaimAnswer,
    Compiled,
    Described,
    ProbeAnswer,
    Tabled,
)
from measured_glossary.lab.bench import Bench
from measured_glossary.lab.includes import closure
from measured_glossary.lab.means import Means
from measured_glossary.lab.record import TableData
from measured_glossary.lab.table import Table, faults, from_data
from measured_glossary.problem import Checked, Place, Problem, meant
from measured_glossary.source import Source, canonical_json, path_problem, read

COMPILED = "compiled.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """A declared experiment: its files, and the files that make up each of its sources."""

    title: str
    files: Mapping[str, Source]
    closures: Mapping[str, tuple[str, ...]]
    options: tuple[str, ...]
    architectures: tuple[str, ...] | None
    probes: tuple[ProbeAnswer, ...]
    claims: tuple[ClaimAnswer, ...]

    @property
    def inputs(self) -> dict[str, str]:
        """Each file's SHA-256."""
        return {name: source.sha256 for name, source in sorted(self.files.items())}

    @property
    def tables(self) -> tuple[Table, ...]:
        """The declared tables, without rows."""
        return tuple(from_data(probe.table.model_dump()) for probe in self.probes)

    @property
    def measured(self) -> tuple[Table, ...]:
        """The declared tables that need a GPU to be filled."""
        return tuple(table for table in self.tables if table.kind != "static")


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """Compiled code: where the cubins and listings of each architecture lie, and digests."""

    folder: Path
    compiled: Compiled
    toolchain: Mapping[str, str]

    def cubins(self, architecture: str) -> tuple[str, ...]:
        """Give the cubins of one architecture, one for each source."""
        cubins = self.compiled.cubins
        return tuple(str(self.folder / c.cubin) for c in cubins if c.architecture == architecture)

    def listings(self, architectures: tuple[str, ...]) -> dict[str, list[str]]:
        """Give the files of machine code by architecture."""
        return {
            name: [
                str(self.folder / c.sass) for c in self.compiled.cubins if c.architecture == name
            ]
            for name in architectures
        }

    @property
    def digests(self) -> dict[str, str]:
        """The SHA-256 of each listing, by architecture and source."""
        cubins = self.compiled.cubins
        return {f"{c.architecture} {c.source}": c.sass_sha256 for c in cubins}


# ── declaration ──────────────────────────────────────────────────────────────────────────────


def read_declared(root: Path, bench: Bench) -> Checked[Declared]:
    """Read an experiment's files and ask a worker what it declares."""
    experiment = read(root, bench.file)
    if experiment.value is None:
        known = [path.parent.name for path in sorted(root.glob("code/*/experiment.py"))]
        told = _meant(experiment.problems, bench.file, meant(bench.experiment, known))
        return Checked(value=None, problems=told)
    bench.lay_out({bench.file: experiment.value.raw})
    described = bench.ask(Described, "describe", bench.settings.limits.quick_s)
    if described.value is None:
        return Checked(value=None, problems=described.problems)
    closures, problems = _closures(root, bench, described.value)
    files = {name: source for each in closures.values() for name, source in each.items()}
    bench.lay_out({name: source.raw for name, source in files.items()})
    declared = _declared(experiment.value, described.value, files, closures)
    return Checked(value=None if problems else declared, problems=problems)


def _closures(
    root: Path, bench: Bench, described: Described
) -> tuple[dict[str, dict[str, Source]], tuple[Problem, ...]]:
    closures, problems = dict[str, dict[str, Source]](), list[Problem]()
    for name in described.sources:
        place = Place(bench.file, described.line)
        if bad := path_problem(name, place):
            problems.append(bad)
            continue
        file = f"code/{bench.experiment}/{name}"
        read_files = closure(root, file)
        there = [path.name for path in sorted((root / file).parent.glob("*.cu"))]
        hint = f"{place} names it; {meant(name, there)}".removesuffix("; ")
        problems += _meant(read_files.problems, file, hint)
        closures[file] = read_files.value or {}
    return closures, tuple(problems)


def _meant(problems: tuple[Problem, ...], file: str, hint: str) -> tuple[Problem, ...]:
    """Say of a file that is not there which one was meant, or who names it."""
    return tuple(
        replace(each, hint=hint) if (each.code, each.place.file) == ("missing-file", file) else each
        for each in problems
    )


def _declared(
    experiment: Source,
    described: Described,
    files: Mapping[str, Source],
    closures: Mapping[str, Mapping[str, Source]],
) -> Declared:
    architectures = described.architectures
    return Declared(
        title=described.title,
        files={**files, experiment.file: experiment},
        closures={name: tuple(sorted(each)) for name, each in closures.items()},
        options=tuple(described.options),
        architectures=None if architectures is None else tuple(architectures),
        probes=tuple(described.probes),
        claims=tuple(described.claims),
    )


# ── compiling ────────────────────────────────────────────────────────────────────────────────


def build(bench: Bench, declared: Declared, means: Means) -> Checked[Built]:
    """Compile an experiment, or take what was compiled from the same bytes before.

    No value and no problem: this machine cannot compile.
    """
    if means.missing:
        return Checked(value=None)
    architectures = wanted_architectures(declared, means)
    return _build(bench, declared, means.toolchain, architectures=list(architectures))


def build_with_lines(
    bench: Bench, declared: Declared, built: Built, architecture: str
) -> Checked[Built]:
    """Compile for one architecture once more, so that a tool can name source lines."""
    return _build(bench, declared, built.toolchain, architectures=[architecture], line_info=True)


def _build(
    bench: Bench, declared: Declared, toolchain: Mapping[str, str], **more: Any
) -> Checked[Built]:
    asked = {
        "files": {name: list(files) for name, files in sorted(declared.closures.items())},
        "options": list(declared.options),
        **more,
    }
    cache = bench.settings.cache or bench.folder
    folder = cache / "compiled" / _key(declared, toolchain, asked)
    compiled = _remembered(folder)
    if compiled is None:
        checked = _compile(bench, folder, asked)
        if checked.value is None:
            return Checked(value=None, problems=checked.problems)
        compiled = checked.value
    return Checked(value=Built(folder=folder, compiled=compiled, toolchain=toolchain))


def wanted_architectures(declared: Declared, means: Means) -> tuple[str, ...]:
    """Give what to compile for: what is declared, or all there is, and this machine's own."""
    own = means.machine.architecture if means.machine else ""
    wanted = list(declared.architectures or means.architectures)
    return tuple([*wanted, own] if own and own not in wanted else wanted)


def _key(declared: Declared, toolchain: Mapping[str, str], asked: Mapping[str, Any]) -> str:
    parts = {
        "asked": asked,
        "inputs": declared.inputs,
        "toolchain": toolchain,
        "version": measured_glossary.__version__,
    }
    return hashlib.sha256(canonical_json(parts)).hexdigest()


def _remembered(folder: Path) -> Compiled | None:
    """Read what was compiled before; whatever is not whole is compiled again."""
    try:
        compiled = Compiled.model_validate_json((folder / COMPILED).read_bytes())
    except (OSError, ValidationError):
        return None
    files = [folder / name for cubin in compiled.cubins for name in (cubin.cubin, cubin.sass)]
    return compiled if all(file.is_file() for file in files) else None


def _compile(bench: Bench, folder: Path, asked: Mapping[str, Any]) -> Checked[Compiled]:
    """Compile into a folder beside `folder`, then give it its name: it is whole or not there."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(prefix="part-", dir=folder.parent))
    try:
        limit_s = bench.settings.limits.compile_s
        compiled = bench.ask(Compiled, "compile", limit_s, folder=str(part), **asked)
        if compiled.value is not None:
            (part / COMPILED).write_text(compiled.value.model_dump_json(), encoding="utf-8")
            shutil.rmtree(folder, ignore_errors=True)
            part.rename(folder)
        return compiled
    finally:
        shutil.rmtree(part, ignore_errors=True)


# ── static tables ────────────────────────────────────────────────────────────────────────────


def read_static(bench: Bench, declared: Declared, built: Built) -> Checked[tuple[Table, ...]]:
    """Run the static probes over the machine code."""
    names = tuple(dict.fromkeys(cubin.architecture for cubin in built.compiled.cubins))
    expected = tuple(table for table in declared.tables if table.kind == "static")
    if not expected:
        return Checked(value=())
    sass = built.listings(tuple(n for n in names if n in (declared.architectures or names)))
    answer = bench.ask(Tabled, "static", bench.settings.limits.quick_s, sass=sass)
    if answer.value is None:
        return Checked(value=None, problems=answer.problems)
    return checked_tables(bench, answer.value.tables, expected)


def checked_tables(
    bench: Bench, answers: list[TableData], expected: tuple[Table, ...]
) -> Checked[tuple[Table, ...]]:
    """Take tables from a worker through the same checks that it should have made."""
    tables = tuple(from_data(answer.model_dump()) for answer in answers)
    found = [f"{table.name}: {fault.message}" for table in tables for fault in faults(table)]
    if [heading(table) for table in tables] != [heading(table) for table in expected]:
        found.append("the tables are not those that the experiment declares")
    problems = tuple(
        Problem(place=Place(bench.file), code="worker-damaged-result", message=message)
        for message in found
    )
    return Checked(value=None if problems else tables, problems=problems)


def heading(table: Table) -> Table:
    """Give what an experiment's file decides of a table: all but rows and number of launches."""
    return replace(table, rows=(), launches=0)
