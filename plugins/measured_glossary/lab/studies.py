"""Experiments studied: run here, or read from their records, and their claims checked.

Comes in: the project's root, experiments' ids and `Settings`. Goes out: a `Study` of each. Must not
know of entries, verdicts or pages, nor run author code: a worker does.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event
from typing import Any

from measured_glossary.lab.answer import Checks, ClaimAnswer, ResultAnswer
from measured_glossary.lab.bench import Bench
from measured_glossary.lab.declared import (
    Built,
    Declared,
    build,
    heading,
    read_declared,
    read_static,
)
from measured_glossary.lab.live import measure_live, remember, remembered
from measured_glossary.lab.means import Means, find_means, missing_means
from measured_glossary.lab.record import (
    MEASUREMENTS,
    REPORTED_SUFFIX,
    Machine,
    Record,
    Reported,
    read_record,
    read_reported,
    write_record,
)
from measured_glossary.lab.sass import Sass
from measured_glossary.lab.settings import Settings
from measured_glossary.lab.study import (
    ClaimResult,
    DeclaredClaim,
    Freshness,
    Listing,
    Measurement,
    Origin,
    Study,
)
from measured_glossary.lab.table import Table, to_data
from measured_glossary.lab.turns import Places, Turn, Turns
from measured_glossary.lab.warm import WarmWorker
from measured_glossary.problem import Checked, Place, Problem
from measured_glossary.source import read

# ── starting and collecting ──────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lab:
    """What the studies of one build share: its settings, what the machine can do, one GPU."""

    root: Path
    settings: Settings
    means: Future[Checked[Means]]
    turns: Turns
    warm: WarmWorker
    places: Places = field(default_factory=Places)


@dataclass(frozen=True, slots=True, kw_only=True)
class Studies:
    """Studies under way, in threads of their own."""

    pool: ThreadPoolExecutor
    running: tuple[Future[Study], ...]
    stop: Event
    warm: WarmWorker

    def collect(self) -> tuple[Study, ...]:
        """Wait for all of them and give them in the order they were asked for."""
        try:
            return tuple(future.result() for future in self.running)
        except BaseException:  # Ctrl-C above all: nobody waits for the others either
            self.give_up()
            raise
        finally:
            self.pool.shutdown()
            self.warm.close()

    def give_up(self) -> None:
        """Kill every worker and start none; for whoever does not collect."""
        self.stop.set()
        self.pool.shutdown(wait=False, cancel_futures=True)


def start_studies(root: Path, ids: Sequence[str], settings: Settings) -> Studies:
    """Begin to study experiments side by side, each in a thread: most of the time they wait."""
    pool = ThreadPoolExecutor(max_workers=len(ids) + 1, thread_name_prefix="study")
    warm = WarmWorker(settings.command, settings.stop)
    lab = _Lab(
        root=root,
        settings=settings,
        means=pool.submit(find_means, settings, warm),
        turns=Turns(len(ids), settings.stop),
        warm=warm,
    )
    running = tuple(pool.submit(_study, lab, name) for name in ids)
    return Studies(pool=pool, running=running, stop=settings.stop, warm=warm)


def study(root: Path, experiment_id: str, settings: Settings) -> Study:
    """Study one experiment."""
    return start_studies(root, [experiment_id], settings).collect()[0]


def measure(root: Path, experiment_id: str, settings: Settings) -> Checked[Record]:
    """Measure an experiment on this machine's GPU and keep the record in `measurements/`.

    With a number of launches of its own, in `settings`, it is a trial and nothing is kept.
    """
    settings = replace(settings, measure="live", gpu=None)
    warm = WarmWorker(settings.command, settings.stop)
    with closing(warm), tempfile.TemporaryDirectory(prefix="glossary-") as folder:
        means = find_means(settings, warm)
        if means.value is None:
            return Checked(value=None, problems=means.problems)
        bench = Bench(experiment=experiment_id, folder=Path(folder), settings=settings, warm=warm)
        record = _measure(root, bench, means.value)
    if record.value is not None and settings.launches is None:
        write_record(root, record.value)
    return record


def _measure(root: Path, bench: Bench, means: Means) -> Checked[Record]:
    declared = read_declared(root, bench)
    if declared.value is None:
        return Checked(value=None, problems=declared.problems)
    built = build(bench, declared.value, means)
    kept = _recorded(root, bench.experiment, declared.value, None)
    bench, machine = _knowing(bench, kept.value or ()), means.machine
    problems = (*built.problems, *missing_means(means, bench.file))
    if built.value is None or machine is None:
        return Checked(value=None, problems=problems)
    with Turns(1, bench.settings.stop).turn() as turn:
        record = measure_live(bench, declared.value, built.value, machine, turn)
    if record.value is not None:
        remember(bench.settings, declared.value, means, record.value)
    return record


# ── one study ────────────────────────────────────────────────────────────────────────────────


def _study(lab: _Lab, experiment_id: str) -> Study:
    with tempfile.TemporaryDirectory(prefix="glossary-") as folder:
        bench = Bench(
            experiment=experiment_id,
            folder=Path(folder),
            settings=lab.settings,
            places=lab.places,
            warm=lab.warm,
        )
        with lab.turns.turn() as turn:
            declared = read_declared(lab.root, bench)
            means = lab.means.result()
            if declared.value is None or means.value is None:
                return _broken(experiment_id, (*declared.problems, *means.problems))
            return _known(lab.root, bench, declared.value, means.value, turn)


def _broken(experiment_id: str, problems: tuple[Problem, ...]) -> Study:
    return Study(
        id=experiment_id,
        title=experiment_id,
        inputs={},
        files={},
        declared_claims=(),
        declared_tables=(),
        measurements=(),
        reported=(),
        static=(),
        claims=(),
        notes=(),
        problems=tuple(sorted(set(problems))),
    )


def _known(root: Path, bench: Bench, declared: Declared, means: Means, turn: Turn) -> Study:
    """Study an experiment whose declaration could be read."""
    built = build(bench, declared, means)
    static = read_static(bench, declared, built.value) if built.value else Checked(value=())
    kept = _recorded(root, bench.experiment, declared, means.machine)
    live = _live(_knowing(bench, kept.value or ()), declared, built.value, means, turn)
    turn.passes("alone", "cases")
    reported = _reported(root, bench.experiment, declared)
    measured = (*((live.value,) if live.value else ()), *(kept.value or ()))
    reason = means.missing or "the static probes failed"
    checked = _check(bench, declared, measured, static.value or (), reason)
    measurements, claims = checked.value or (measured, ())
    found = (built, static, live, kept, reported, checked)
    return Study(
        id=bench.experiment,
        title=declared.title,
        inputs=declared.inputs,
        files=declared.files,
        declared_claims=tuple(_declared_claim(bench.file, claim) for claim in declared.claims),
        declared_tables=declared.tables,
        measurements=measurements,
        reported=reported.value or (),
        static=static.value or (),
        claims=claims,
        notes=(f"machine code is not checked here: {means.missing}",) if means.missing else (),
        problems=tuple(sorted({problem for each in found for problem in each.problems})),
        listings=_listings(built.value) if built.value else (),
    )


def _listings(built: Built) -> tuple[Listing, ...]:
    """Read the machine code that this build made or remembered."""
    return tuple(
        Listing(
            source=cubin.source,
            architecture=cubin.architecture,
            sass=Sass.from_data(json.loads((built.folder / cubin.sass).read_bytes())),
            toolchain=built.toolchain,
        )
        for cubin in built.compiled.cubins
    )


def _declared_claim(file: str, claim: ClaimAnswer) -> DeclaredClaim:
    place = Place(file, claim.line)
    return DeclaredClaim(name=claim.name, text=claim.text, tables=tuple(claim.tables), place=place)


# ── measurements ─────────────────────────────────────────────────────────────────────────────


def _live(
    bench: Bench, declared: Declared, built: Built | None, means: Means, turn: Turn
) -> Checked[Measurement]:
    """Measure on this machine, or take what was measured from the same bytes before."""
    settings, machine = bench.settings, means.machine
    if not settings.looks_for_gpu or not declared.measured:
        return Checked(value=None)
    if machine is None or built is None:
        wanted = settings.insists_on_gpu
        problems = tuple(missing_means(means, bench.file)) if wanted else ()
        return Checked(value=None, problems=problems)
    record = remembered(settings, bench.experiment, declared, means, machine)
    if record is not None:
        return Checked(value=_measurement(record, "live", "fresh"))
    measured = measure_live(bench, declared, built, machine, turn)
    if measured.value is None:
        return Checked(value=None, problems=measured.problems)
    remember(settings, declared, means, measured.value)
    return Checked(value=_measurement(measured.value, "live", "fresh"))


def _knowing(bench: Bench, kept: Sequence[Measurement]) -> Bench:
    """Tell how each row ended before: it hung if it did on any machine, and did on all else."""
    endings = dict[tuple[str, str], str]()
    for row, ending in (known for each in kept for known in each.record.endings.items()):
        other = endings.get(row, ending)
        endings[row] = ending if ending == other else "hung" if "hung" in (ending, other) else "…"
    return replace(bench, endings=endings)


def _measurement(
    record: Record, origin: Origin, freshness: Freshness, changed: tuple[str, ...] = ()
) -> Measurement:
    return Measurement(
        record=record, origin=origin, freshness=freshness, changed=changed, claims=()
    )


def _recorded(
    root: Path, experiment_id: str, declared: Declared, here: Machine | None
) -> Checked[tuple[Measurement, ...]]:
    """Read every record of an experiment; each is fresh, stale or foreign."""
    problems, found = list[Problem](), list[Measurement]()
    for file in _files(root, experiment_id):
        if file.endswith((REPORTED_SUFFIX, ".json.sig")):
            continue
        source = read(root, file)
        record = read_record(source.value) if source.value else None
        problems += [*source.problems, *(record.problems if record else ())]
        if record is not None and record.value is not None:
            measurement = _judged(record.value, declared, here)
            problems += _heading_problems(measurement, declared)
            found.append(measurement)
    found.sort(key=lambda measurement: measurement.record.machine.id)
    return Checked(value=tuple(found), problems=tuple(problems))


def _judged(record: Record, declared: Declared, here: Machine | None) -> Measurement:
    names = sorted({*record.inputs, *declared.inputs})
    changed = tuple(n for n in names if record.inputs.get(n) != declared.inputs.get(n))
    if changed:
        return _measurement(record, "recorded", "stale", changed)
    foreign = here is not None and here.id != record.machine.id
    return _measurement(record, "recorded", "foreign" if foreign else "fresh")


def _heading_problems(measurement: Measurement, declared: Declared) -> Iterator[Problem]:
    """A record of these very bytes must hold the tables that they declare."""
    tables = [heading(table) for table in measurement.record.tables]
    if measurement.freshness != "stale" and tables != [heading(t) for t in declared.measured]:
        message = "its tables are not those that the experiment declares, though its inputs are"
        hint = "measure again: glossary measure"
        place = Place(measurement.record.file)
        yield Problem(place=place, code="record-damaged", message=message, hint=hint)


def _reported(root: Path, experiment_id: str, declared: Declared) -> Checked[tuple[Reported, ...]]:
    tables = {table.name: table for table in declared.tables}
    problems, found = list[Problem](), list[Reported]()
    for file in _files(root, experiment_id):
        source = read(root, file) if file.endswith(REPORTED_SUFFIX) else None
        if source is not None:
            report = read_reported(source.value, tables) if source.value else None
            problems += [*source.problems, *(report.problems if report else ())]
            found += [report.value] if report and report.value else []
    return Checked(value=tuple(found), problems=tuple(problems))


def _files(root: Path, experiment_id: str) -> list[str]:
    folder = root / MEASUREMENTS / experiment_id
    paths = sorted(folder.iterdir()) if folder.is_dir() else []
    return [f"{MEASUREMENTS}/{experiment_id}/{path.name}" for path in paths]


# ── claims ───────────────────────────────────────────────────────────────────────────────────


def _check(
    bench: Bench,
    declared: Declared,
    measured: tuple[Measurement, ...],
    static: tuple[Table, ...],
    why_no_static: str,
) -> Checked[tuple[tuple[Measurement, ...], tuple[ClaimResult, ...]]]:
    """Check the claims on each measurement, and on the machine code alone."""
    static_names = [table.name for table in declared.tables if table.kind == "static"]
    asked = [_asked(measurement, static) for measurement in measured]
    asked.append({"tables": [to_data(table) for table in static], "other_code": False})
    answer = bench.ask(
        Checks,
        "check",
        bench.settings.limits.quick_s,
        measurements=asked,
        reasons=dict.fromkeys(static_names, why_no_static),
    )
    if answer.value is None:
        return Checked(value=None, problems=answer.problems)
    *on_measurements, on_static = [
        tuple(_result(bench.file, c, r) for c, r in zip(declared.claims, results, strict=True))
        for results in answer.value.measurements
    ]
    checked = zip(measured, on_measurements, strict=True)
    of_code = {claim.name for claim in declared.claims if {*claim.tables} <= {*static_names}}
    return Checked(
        value=(
            tuple(replace(measurement, claims=claims) for measurement, claims in checked),
            tuple(result for result in on_static if result.name in of_code),
        )
    )


def _asked(measurement: Measurement, static: tuple[Table, ...]) -> dict[str, Any]:
    tables = (*measurement.record.tables, *static)
    other_code = measurement.freshness == "stale"
    return {"tables": [to_data(table) for table in tables], "other_code": other_code}


def _result(file: str, claim: ClaimAnswer, result: ResultAnswer) -> ClaimResult:
    return ClaimResult(
        name=claim.name,
        text=claim.text,
        state=result.state,
        detail=result.detail,
        place=Place(file, result.line),
    )
