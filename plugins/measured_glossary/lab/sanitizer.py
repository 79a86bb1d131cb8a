"""compute-sanitizer: how it is started, and what its report says.

Comes in: the text and the XML that a tool wrote, and what the process under it showed. Goes out: a
`Report`: clean, findings or inconclusive. Must not run an experiment, nor take silence for clean.

The exit status proves nothing: without a driver the tool has ended with 0 and had watched nobody.
So "clean" needs all of these: a summary that counts nothing, a saved report that is whole and holds
none, a process that had the tool's library in it and printed its line after the work, and no
message that is unknown here. A tool that can list the launches it saw must list some; 2025.3.1
cannot, and its reports count faults only.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from xml.etree import ElementTree

from measured_glossary.lab.table import Verdict

LOG, XML = "sanitizer.log", "sanitizer.xml"
FIRST_PORT = 49152  # where the tool and the process under it meet; one range a run
PORTS_EACH = 16
ASK_LIMIT_S = 60

Severity = Literal["error", "warning"]


# ── the program ──────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class Sanitizer:
    """compute-sanitizer of this machine; `lists_launches`: it can tell which launches it saw."""

    program: str
    version: str
    lists_launches: bool

    def command(self, tool: str, folder: Path, number: int) -> tuple[str, ...]:
        """Give what stands before a command for the tool to watch it and to write into `folder`.

        `number` tells runs apart that are under way at once.
        """
        port = FIRST_PORT + number * PORTS_EACH % (1 << 12)
        return (
            *(self.program, "--tool", tool),
            *("--target-processes", "application-only", "--launch-timeout", "120"),
            *("--port", str(port), "--max-connections", str(PORTS_EACH)),
            *("--print-limit", "0", "--show-backtrace", "device"),
            *("--strip-paths", "no", "--demangle", "simple"),
            *("--log-file", str(folder / LOG), "--xml", "--save", str(folder / XML)),
            # Otherwise listed launches would be printed, and counted as errors in the summary.
            *(("--dump-kernel-launches", "--print-level", "warn") if self.lists_launches else ()),
            *(("--racecheck-report", "all") if tool == "racecheck" else ()),
        )


def find() -> Sanitizer | None:
    """Find compute-sanitizer: on PATH, in CUDA's usual folder, or in its Python package."""
    program = next(_programs(), None)
    if program is None:
        return None
    version = re.search(r"Version (\d+(?:\.\d+)+)", _asked(program, "--version"))
    return Sanitizer(
        program=program,
        version=version[1] if version else "unknown",
        lists_launches="--dump-kernel-launches" in _asked(program, "--help"),
    )


def _programs() -> Iterator[str]:
    if found := shutil.which("compute-sanitizer"):
        yield found
    spec = importlib.util.find_spec("nvidia")
    folders = [Path(f) for f in (spec and spec.submodule_search_locations) or ()]
    packaged = [p for f in sorted(folders) for p in sorted(f.glob("*/compute-sanitizer"))]
    for folder in (Path("/usr/local/cuda/bin"), *reversed(packaged)):
        if found := shutil.which("compute-sanitizer", path=str(folder)):
            yield found


def _asked(program: str, question: str) -> str:
    done = subprocess.run(
        [program, question], capture_output=True, timeout=ASK_LIMIT_S, check=False
    )
    return done.stdout.decode(errors="replace")


# ── what it wrote ────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """What a run under a tool left behind.

    `log` and `xml` are the tool's own; `proved` tells whether the process under it printed its
    line, `watched` whether it had the tool's library in it, `lists_launches` whether the tool was
    told to list the launches it saw.
    """

    log: str
    xml: str
    proved: bool
    watched: bool
    lists_launches: bool = False


@dataclass(frozen=True, slots=True, order=True, kw_only=True)
class Reported:
    """A kind of fault at one place: `lines` are `file:line` of the project, first access first."""

    severity: Severity
    kind: str
    kernel: str
    lines: tuple[str, ...]
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What one tool found in one run; without a verdict there is a `reason` and no count."""

    verdict: Verdict
    errors: int | None = None
    warnings: int | None = None
    reason: str = ""
    reported: tuple[Reported, ...] = ()


def inconclusive(reason: str) -> Report:
    """Give the report of a tool that has no verdict."""
    return Report(verdict="inconclusive", reason=reason)


def read_report(tool: str, output: Output, files: Collection[str]) -> Report:
    """Judge what a tool wrote; places in other files than the project's `files` are left out."""
    records = tuple(_records(output.log))
    reported = _grouped(records, files)
    counted = _summary(tool, output.log)
    doubt = next(_doubts(output, records, counted), "")
    if doubt:
        return inconclusive(doubt)
    errors, warnings = counted or (0, 0)
    if errors or warnings:
        found: Verdict = "findings"
        return Report(verdict=found, errors=errors, warnings=warnings, reported=reported)
    doubt = next(_doubts_of_clean(output, reported), "")
    return inconclusive(doubt) if doubt else Report(verdict="clean", errors=0, warnings=0)


def _doubts(
    output: Output, records: tuple[_Record, ...], counted: tuple[int, int] | None
) -> Iterator[str]:
    """Say why a report cannot be relied on, whatever it counts."""
    if any(re.search(_FAILED, line) for record in records for line in record.lines):
        yield "the tool says that it could not do its work"
    if counted is None:
        yield "the tool gave no summary"
    if counted and any(counted) and not any(record.kind for record in records):
        yield "the tool counts findings and shows none"


def _doubts_of_clean(output: Output, reported: tuple[Reported, ...]) -> Iterator[str]:
    """Say why a report without findings does not show that nothing is there."""
    if reported:
        yield "the tool shows findings and counts none"
    if any(record.kind is None for record in _records(output.log)):
        yield "the tool printed a message that is not known here"
    if not output.proved:
        yield "the probe did not come to its end under the tool"
    if not output.watched:
        yield "the tool was not in the probe's process"
    saved = _saved(output.xml)
    if saved is None:
        yield "the tool saved no report"
    elif saved.total() > saved[_LAUNCH]:
        yield "the saved report holds findings and the summary counts none"
    elif output.lists_launches and not saved[_LAUNCH]:
        yield "the tool saw no launch"


# ── its text ─────────────────────────────────────────────────────────────────────────────────

_LINE = re.compile(r"={5,}(?P<indent> *)(?P<text>.*)")
_SUMMARY = re.compile(
    r"^=+ (?P<name>ERROR|RACECHECK) SUMMARY: (?P<count>\d+) (?:errors?|hazards? displayed)"
    r"(?: \((?P<errors>\d+) errors?, (?P<warnings>\d+) warnings?\))?$",
    re.MULTILINE,
)
_SEVERITY = re.compile(r"(?P<word>error|warning|warn|info) ?:\s*", re.IGNORECASE)
_KINDS = (
    re.compile(r"(?:\(.*?\) )?Potential (?P<kind>RAW|WAR|WAW) hazard detected"),
    re.compile(r"(?P<kind>Race) reported between "),
    re.compile(r"Barrier error detected\. (?P<kind>[^.]+)\.?$"),
    re.compile(r"(?P<kind>Invalid __\w+__ \w+) of size "),
    re.compile(r"(?P<kind>Uninitialized __\w+__ memory read) of size "),
)
# What says nothing of the program's faults: the title, the end of the process under the tool.
_IGNORED = re.compile(
    r"COMPUTE-SANITIZER$|\w+ SUMMARY: |Launch #\d+|$"
    r"|Target application returned an error|Error: process didn't terminate successfully"
)
_FAILED = re.compile(
    r"No attachable process|timed-out|Internal Sanitizer|didn't track|not supported"
    r"|before first instrumented|Results might be incorrect|Inconsistent record"
    r"|Unable to |Failed to |max hazards number",
    re.IGNORECASE,
)
_PLACE = re.compile(
    r"(?:\bat|Device Frame:) (?P<function>\S.*?)\+0x[0-9a-f]+(?: in (?P<path>.+?):(?P<line>\d+))?"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Record:
    """One message; `kind` is empty for one that is no fault, `None` for one not known here."""

    severity: Severity
    kind: str | None
    lines: tuple[str, ...]


def _summary(tool: str, log: str) -> tuple[int, int] | None:
    """Give the errors and the warnings of the one summary there must be."""
    wanted = "RACECHECK" if tool == "racecheck" else "ERROR"
    found = [match for match in _SUMMARY.finditer(log) if match["name"] == wanted]
    if len(found) != 1:
        return None
    (summary,) = found
    if summary["errors"] is None:
        return int(summary["count"]), 0
    return int(summary["errors"]), int(summary["warnings"])


def _records(log: str) -> Iterator[_Record]:
    """Cut the text into messages: a line at the margin, and the indented ones below it."""
    lines: list[str] = []
    for line in map(_LINE.fullmatch, log.splitlines()):
        if line is None:
            continue
        if len(line["indent"]) <= 1 and lines:
            yield _record(tuple(lines))
            lines = []
        if lines or line["text"]:
            lines.append(line["text"].strip())
    if lines:
        yield _record(tuple(lines))


def _record(lines: tuple[str, ...]) -> _Record:
    said = _SEVERITY.match(lines[0])
    text = lines[0][said.end() :] if said else lines[0]
    severity: Severity = "warning" if said and said["word"][0] in "wW" else "error"
    kinds = (match["kind"] for match in (pattern.match(text) for pattern in _KINDS) if match)
    kind = next(kinds, "" if _IGNORED.match(lines[0]) else None)
    return _Record(severity=severity, kind=kind, lines=lines)


def _grouped(records: tuple[_Record, ...], files: Collection[str]) -> tuple[Reported, ...]:
    """Count the records that agree in severity, kind, kernel and lines."""
    found = Counter(
        (record.severity, record.kind, *_places(record, files)) for record in records if record.kind
    )
    grouped = [
        Reported(severity=severity, kind=str(kind), kernel=kernel, lines=lines, count=count)
        for (severity, kind, kernel, lines), count in found.items()
    ]
    return tuple(sorted(grouped))


def _places(record: _Record, files: Collection[str]) -> tuple[str, tuple[str, ...]]:
    """Give a record's kernel and the source lines it names; host frames are not looked at.

    Where functions were inlined the frames go outwards: the kernel is the last.
    """
    device = [line for line in record.lines if not line.startswith(("Host Frame", "Saved host"))]
    places = [match for line in device for match in _PLACE.finditer(line)]
    named = [(_file(match["path"], files), match["line"]) for match in places]
    lines = tuple(dict.fromkeys(f"{file}:{line}" for file, line in named if file))
    return (places[-1]["function"].partition("(")[0] if places else ""), lines


def _file(path: str | None, files: Collection[str]) -> str:
    """Give the project's file that a path ends in: the folders before it are a machine's own."""
    return next((file for file in sorted(files) if f"/{path}".endswith(f"/{file}")), "")


# ── its XML ──────────────────────────────────────────────────────────────────────────────────


_LAUNCH = "LaunchInfo"


def _saved(xml: str) -> Counter[str] | None:
    """Count the saved file's records by kind; `None` where it is not a whole report."""
    if "<!DOCTYPE" in xml or "<!ENTITY" in xml:  # nothing the tool writes
        return None
    try:
        root = ElementTree.fromstring(xml)  # noqa: S314 - without a DTD there are no entities
    except ElementTree.ParseError:
        return None
    if root.tag != "ComputeSanitizerOutput":
        return None
    return Counter(record.findtext("kind", "") for record in root.iter("record"))
