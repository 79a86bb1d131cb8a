"""The process that runs author code: `python -m measured_glossary.lab.worker REQUEST.json`.

Comes in: a request file, or with `--warm` one after another, named on standard input. Goes out: a
result file beside each, by rename, and progress on standard output. Imported by nobody; must start
fast, so nothing here needs pydantic or YAML.
"""

from __future__ import annotations

import ast
import faulthandler
import gc
import hashlib
import json
import os
import random
import signal
import sys
import threading
import time
import types
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from measured_glossary.lab import experiment as declaration
from measured_glossary.lab import lint, timed
from measured_glossary.lab.experiment import Claim, Experiment, Probe
from measured_glossary.lab.protocol import LIFELINE, RESULT, SCHEMA, WARM, event_line
from measured_glossary.lab.refutation import explain, last_frame, said
from measured_glossary.lab.sass import Kernel, Sass
from measured_glossary.lab.table import (
    Cell,
    Inconclusive,
    Rows,
    Table,
    TableError,
    faults,
    from_data,
    is_long,
    plain,
    short,
    to_data,
)
from measured_glossary.lab.timing import Plan, Session
from measured_glossary.problem import Checked, Place, Problem, to_json

Request = dict[str, Any]
Value = dict[str, Any]
COMPILE_THREADS = 4
MAX_FAULTS = 5  # of one table: one slip is in every row


def main(arguments: list[str]) -> int:
    """Answer the request in the file named by the one argument, or stay and answer many."""
    faulthandler.enable(all_threads=False)
    if lifeline := os.environ.pop(LIFELINE, ""):
        ends = tuple(map(int, lifeline.split()))
        threading.Thread(target=_end_with_build, args=ends, daemon=True).start()
    if arguments == [WARM]:
        stay()
    else:
        answer(Path(arguments[0]))
    return 0


def _end_with_build(lifeline: int, inode: int) -> None:
    """Wait until the build is gone: killed, it cannot stop a kernel that spins.

    Where a tool between the two did not pass the pipe on, its number may be another file's.
    """
    with suppress(OSError):
        if os.fstat(lifeline).st_ino == inode and not os.read(lifeline, 1):
            os.killpg(0, signal.SIGKILL)


def stay() -> None:
    """Load what the GPU needs, then answer the requests whose files are named, line by line."""
    with os.fdopen(os.dup(0), encoding="utf-8") as named:
        with Path(os.devnull).open() as nothing:
            os.dup2(nothing.fileno(), 0)  # author code gets no input
        with suppress(Exception):  # each request says better what is missing
            import cupy

            cupy.cuda.Device().synchronize()
        gc.freeze()  # what is loaded stays: only what a request leaves behind is looked through
        for line in named:
            file = Path(line.removesuffix("\n"))
            os.chdir(file.parent)
            answer(file)
            if not _has_forgotten():
                return  # the answer stands, and whoever asks next gets another process
            _say(end=True)


def _has_forgotten() -> bool:
    """Let go of the last request's module, arrays and memory; say whether the GPU is as before.

    A launch that nobody waited for may have failed: that must not look like the next one's error.
    """
    sys.modules.pop("experiment", None)
    try:
        gc.collect()
        if "cupy" in sys.modules:
            cupy = sys.modules["cupy"]
            cupy.cuda.Device().synchronize()
            cupy.get_default_memory_pool().free_all_blocks()
    except Exception:
        return False
    return True


def answer(path: Path) -> None:
    """Answer the request in a file, beside it."""
    request = json.loads(path.read_text(encoding="utf-8"))
    _limit_memory(request.get("memory_bytes"))
    if request["mode"] not in ("case", "sanitized"):  # their time is that of the launch alone
        _begin()
    answered = MODES[request["mode"]](request)
    result = {
        "schema": SCHEMA,
        "mode": request["mode"],
        "value": answered.value,
        "problems": to_json(answered.problems),
    }
    part = path.with_name(f"{RESULT}.part")
    part.write_text(json.dumps(result, allow_nan=False), encoding="utf-8")
    part.replace(path.with_name(RESULT))


def _limit_memory(limit: int | None) -> None:
    """Limit private memory, core dumps with it; CUDA maps far too much for any limit to hold."""
    if limit is None or sys.platform == "win32":
        return
    import resource

    with suppress(ValueError, OSError):  # a tighter limit is in force, or there is none to set
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


def _begin() -> None:
    """Say that the work itself begins: from here its time is counted."""
    _say(begin=True)


def _say(**event: Any) -> None:
    sys.stdout.write(event_line(**event))
    sys.stdout.flush()


# ── the author's file ────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class _Author:
    """An author's file, executed; `file` is its name in messages."""

    file: str
    text: str
    experiment: Experiment

    def problem(self, line: int, code: str, message: str, hint: str = "") -> Problem:
        place = Place(self.file, line)
        return Problem(place=place, code=code, message=message, hint=hint)


def _load(request: Request) -> Checked[_Author]:
    """Execute the experiment's file, assertions on whatever PYTHONOPTIMIZE says."""
    file = request["file"]
    text = Path(request["root"], file).read_bytes().decode("utf-8-sig")
    module = types.ModuleType("experiment")
    module.__file__ = file
    sys.modules["experiment"] = module
    try:
        code = compile(text, file, "exec", dont_inherit=True, optimize=0)
        exec(code, module.__dict__)  # noqa: S102 - what this process is for
    except SyntaxError as error:
        return Checked(value=None, problems=(_syntax(file, error),))
    except BaseException as error:  # SystemExit too: nothing an author does ends the worker
        problem = replace(_error(file, "experiment-error", error, 0), hint=_import_hint(error))
        return Checked(value=None, problems=(problem,))
    found = getattr(module, "experiment", None)
    if not isinstance(found, Experiment):
        hint = "write: experiment = Experiment(title=…, sources=[…])"
        message = "there is no Experiment called 'experiment'"
        return Checked(
            value=None, problems=(_problem(file, 0, "experiment-missing", message, hint),)
        )
    return Checked(value=_Author(file=file, text=text, experiment=found))


def _syntax(file: str, error: SyntaxError) -> Problem:
    """Put a syntax error at the sign at which Python gave up, with the text around it."""
    text = (error.text or "").strip()
    hint = f"Python gave up at {text!r}; what is wrong may stand a line above" if text else ""
    place = Place(file, error.lineno or 0, max(error.offset or 0, 0))
    return Problem(place=place, code="experiment-syntax", message=error.msg, hint=hint)


def _import_hint(error: BaseException) -> str:
    """Say what to do about an exception that executing the file raised."""
    if isinstance(error, SystemExit | KeyboardInterrupt):
        return "take it out: the file declares an experiment, and what runs it ends it"
    if isinstance(error, ImportError):
        return "import it inside the probe that needs it; no file beside this one can be imported"
    if isinstance(error, AttributeError | NameError | TypeError):
        return ""  # mistyped, and said well enough
    return "only declarations belong on the top level: move what computes into a probe"


def _claim_hint(error: BaseException) -> str:
    """Say what to do about an exception that a claim raised; a table's own words say enough."""
    if isinstance(error, SystemExit | KeyboardInterrupt):
        return "write 'assert …': a claim holds if it returns, and is refuted by an assertion"
    if isinstance(error, TableError):
        return ""
    return "a claim reads its tables and asserts: nothing else may be raised in it"


def _problem(file: str, line: int, code: str, message: str, hint: str = "") -> Problem:
    return Problem(place=Place(file, line), code=code, message=message, hint=hint)


def _error(file: str, code: str, error: BaseException, default_line: int) -> Problem:
    """Put an exception of author code at the line of that code it passed through last."""
    found = last_frame(error.__traceback__, file)
    words = said(error)
    message = f"{type(error).__name__}: {words}" if words else type(error).__name__
    return _problem(file, found[1] if found else default_line, code, message)


# ── describe ─────────────────────────────────────────────────────────────────────────────────


def describe(request: Request) -> Checked[Value]:
    """Give the declaration of an experiment as data, or every misuse in it."""
    loaded = _load(request)
    author = loaded.value
    if author is None:
        return Checked(value=None, problems=loaded.problems)
    found = [*author.experiment.faults(), *_claims_without_assert(author), *_by_chance(author)]
    if found:
        problems = (author.problem(f.line, f.code, f.message, f.hint) for f in found)
        return Checked(value=None, problems=tuple(problems))
    return Checked(value=_description(author.experiment))


def _claims_without_assert(author: _Author) -> Iterator[declaration.Fault]:
    names = {claim.name: claim for claim in author.experiment.claims}
    for node in ast.parse(author.text).body:
        claim = names.get(node.name) if isinstance(node, ast.FunctionDef) else None
        if claim and not any(isinstance(child, ast.Assert) for child in ast.walk(node)):
            message = f"the claim {claim.name} asserts nothing, so it would always hold"
            hint = "write assert, and what must be true of the table"
            yield declaration.Fault(
                line=claim.line, code="claim-without-assert", message=message, hint=hint
            )


def _by_chance(author: _Author) -> Iterator[declaration.Fault]:
    tables = tuple(probe.table for probe in author.experiment.probes)
    claims = {claim.name: claim.tables for claim in author.experiment.claims}
    for found in lint.lint(author.text, claims, tables):
        yield declaration.Fault(
            line=found.line, code=found.code, message=found.message, hint=found.hint
        )


def _description(experiment: Experiment) -> Value:
    architectures = experiment.architectures
    return {
        "title": experiment.title,
        "line": experiment.line,
        "sources": list(experiment.sources),
        "options": list(experiment.options),
        "architectures": None if architectures is None else list(architectures),
        "probes": [
            {
                "table": to_data(probe.table),
                "line": probe.line,
                "cases": list(probe.cases),
                "limit_s": probe.limit_s,
                "tools": list(probe.tools),
            }
            for probe in experiment.probes
        ],
        "claims": [
            {"name": c.name, "text": c.text, "tables": list(c.tables), "line": c.line}
            for c in experiment.claims
        ],
    }


# ── compile, and read machine code ───────────────────────────────────────────────────────────


def compile_sources(request: Request) -> Checked[Value]:
    """Compile each source for each architecture; cubins and SASS go into the request's folder.

    `files` maps each source to the files of its closure. Author code is not imported here.
    """
    from concurrent.futures import ThreadPoolExecutor

    from measured_glossary.lab import compile as compiler

    sources, architectures = sorted(request["files"]), request["architectures"]
    jobs = [(source, architecture) for source in sources for architecture in architectures]
    done: list[Checked[Value]] = []
    with ThreadPoolExecutor(COMPILE_THREADS) as pool:
        for compiled in pool.map(lambda job: _compile(compiler, request, *job), jobs):
            done.append(compiled)
            _say(task="compiling", done=len(done), total=len(jobs))
    problems = tuple(sorted({problem for each in done for problem in each.problems}))
    if problems:
        return Checked(value=None, problems=problems)
    return Checked(value={"cubins": [each.value for each in done]})


def _compile(compiler: Any, request: Request, source: str, architecture: str) -> Checked[Value]:
    root, folder = Path(request["root"]), Path(request["folder"])
    files = {name: (root / name).read_bytes() for name in request["files"][source]}
    options, line_info = tuple(request["options"]), request.get("line_info", False)
    cubin = compiler.compile_cubin(files, source, architecture, options, line_info=line_info)
    if cubin.value is None:
        return Checked(value=None, problems=cubin.problems)
    sass = compiler.disassemble(cubin.value, source)
    if sass.value is None:
        return Checked(value=None, problems=sass.problems)
    stem = f"{architecture}/{source}"
    listing = json.dumps(sass.value.to_data(), sort_keys=True).encode()
    value = {
        "source": source,
        "architecture": architecture,
        "cubin": f"{stem}.cubin",
        "sass": f"{stem}.sass.json",
        "sass_sha256": hashlib.sha256(listing).hexdigest(),
        "log": cubin.value.log,
    }
    (folder / stem).parent.mkdir(parents=True, exist_ok=True)
    (folder / value["cubin"]).write_bytes(cubin.value.code)
    (folder / value["sass"]).write_bytes(listing)
    return Checked(value=value)


@dataclass(frozen=True, slots=True)
class MachineCode:
    """What a static probe gets: the machine code of every source for every architecture."""

    sass: dict[str, tuple[Sass, ...]]

    @property
    def architectures(self) -> tuple[str, ...]:
        """The architectures compiled for, oldest first."""
        return tuple(sorted(self.sass, key=lambda name: int(name[3:].rstrip("af"))))

    def kernels(self, architecture: str) -> tuple[str, ...]:
        """Give the kernels' names, sorted."""
        return tuple(sorted(name for sass in self._all(architecture) for name in sass.kernels))

    def count(self, architecture: str, kernel: str, prefix: str) -> int:
        """Count a kernel's instructions whose opcode is `prefix` or `prefix.…`."""
        return self._one(architecture, kernel).count(kernel, prefix)

    def lines(self, architecture: str, kernel: str) -> tuple[str, ...]:
        """Give a kernel's instructions as printed."""
        return self._one(architecture, kernel).lines(kernel)

    def kernel(self, architecture: str, kernel: str) -> Kernel:
        """Give a kernel: `registers`, `local_bytes`, `shared_bytes`, `instructions`."""
        code = self._one(architecture, kernel).code
        return next(each for each in code if kernel in (each.name, each.symbol))

    def _one(self, architecture: str, kernel: str) -> Sass:
        for sass in self._all(architecture):
            if any(kernel in (each.name, each.symbol) for each in sass.code):
                return sass
        there = ", ".join(self.kernels(architecture))
        raise LookupError(f"no kernel {kernel!r}; there are {there or 'none'}")

    def _all(self, architecture: str) -> tuple[Sass, ...]:
        if architecture in self.sass:
            return self.sass[architecture]
        raise LookupError(f"not compiled for {architecture!r}; there are {', '.join(self.sass)}")


def static(request: Request) -> Checked[Value]:
    """Run the static probes over machine code; `sass` maps architectures to files of it."""

    def read(file: str) -> Sass:
        return Sass.from_data(json.loads(Path(file).read_text(encoding="utf-8")))

    code = MachineCode({name: tuple(map(read, files)) for name, files in request["sass"].items()})
    return _probed(request, "static", lambda probe: code)


# ── run ──────────────────────────────────────────────────────────────────────────────────────


def run(request: Request) -> Checked[Value]:
    """Run the runtime and timed probes on the GPU, all in this process; say the conditions."""
    from measured_glossary.lab import machine

    begun, before = time.monotonic(), machine.conditions()
    captured = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    answer = _probed(request, "runtime", lambda probe: _gpu(request, probe.table))
    times = _timed(request)
    if answer.value is None or times.value is None:
        problems = dict.fromkeys((*answer.problems, *times.problems))
        return Checked(value=None, problems=tuple(problems))
    probes_s = time.monotonic() - begun
    value = {
        "tables": [*answer.value["tables"], *times.value["tables"]],
        "timings": times.value["timings"],
        "captured": captured,
        "probes_s": probes_s,
        "toolchain": machine.software(),
        "conditions": {"before": before, "after": machine.conditions()},
    }
    return Checked(value=value)


def _timed(request: Request) -> Checked[Value]:
    """Run the timed probes: each has the GPU for itself."""
    loaded = _load(request)
    if loaded.value is None:
        return Checked(value=None, problems=loaded.problems)
    author = loaded.value
    probes = [probe for probe in author.experiment.probes if probe.table.kind == "timed"]
    done = [_time_probe(author, probe, _gpu(request, probe.table)) for probe in probes]
    problems = tuple(problem for each in done for problem in each.problems)
    found = [each.value for each in done if each.value is not None]
    value = {
        "tables": [to_data(table) for table, _ in found],
        "timings": [timing for _, timing in found],
    }
    return Checked(value=None if problems else value, problems=problems)


def _time_probe(author: _Author, probe: Probe, gpu: Any) -> Checked[tuple[Table, Value]]:
    """Take a timed probe's rows, then time their functions against each other."""
    yielded = _yielded(author, probe, gpu)
    if yielded.value is None:
        return Checked(value=None, problems=yielded.problems)
    found = timed.faults(probe.table, yielded.value)
    if found:
        return Checked(value=None, problems=_of_timed(author, probe, *found))
    plan = Plan(limit_s=probe.limit_s)
    stopwatch = gpu.stopwatch(cold=probe.cache == "cold")
    try:
        rows, times = timed.taken(probe.table, yielded.value, _take(gpu, stopwatch, plan))
    except BaseException as error:
        problem = _error(author.file, "probe-error", error, probe.line)
        return Checked(value=None, problems=(problem,))
    if few := timed.too_few(probe.table, times, plan):
        return Checked(value=None, problems=_of_timed(author, probe, few))
    table = _filled(author, probe, rows)
    if table.value is None:
        return Checked(value=None, problems=table.problems)
    noted = timed.noted(probe.table, times, probe.cache, stopwatch.flushed_bytes)
    return Checked(value=(table.value, noted))


def _of_timed(author: _Author, probe: Probe, *found: timed.Fault) -> tuple[Problem, ...]:
    return tuple(author.problem(probe.line, f.code, f.message, f.hint) for f in found)


def _take(gpu: Any, stopwatch: Any, plan: Plan) -> timed.Take:
    from measured_glossary.lab import machine

    def take(calls: Any) -> Any:
        return Session(
            calls=calls,
            stopwatch=stopwatch,
            look=machine.conditions,
            clock=time.monotonic,
            plan=plan,
            order=random.Random(gpu.seed),  # noqa: S311 - an order, not a secret
            progress=gpu.progress,
        ).run()

    return take


def case(request: Request) -> Checked[Value]:
    """Run one case of one outcome probe: how it ended is its result."""
    loaded = _load(request)
    author = loaded.value
    if author is None:
        return Checked(value=None, problems=loaded.problems)
    probe, values = _asked_case(author, request)
    gpu = _gpu(request, probe.table)
    _begin()
    begun = time.monotonic()
    try:
        cells = probe.function(gpu, **values)
        gpu.check()  # a launch has returned when its work has ended
    except BaseException as error:
        return _failed_case(author, probe, values, error, begun)
    if not isinstance(cells, dict | None):
        message = f"{probe.table.name} returns {short(cells)}, expected a dict of its columns"
        problem = author.problem(probe.line, "probe-row", message)
        return Checked(value=None, problems=(problem,))
    return _case_row(author, probe, {**values, **(cells or {}), "outcome": "returned"}, begun)


def _asked_case(author: _Author, request: Request) -> tuple[Probe, dict[str, Any]]:
    probe = next(p for p in author.experiment.probes if p.table.name == request["probe"])
    return probe, probe.cases[request["case"]]


def _failed_case(
    author: _Author, probe: Probe, values: dict[str, Any], error: BaseException, begun: float
) -> Checked[Value]:
    """A CUDA error is the case's outcome; anything else is a fault of the probe."""
    from measured_glossary.lab.gpu import cuda_error

    name = cuda_error(error)
    if name is None:
        problem = _error(author.file, "probe-error", error, probe.line)
        return Checked(value=None, problems=(problem,))
    empty = {column.name: None for column in probe.table.columns}
    return _case_row(author, probe, {**values, **empty, "outcome": f"cuda error {name}"}, begun)


def _case_row(author: _Author, probe: Probe, row: dict[str, Any], begun: float) -> Checked[Value]:
    probes_s = time.monotonic() - begun
    checked = _filled(author, probe, [row])
    if checked.value is None:
        return Checked(value=None, problems=checked.problems)
    return Checked(value={"row": to_data(checked.value)["rows"][0], "probes_s": probes_s})


def sanitized(request: Request) -> Checked[Value]:
    """Run one case of a sanitizer probe; what the tool around this process saw, it says itself.

    The request's `proof` is printed when the work has ended, by this process and no other.
    """
    from measured_glossary.lab.gpu import cuda_error

    loaded = _load(request)
    author = loaded.value
    if author is None:
        return Checked(value=None, problems=loaded.problems)
    probe, values = _asked_case(author, request)
    gpu = _gpu(request, probe.table)
    _begin()
    outcome = "returned"
    try:
        probe.function(gpu, **values)
        gpu.check()
        sys.stdout.write(f"{request['proof']}\n")
    except BaseException as error:
        if not (name := cuda_error(error)):  # synccheck ends the context: that is no fault here
            problem = _error(author.file, "probe-error", error, probe.line)
            return Checked(value=None, problems=(problem,))
        outcome = f"cuda error {name}"
    return Checked(value={"outcome": outcome, "watched": _is_watched()})


def _is_watched() -> bool:
    """Say whether compute-sanitizer's library is in this process."""
    maps = Path("/proc/self/maps")
    return maps.is_file() and "libsanitizer-collection" in maps.read_text(encoding="utf-8")


def alive(request: Request) -> Checked[Value]:
    """Launch something on the GPU and look at what it wrote."""
    from measured_glossary.lab.gpu import Gpu

    return Checked(value={"alive": Gpu([], seed=0, launches=1).answers()})


def _gpu(request: Request, table: Table) -> Any:
    from measured_glossary.lab.gpu import Gpu

    def progress(done: int, total: int) -> None:
        _say(task=table.name, done=done, total=total)

    cubins = [Path(file) for file in request["cubins"]]
    return Gpu(cubins, seed=request["seed"], launches=table.launches, progress=progress)


# ── rows ─────────────────────────────────────────────────────────────────────────────────────


def _probed(request: Request, kind: str, given: Callable[[Probe], Any]) -> Checked[Value]:
    """Run each probe of a kind with what it is given, and check the rows it yields."""
    loaded = _load(request)
    if loaded.value is None:
        return Checked(value=None, problems=loaded.problems)
    author = loaded.value
    probes = [_scaled(p, request) for p in author.experiment.probes if p.table.kind == kind]
    done = [_run_probe(author, probe, given) for probe in probes]
    problems = tuple(problem for each in done for problem in each.problems)
    if problems:
        return Checked(value=None, problems=problems)
    return Checked(value={"tables": [to_data(each.value) for each in done if each.value]})


def _scaled(probe: Probe, request: Request) -> Probe:
    """Put the asked number of launches into a runtime probe's table."""
    launches = request.get("launches")
    if launches is None or probe.table.kind != "runtime":
        return probe
    return replace(probe, table=replace(probe.table, launches=launches))


def _run_probe(author: _Author, probe: Probe, given: Callable[[Probe], Any]) -> Checked[Table]:
    rows = _yielded(author, probe, given(probe))
    if rows.value is None:
        return Checked(value=None, problems=rows.problems)
    return _filled(author, probe, rows.value)


def _yielded(author: _Author, probe: Probe, given: Any) -> Checked[list[dict[str, Any]]]:
    """Give the rows of a probe, as it yielded them."""
    try:
        rows = list(probe.function(given) or ())
    except BaseException as error:
        problem = _error(author.file, "probe-error", error, probe.line)
        return Checked(value=None, problems=(problem,))
    if not rows or not all(isinstance(row, dict) for row in rows):
        odd = next((short(row) for row in rows if not isinstance(row, dict)), "no row")
        message = f"{probe.table.name} yields {odd!r}, expected rows, as dicts"
        problem = author.problem(probe.line, "probe-row", message)
        return Checked(value=None, problems=(problem,))
    return Checked(value=rows)


def _filled(author: _Author, probe: Probe, rows: list[Any]) -> Checked[Table]:
    """Give the probe's table with rows, or what is wrong with them."""
    name = probe.table.name
    table = replace(probe.table, rows=tuple(_plain_row(probe.table, row) for row in rows))
    messages = [fault.message for fault in faults(table)]
    if len(messages) > MAX_FAULTS:
        messages[MAX_FAULTS:] = [f"… and {len(messages) - MAX_FAULTS} faults more like these"]
    problems = tuple(author.problem(probe.line, "probe-row", f"{name}: {m}") for m in messages)
    return Checked(value=None if problems else table, problems=problems)


def _plain_row(table: Table, row: dict[str, Any]) -> dict[str, Cell]:
    times = {column.name for column in table.columns if column.kind == "time"}
    cells = {name: plain(value) for name, value in row.items()}
    return {name: _reals(cell) if name in times else cell for name, cell in cells.items()}


def _reals(cell: Any) -> Any:
    """Times are real numbers: 5 is kept as 5.0, so that a record reads back as it was written."""
    if not isinstance(cell, tuple):
        return cell
    return tuple(float(i) if type(i) is int and not is_long(i) else i for i in cell)


# ── check ────────────────────────────────────────────────────────────────────────────────────


def check(request: Request) -> Checked[Value]:
    """Check every claim on each of the given measurements.

    `reasons` says why a table is missing. A measurement of `other_code` may lack what a claim
    reads now: that is no fault of the claim.
    """
    loaded = _load(request)
    if loaded.value is None:
        return Checked(value=None, problems=loaded.problems)
    author, problems = loaded.value, list[Problem]()
    results = []
    for measured in request["measurements"]:
        rows = {table["name"]: Rows(from_data(table)) for table in measured["tables"]}
        checked = [
            _check(author, claim, rows, request["reasons"], measured["other_code"])
            for claim in author.experiment.claims
        ]
        problems += [problem for each in checked for problem in each.problems]
        results.append([each.value for each in checked])
    if problems:
        return Checked(value=None, problems=tuple(problems))
    return Checked(value={"measurements": results})


def _check(
    author: _Author, claim: Claim, rows: dict[str, Rows], reasons: dict[str, str], other_code: bool
) -> Checked[Value]:
    missing = [name for name in claim.tables if name not in rows]
    if missing:
        details = [reasons.get(name, f"there is no table {name} here") for name in missing]
        return _result(claim, "not checked here", "; ".join(dict.fromkeys(details)), claim.line)
    try:
        claim.function(*(rows[name] for name in claim.tables))
    except Inconclusive as error:
        return _result(claim, "not checked here", str(error), claim.line)
    except AssertionError as error:
        line, detail = explain(error, author.file, author.text, claim.line, _evaluate)
        return _result(claim, "refuted", detail, line)
    except BaseException as error:
        problem = _error(author.file, "claim-error", error, claim.line)
        problem = replace(problem, hint=_claim_hint(error))
        if other_code:
            return _result(claim, "not checked here", problem.message, problem.place.line)
        return Checked(value=None, problems=(problem,))
    return _result(claim, "held", "", claim.line)


def _evaluate(expression: ast.expr, frame: types.FrameType) -> object:
    code = compile(ast.Expression(expression), "<assertion>", "eval")
    return eval(code, frame.f_globals, dict(frame.f_locals))  # noqa: S307 - author code, again


def _result(claim: Claim, state: str, detail: str, line: int) -> Checked[Value]:
    return Checked(value={"name": claim.name, "state": state, "detail": detail, "line": line})


# ── means ──────────────────────────────────────────────────────────────────────────────────


def compilers(request: Request) -> Checked[Value]:
    """Say what this machine can compile, and with what."""
    from measured_glossary.lab import compile as compiler

    return Checked(
        value={
            "architectures": list(compiler.architectures()),
            "missing": compiler.missing(),
            "toolchain": compiler.toolchain(),
        }
    )


def machine(request: Request) -> Checked[Value]:
    """Say which GPU this machine has."""
    from measured_glossary.lab import machine as this

    return Checked(value={"machine": this.fingerprint()})


MODES: dict[str, Callable[[Request], Checked[Value]]] = {
    "describe": describe,
    "compile": compile_sources,
    "static": static,
    "run": run,
    "case": case,
    "sanitized": sanitized,
    "alive": alive,
    "check": check,
    "compilers": compilers,
    "machine": machine,
}


if __name__ == "__main__":
    status = main(sys.argv[1:])
    sys.stdout.flush()
    os._exit(status)  # what author code left behind (threads, a broken CUDA context) ends here
