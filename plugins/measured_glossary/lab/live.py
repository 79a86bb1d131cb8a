"""A measurement on this machine's GPU.

Comes in: a declared and compiled experiment, the machine. Goes out: a `Record`, or problems; a
case that hangs or crashes is a row and not a problem. Must not write into the project.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import measured_glossary
from measured_glossary.lab.answer import Measured
from measured_glossary.lab.bench import Bench
from measured_glossary.lab.cases import (
    ENDINGS,
    answers,
    gpu_lost,
    outcome_tables,
    returned_again,
)
from measured_glossary.lab.compile import effective_options
from measured_glossary.lab.declared import Built, Declared, checked_tables
from measured_glossary.lab.inspection import inspect, prepare
from measured_glossary.lab.means import Means
from measured_glossary.lab.record import (
    SCHEMA,
    Machine,
    Record,
    check_record,
    read_record,
    timing_from,
    write_record,
)
from measured_glossary.lab.settings import Settings
from measured_glossary.lab.table import Table
from measured_glossary.lab.turns import Turn
from measured_glossary.problem import Checked, Refused
from measured_glossary.source import canonical_json, read

T = TypeVar("T")
U = TypeVar("U")


def measure_live(
    bench: Bench, declared: Declared, built: Built, machine: Machine, turn: Turn
) -> Checked[Record]:
    """Run all probes that need the GPU.

    Runtime and timed probes have it alone, and so has what returned before. Then all other cases
    run side by side, then all sanitizers, beside what is known to hang.
    """
    request = {
        "cubins": list(built.cubins(machine.architecture)),
        "seed": bench.settings.seed,
        "launches": bench.settings.launches,
    }
    prepared = prepare(bench, declared, built, machine.architecture)
    if prepared.value is None:
        return Checked(value=None, problems=prepared.problems)
    with turn.alone():
        if bench.places.lost.after:
            return gpu_lost(bench)
        measured = _runtime_tables(bench, declared, request)
        returned = returned_again(bench, declared, request)
    turn.passes("alone")
    turn.wait_for_all("alone")
    cases = partial(outcome_tables, bench, declared, request, returned)
    outcomes, inspected = _together(cases, partial(inspect, bench, declared, prepared.value), turn)
    problems = (*measured.problems, *outcomes.problems, *inspected.problems)
    if measured.value is None or outcomes.value is None or inspected.value is None:
        return Checked(value=None, problems=problems)
    run, runtime = measured.value
    tables = (*runtime, *outcomes.value, *inspected.value.tables)
    record = Record(
        experiment=bench.experiment,
        machine=machine,
        captured=run.captured,
        inputs=declared.inputs,
        toolchain={**built.toolchain, **run.toolchain, **inspected.value.toolchain},
        options=effective_options(machine.architecture, declared.options),
        seed=bench.settings.seed,
        tables=_in_order(declared, tables),
        conditions=_conditions(run),
        evidence={"sass": built.digests},
        findings=inspected.value.findings,
        timings=tuple(timing_from(each.model_dump()) for each in run.timings),
    )
    return check_record(record)


def _together(
    cases: Callable[[Callable[[], None]], T], tools: Callable[[Callable[[], None]], U], turn: Turn
) -> tuple[T, U]:
    """Run cases, and under tools what hangs there; all other tools wait for everybody's cases."""
    with ThreadPoolExecutor(1, thread_name_prefix="inspect") as pool:
        under_way = pool.submit(tools, partial(turn.wait_for_all, "cases"))
        try:
            outcomes = cases(partial(turn.passes, "cases"))
        finally:
            turn.passes("cases")
        return outcomes, under_way.result()


def _conditions(run: Measured) -> dict[str, dict[str, Any]]:
    return {when: state.model_dump(exclude_none=True) for when, state in run.conditions.items()}


def _runtime_tables(
    bench: Bench, declared: Declared, request: Mapping[str, Any]
) -> Checked[tuple[Measured, tuple[Table, ...]]]:
    timed_s = sum(probe.limit_s for probe in declared.probes if probe.table.kind == "timed")
    ran = bench.run_warm(Measured, "run", bench.settings.limits.run_s + timed_s, **request)
    if ran.begun and ran.outcome in ENDINGS:
        answers(bench, after="the runtime probes")
    answer = bench.answer_of(ran, "run")
    if answer.value is None:
        return Checked(value=None, problems=answer.problems)
    kinds = ("runtime", "timed")  # in this order they were run
    expected = tuple(table for kind in kinds for table in declared.tables if table.kind == kind)
    tables = checked_tables(bench, answer.value.tables, expected)
    if tables.value is None:
        return Checked(value=None, problems=tables.problems)
    return Checked(value=(answer.value, tables.value))


def _in_order(declared: Declared, tables: tuple[Table, ...]) -> tuple[Table, ...]:
    names = [table.name for table in declared.measured]
    return tuple(sorted(tables, key=lambda table: names.index(table.name)))


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
    """Keep a live result, so that the next build of the same bytes need not measure again.

    Where the system lets no cache be written, it will measure again.
    """
    folder = _folder(settings, declared, means)
    if folder is not None:
        with suppress(Refused):
            write_record(folder, record)


def _folder(settings: Settings, declared: Declared, means: Means) -> Path | None:
    if settings.cache is None:
        return None
    parts = {
        "inputs": declared.inputs,
        "launches": settings.launches,
        "machine": asdict(means.machine) if means.machine else None,
        "schema": SCHEMA,
        "seed": settings.seed,
        "toolchain": dict(means.toolchain),
        "version": measured_glossary.__version__,
    }
    return settings.cache / "live" / hashlib.sha256(canonical_json(parts)).hexdigest()
