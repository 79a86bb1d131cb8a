"""Sanitizer probes: each case under each of its tools, in a process of its own.

Comes in: a declared and compiled experiment. Goes out: tables of verdicts, and what was found. Must
not know how a tool's report is read, nor let a tool that is missing or fails pass for a clean one.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from measured_glossary.lab import sanitizer
from measured_glossary.lab.answer import ProbeAnswer, SanitizedAnswer
from measured_glossary.lab.bench import Bench
from measured_glossary.lab.cases import ENDINGS, Ended, Job, side_by_side
from measured_glossary.lab.declared import Built, Declared, build_with_lines
from measured_glossary.lab.record import Finding
from measured_glossary.lab.runner import Ran
from measured_glossary.lab.sanitizer import Output, Report, Sanitizer
from measured_glossary.lab.table import Plain, Table, from_data, pairs
from measured_glossary.problem import Checked

START_LIMIT_S = 180  # a tool makes loading CuPy slow as well
MAX_REPORT_BYTES = 64 << 20
MISSING = "compute-sanitizer is not installed"
OTHER_CODE = "line information changes the machine code"


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspected:
    """The tables of all sanitizer probes, what was found, and the version of compute-sanitizer."""

    tables: tuple[Table, ...] = ()
    findings: tuple[Finding, ...] = ()
    toolchain: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """One case of one probe under one tool; `number` tells it from those under way beside it."""

    probe: ProbeAnswer
    case: int
    tool: str
    number: int

    @property
    def key(self) -> dict[str, Plain]:
        """The values of the table's key, in its order: that of the case is its author's."""
        values = {**self.probe.cases[self.case], "tool": self.tool}
        return {column.name: values[column.name] for column in self.probe.table.key}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cubins:
    """Cubins with line information; `same`: the machine code is the one that is measured."""

    files: tuple[str, ...]
    same: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """What there is to inspect; without a tool or runs, there are no cubins either."""

    runs: tuple[_Run, ...]
    tool: Sanitizer | None = None
    cubins: _Cubins | None = None


def prepare(bench: Bench, declared: Declared, built: Built, architecture: str) -> Checked[Prepared]:
    """Find the tool and compile with line information; no GPU is needed."""
    runs = tuple(_runs(declared))
    tool = sanitizer.find() if runs else None
    if tool is None:
        return Checked(value=Prepared(runs=runs))
    lined = build_with_lines(bench, declared, built, architecture)
    if lined.value is None:
        return Checked(value=None, problems=lined.problems)
    same = lined.value.digests.items() <= built.digests.items()
    cubins = _Cubins(files=lined.value.cubins(architecture), same=same)
    return Checked(value=Prepared(runs=runs, tool=tool, cubins=cubins))


def inspect(
    bench: Bench, declared: Declared, prepared: Prepared, begin: Callable[[], None]
) -> Checked[Inspected]:
    """Run every sanitizer probe of an experiment; where there is none, nothing is done.

    Only what hung under its tool before does not wait for `begin`.
    """
    runs, tool, cubins = prepared.runs, prepared.tool, prepared.cubins
    if tool is None or cubins is None:
        missing = tuple(sanitizer.inconclusive(MISSING) for _ in runs)
        return Checked(value=_inspected(declared, runs, missing, {}))
    jobs = [
        Job(
            task=run.probe.table.name,
            run=partial(_watched, bench, declared, tool, cubins, run),
            hung_before=bench.endings.get((run.probe.table.name, pairs(run.key))) == "hung",
        )
        for run in runs
    ]
    done = side_by_side(bench, jobs, bench.places.tools, begin=begin)
    problems = tuple(problem for each in done for problem in each.problems)
    if problems:
        return Checked(value=None, problems=problems)
    reports = tuple(each.value for each in done if each.value is not None)
    toolchain = {"compute-sanitizer": tool.version}
    return Checked(value=_inspected(declared, runs, reports, toolchain))


def _runs(declared: Declared) -> Iterator[_Run]:
    probes = (probe for probe in declared.probes if probe.table.kind == "sanitizer")
    wanted = ((p, case, tool) for p in probes for case in range(len(p.cases)) for tool in p.tools)
    for number, (probe, case, tool) in enumerate(wanted):
        yield _Run(probe=probe, case=case, tool=tool, number=number)


# ── one run ──────────────────────────────────────────────────────────────────────────────────


def _watched(
    bench: Bench, declared: Declared, tool: Sanitizer, cubins: _Cubins, run: _Run
) -> Ended[Report]:
    """Run one case under one tool and read what the tool wrote."""
    place, proof = bench.place("sanitized"), f"ran {secrets.token_hex(16)}"
    ran = bench.run_in(
        place,
        SanitizedAnswer,
        "sanitized",
        run.probe.limit_s,
        under=tool.command(run.tool, place, run.number),
        start_limit_s=START_LIMIT_S,
        cubins=list(cubins.files),
        seed=bench.settings.seed,
        probe=run.probe.table.name,
        case=run.case,
        proof=proof,
    )
    _keep(bench, run, place, ran.log)
    abruptly = ran.answer.value is None or ran.answer.value.outcome != "returned"
    hung = ran.outcome == "hung"
    if ran.answer.problems:
        given: Checked[Report] = Checked(value=None, problems=ran.answer.problems)
        return Ended(given=given, abruptly=abruptly, hung=hung)
    report = _report(tool, run.tool, ran, place, proof, declared)
    if not cubins.same:
        report = sanitizer.inconclusive(OTHER_CODE)
    return Ended(given=Checked(value=report), abruptly=abruptly, hung=hung)


def _keep(bench: Bench, run: _Run, place: Path, printed: str) -> None:
    """Keep what was written, for whoever asked for it: to see why a run is inconclusive."""
    if bench.settings.reports is None:
        return
    words = [str(value).replace(" ", "-") for value in run.key.values()]
    name = "-".join([run.probe.table.name, *words])
    folder = bench.settings.reports / bench.experiment / name.replace("/", "-")
    folder.mkdir(parents=True, exist_ok=True)
    for file in (sanitizer.LOG, sanitizer.XML):
        (folder / file).write_text(_text(place / file), encoding="utf-8")
    (folder / "printed.log").write_text(printed, encoding="utf-8")


def _report(
    program: Sanitizer,
    tool: str,
    ran: Ran[SanitizedAnswer],
    place: Path,
    proof: str,
    declared: Declared,
) -> Report:
    answer = ran.answer.value
    output = Output(
        log=_text(place / sanitizer.LOG),
        xml=_text(place / sanitizer.XML),
        proved=proof in ran.log.splitlines() and answer is not None,
        watched=answer is not None and answer.watched,
        lists_launches=program.lists_launches,
    )
    report = sanitizer.read_report(tool, output, declared.files)
    if report.verdict == "inconclusive" and ran.outcome in ENDINGS:
        return sanitizer.inconclusive(f"{ran.outcome} under the tool: {report.reason}")
    return report


def _text(path: Path) -> str:
    if not path.is_file() or path.stat().st_size > MAX_REPORT_BYTES:
        return ""
    return path.read_text(encoding="utf-8", errors="replace")


# ── tables ───────────────────────────────────────────────────────────────────────────────────


def _inspected(
    declared: Declared,
    runs: tuple[_Run, ...],
    reports: tuple[Report, ...],
    toolchain: Mapping[str, str],
) -> Inspected:
    rows: dict[str, list[dict[str, Plain]]] = {}
    for run, report in zip(runs, reports, strict=True):
        rows.setdefault(run.probe.table.name, []).append(_row(run, report))
    tables = (
        from_data({**probe.table.model_dump(), "rows": rows[probe.table.name]})
        for probe in declared.probes
        if probe.table.kind == "sanitizer"
    )
    findings = (
        finding
        for run, report in zip(runs, reports, strict=True)
        for finding in _found(run, report)
    )
    return Inspected(tables=tuple(tables), findings=tuple(findings), toolchain=toolchain)


def _row(run: _Run, report: Report) -> dict[str, Plain]:
    return {
        **run.key,
        "verdict": report.verdict,
        "errors": report.errors,
        "warnings": report.warnings,
        "reason": report.reason,
    }


def _found(run: _Run, report: Report) -> Iterator[Finding]:
    for each in report.reported:
        yield Finding(
            table=run.probe.table.name,
            row=pairs(run.key),
            severity=each.severity,
            kind=each.kind,
            count=each.count,
            kernel=each.kernel,
            lines=each.lines,
        )
