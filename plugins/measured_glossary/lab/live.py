"""A measurement on this machine's GPU.

Comes in: a declared and compiled experiment, the machine. Goes out: a `Record`, or problems; a
case that hangs or crashes is a row and not a problem. Must not write into the project.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import measured_glossary
from measured_glossary.lab.answer import CaseAnswer, Means, Measured, ProbeAnswer
from measured_glossary.lab.bench import Bench, Settings
from measured_glossary.lab.compile import effective_options
from measured_glossary.lab.declared import Built, Declared, checked_tables
from measured_glossary.lab.record import (
    SCHEMA,
    Machine,
    Record,
    check_record,
    read_record,
    write_record,
)
from measured_glossary.lab.table import Plain, Table, from_data
from measured_glossary.problem import Checked
from measured_glossary.source import canonical_json, read

Row = dict[str, Plain]

ENDINGS = ("hung", *(f"crashed (SIG{name})" for name in ("ABRT", "BUS", "FPE", "ILL", "SEGV")))


def measure_live(
    bench: Bench, declared: Declared, built: Built, means: Means, machine: Machine
) -> Checked[Record]:
    """Run all probes that need the GPU; each outcome case has a process of its own."""
    request = {
        "cubins": list(built.cubins(machine.architecture)),
        "seed": bench.settings.seed,
        "launches": bench.settings.launches,
    }
    measured = _runtime_tables(bench, declared, request)
    outcomes = _outcome_tables(bench, declared, request)
    problems = (*measured.problems, *outcomes.problems)
    if measured.value is None or outcomes.value is None:
        return Checked(value=None, problems=problems)
    run, runtime = measured.value
    record = Record(
        experiment=bench.experiment,
        machine=machine,
        captured=run.captured,
        inputs=declared.inputs,
        toolchain={**built.toolchain, **run.toolchain},
        options=effective_options(machine.architecture, declared.options),
        seed=bench.settings.seed,
        tables=_in_order(declared, (*runtime, *outcomes.value)),
        conditions={
            when: state.model_dump(exclude_none=True) for when, state in run.conditions.items()
        },
        evidence={"sass": built.digests},
    )
    return check_record(record)


def _runtime_tables(
    bench: Bench, declared: Declared, request: Mapping[str, Any]
) -> Checked[tuple[Measured, tuple[Table, ...]]]:
    ran = bench.run(Measured, "run", bench.settings.limits.run_s, **request)
    answer = bench.answer_of(ran, "run")
    if answer.value is None:
        return Checked(value=None, problems=answer.problems)
    expected = tuple(table for table in declared.tables if table.kind == "runtime")
    tables = checked_tables(bench, answer.value.tables, expected)
    if tables.value is None:
        return Checked(value=None, problems=tables.problems)
    return Checked(value=(answer.value, tables.value))


def _in_order(declared: Declared, tables: tuple[Table, ...]) -> tuple[Table, ...]:
    names = [table.name for table in declared.measured]
    return tuple(sorted(tables, key=lambda table: names.index(table.name)))


# ── outcomes ─────────────────────────────────────────────────────────────────────────────────


def _outcome_tables(
    bench: Bench, declared: Declared, request: Mapping[str, Any]
) -> Checked[tuple[Table, ...]]:
    probes = [probe for probe in declared.probes if probe.table.kind == "outcome"]
    done = [_outcome_table(bench, probe, request) for probe in probes]
    problems = tuple(problem for each in done for problem in each.problems)
    tables = tuple(each.value for each in done if each.value is not None)
    return Checked(value=None if problems else tables, problems=problems)


def _outcome_table(bench: Bench, probe: ProbeAnswer, request: Mapping[str, Any]) -> Checked[Table]:
    rows = []
    for index in range(len(probe.cases)):
        row = _case(bench, probe, index, request)
        if row.value is None:
            return Checked(value=None, problems=row.problems)
        rows.append(row.value)
        bench.progress(probe.table.name, index + 1, len(probe.cases))
    return Checked(value=from_data({**probe.table.model_dump(), "rows": rows}))


def _case(bench: Bench, probe: ProbeAnswer, index: int, request: Mapping[str, Any]) -> Checked[Row]:
    """Run one case: hanging or crashing once its work had begun is its outcome.

    Being killed from outside, or leaving with a status, is not: no kernel does that.
    """
    more = {"probe": probe.table.name, "case": index}
    ran = bench.run(CaseAnswer, "case", probe.limit_s, **request, **more)
    if ran.begun and ran.outcome in ENDINGS:
        empty: Row = {column.name: None for column in probe.table.columns}
        return Checked(value={**probe.cases[index], **empty, "outcome": ran.outcome})
    answer = bench.answer_of(ran, f"case {index + 1} of {probe.table.name}")
    if answer.value is None:
        return Checked(value=None, problems=answer.problems)
    return Checked(value=answer.value.row)


# ── remembering ──────────────────────────────────────────────────────────────────────────────


def remembered(
    settings: Settings, experiment: str, declared: Declared, means: Means, machine: Machine
) -> Record | None:
    """Give what was measured live from the same bytes on the same machine before."""
    folder = _folder(settings, declared, means)
    if folder is None:
        return None
    file = f"measurements/{experiment}/{machine.id}.json"
    source = read(folder, file)
    return read_record(source.value).value if source.value else None


def remember(settings: Settings, declared: Declared, means: Means, record: Record) -> None:
    """Keep a live result, so that the next build of the same bytes need not measure again."""
    folder = _folder(settings, declared, means)
    if folder is not None:
        write_record(folder, record)


def _folder(settings: Settings, declared: Declared, means: Means) -> Path | None:
    if settings.cache is None:
        return None
    parts = {
        "inputs": declared.inputs,
        "launches": settings.launches,
        "machine": means.machine.model_dump() if means.machine else None,
        "schema": SCHEMA,
        "seed": settings.seed,
        "toolchain": means.toolchain,
        "version": measured_glossary.__version__,
    }
    return settings.cache / "live" / hashlib.sha256(canonical_json(parts)).hexdigest()
