"""Where a table comes from, in the words and looks of pages: live, recorded, reported.

Comes in: the studies of an entry's experiments. Goes out: `Reading`s, a table each with its
origin. Must not know what an entry is. The three words are chosen here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Literal

from markupsafe import Markup

from measured_glossary.lab.record import Machine, Record, Reported, Timing
from measured_glossary.lab.study import Listing, Measurement, Study
from measured_glossary.lab.table import Table, shown
from measured_glossary.markup import fill
from measured_glossary.problem import Problem

Origin = Literal["live", "recorded", "reported"]

_BADGES: dict[Origin, str] = {
    "live": "Live",
    "recorded": "Recorded",
    "reported": "Reported, not measured here",
}
_FACTS = {
    "name": "Machine",
    "compute_capability": "Compute capability",
    "driver": "Driver",
    "cuda": "CUDA",
    "mig": "MIG partition",
    "multiprocessors": "Multiprocessors",
    "memory_bytes": "Memory, bytes",
    "l2_bytes": "L2 cache, bytes",
    "shared_memory_per_block_bytes": "Shared memory a block, bytes",
    "shared_memory_per_block_optin_bytes": "… with opt-in, bytes",
    "shared_memory_per_multiprocessor_bytes": "… a multiprocessor, bytes",
    "sm_clock_max_mhz": "Highest SM clock, MHz",
    "memory_clock_max_mhz": "Highest memory clock, MHz",
    "ecc": "Error correction (ECC)",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """A table, or a whole run, with its origin: the badge, and the words that go with it.

    `record` is the run's, where it was a run.
    """

    origin: Origin
    words: str
    where: str
    table: Table | None = None
    record: Record | None = None

    @property
    def badge(self) -> str:
        """The word that tells where the numbers come from."""
        return _BADGES[self.origin]


def readings(studies: Sequence[Study], name: str) -> tuple[Reading, ...]:
    """Give every reading of the table called `name`, or `experiment.name`: live ones first."""
    found = [reading for study in studies for reading in _of_study(study, name)]
    return tuple(sorted(found, key=lambda reading: reading.origin != "live"))


def _of_study(study: Study, name: str) -> Iterator[Reading]:
    plain = name.removeprefix(f"{study.id}.")
    here = [table for table in study.static if table.name == plain]
    for table in here:
        # The same code gives the same machine code on every machine: records add nothing to it.
        words = "Compiled and counted by this build; this needs no GPU."
        yield Reading(origin="live", words=words, where="in this build's machine code", table=table)
    for measurement in () if here else study.measurements:
        for table in measurement.record.tables:
            if table.name == plain:
                yield of_run(measurement, table)


def is_static(study: Study) -> bool:
    """Say whether all that an experiment has is counted in machine code: it needs no GPU."""
    tables = study.declared_tables
    return bool(tables) and all(table.kind == "static" for table in tables)


def faults(study: Study) -> tuple[Problem, ...]:
    """Give what is wrong with an experiment, other than that this machine cannot measure it."""
    return tuple(each for each in study.problems if each.code not in ("no-gpu", "no-compiler"))


def trouble(study: Study) -> str:
    """Say in a few words why an experiment gives nothing, if it is at fault itself."""
    codes = {fault.code for fault in faults(study)}
    if "compile-error" in codes:
        return "the code does not compile"
    return "the experiment has a fault" if codes else ""


def unread(study: Study, table: Table) -> Markup:
    """Say why there is no reading of a table, and what would give one."""
    return fill(
        "unread.html",
        id=study.id,
        is_static=table.kind == "static",
        trouble=trouble(study),
        faults=faults(study),
        notes=study.notes,
    )


def of_run(measurement: Measurement, table: Table | None = None) -> Reading:
    """Give a measurement, or one table of it, with the words for its origin."""
    record = measurement.record
    machine, day = record.machine.name, record.captured[:10]
    launches = _launches(table) if table else ""
    if measurement.origin == "live":
        words = f"Measured by this build on {machine}, {day}{launches}."
    else:
        words = f"Measured on {machine}, {day}{launches}; not run again by this build."
    return Reading(
        origin=measurement.origin,
        words=words + _stale(measurement),
        where=f"{measurement.origin} on {machine}, {day}",
        table=table,
        record=record,
    )


def _launches(table: Table) -> str:
    if table.launches > 1:
        return f", {table.launches:,} launches a row"
    return ", one launch a row" if table.launches else ""


def _stale(measurement: Measurement) -> str:
    if measurement.freshness != "stale":
        return ""
    return f" The code is another one since: {', '.join(measurement.changed)} changed."


def of_code(listing: Listing) -> Reading:
    """Give the origin of a listing of machine code: this build, whatever machine it runs on."""
    tools = " and ".join(f"{_tool(name)} {v}" for name, v in sorted(listing.toolchain.items()))
    words = f"Compiled by this build with {tools}; this needs no GPU."
    return Reading(origin="live", words=words, where="in this build's machine code")


def of_report(report: Reported, table: Table) -> Reading:
    """Give a table of somebody else's figures."""
    words = f"{report.machine_name}, {report.toolchain}, {report.captured}."
    return Reading(
        origin="reported", words=words, where=f"reported for {report.machine_name}", table=table
    )


def fingerprint(record: Record) -> str:
    """Give the one line that says on what, with what and when a record was measured."""
    machine = record.machine
    parts = [f"{machine.name} (compute capability {machine.compute_capability})"]
    parts += [f"driver {machine.driver}"] if machine.driver else []
    parts += [f"CUDA {machine.cuda}"] if machine.cuda else []
    parts += [f"{_tool(name)} {version}" for name, version in sorted(record.toolchain.items())]
    return f"{', '.join(parts)}, captured {record.captured[:10]}."


def facts(run: Measurement) -> tuple[tuple[str, str], ...]:
    """Give all that a record says of its machine and of the run, as pairs of name and value."""
    record = run.record
    tools = ", ".join(f"{_tool(name)} {v}" for name, v in sorted(record.toolchain.items()))
    options = " ".join(record.options)
    found = [
        *_machine(record.machine),
        ("Compiled with", f"{tools} {options}".strip()),
        ("Captured", record.captured.replace("T", " ").replace("Z", " UTC")),
        ("Seed", str(record.seed)),
        *(("State " + when, _state(state)) for when, state in sorted(record.conditions.items())),
        *((f"Times of {timing.table}", _timing(timing)) for timing in record.timings),
        *((f"SHA-256 of {file}", digest) for file, digest in sorted(record.inputs.items())),
        ("SHA-256 of the record", record.digest),
        ("Signed by the machine", attested(run)),
    ]
    return tuple((name, value) for name, value in found if value)


def attested(run: Measurement) -> str:
    """Say whether a machine's key signed a record; what is live has none to be signed yet."""
    if run.origin == "live":
        return ""
    return run.attestation.by if run.attestation else "no"


def _timing(timing: Timing) -> str:
    """Say how a table was timed: cache, why it stopped, what was discarded, at which clocks."""
    flushed = f"{timing.flushed_bytes:,} bytes overwritten before each sample"
    clocks = sorted({mhz for batch in timing.batches for mhz in batch.sm_clock_mhz})
    brakes = sorted({name for batch in timing.batches for name in batch.throttle_reasons})
    parts = [
        f"{timing.cache} cache" + (f", {flushed}" if timing.flushed_bytes else ""),
        "until the medians had settled"
        if timing.stopped == "settled"
        else f"to the {timing.stopped}",
        f"{len(timing.batches):,} batches",
        f"{timing.discarded:,} samples a cell discarded"
        + (f" ({', '.join(brakes)})" if brakes else ""),
        f"SM clock {clocks[0]:,} to {clocks[-1]:,} MHz" if clocks else "",
    ]
    return "; ".join(part for part in parts if part)


def _machine(machine: Machine) -> Iterator[tuple[str, str]]:
    for field in fields(machine):
        value = getattr(machine, field.name)
        if value not in (None, ""):
            yield _FACTS[field.name], shown(value)


def _state(state: object) -> str:
    if not isinstance(state, dict):
        return str(state)
    known = ((name, value) for name, value in sorted(state.items()) if value is not None)
    return ", ".join(f"{name.replace('_', ' ')} {_listed(value)}" for name, value in known)


def _listed(value: object) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(str, value)) or "none"
    return shown(value)


def _tool(name: str) -> str:
    return {"nvrtc": "NVRTC", "cupy": "CuPy", "python": "Python"}.get(name, name)
