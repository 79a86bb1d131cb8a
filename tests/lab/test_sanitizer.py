"""What compute-sanitizer wrote, judged: clean, findings, or no verdict at all.

`reports/` holds excerpts of what 2025.3.1 wrote on an NVIDIA H200 and on a machine without a
driver: messages were left out and the summary's count with them, and temporary paths are `/build`.
"""

from __future__ import annotations

import stat
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from measured_glossary.lab import sanitizer
from measured_glossary.lab.sanitizer import Output, Report, Reported, Sanitizer, read_report

REPORTS = Path(__file__).parent / "reports"
STAND_IN = Path(__file__).parent / "workers" / "compute_sanitizer.py"
DAY14 = "code/day14-syncthreads/syncthreads.cu"
RACE = "code/data-race/data_race.cu"
DIVERGENT = "code/divergent-barrier/divergent_barrier.cu"
FILES = (DAY14, RACE, DIVERGENT)
LAUNCH = "<record><kind>LaunchInfo</kind></record>"


def output(name: str, **changed: object) -> Output:
    """What a run left: the report called `name`, of a process that came to its end."""
    texts = {end: (REPORTS / f"{name}.{end}").read_text(encoding="utf-8") for end in ("log", "xml")}
    return replace(Output(**texts, proved=True, watched=True), **changed)  # type: ignore[arg-type]


def judged(name: str, **changed: object) -> Report:
    """The report called `name`, read as that of the tool its name begins with."""
    tool = name.partition("-")[0]
    return read_report(tool if tool != "no" else "racecheck", output(name, **changed), FILES)


def group(severity: str, kind: str, kernel: str, lines: tuple[str, ...], count: int) -> Reported:
    """A group of findings."""
    return Reported(severity=severity, kind=kind, kernel=kernel, lines=lines, count=count)  # type: ignore[arg-type]


# ── what the tools wrote ─────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["racecheck-clean", "synccheck-clean"])
def test_a_whole_report_of_nothing_is_clean(name: str) -> None:
    """A summary of nothing, an empty saved report and the probe's line make "clean"."""
    assert judged(name) == Report(verdict="clean", errors=0, warnings=0)


def test_hazards_between_warps_are_errors() -> None:
    """Racecheck's hazards and its summing up are told apart, each with both of its lines."""
    store, load = f"{DAY14}:34", f"{DAY14}:35"
    kernel = "reverse_without_barrier"
    assert judged("racecheck-errors", proved=False) == Report(
        verdict="findings",
        errors=4,
        warnings=0,
        reported=(
            group("error", "RAW", kernel, (store, load), 2),
            group("error", "Race", kernel, (store, load), 1),
            group("error", "WAR", kernel, (load, store), 1),
        ),
    )


def test_hazards_inside_a_warp_are_warnings() -> None:
    """What racecheck calls warp level programming counts as warnings, and as findings."""
    report = judged("racecheck-warnings")
    assert (report.verdict, report.errors, report.warnings) == ("findings", 0, 3)
    assert {(each.severity, each.kind, each.count) for each in report.reported} == {
        ("warning", "RAW", 2),
        ("warning", "Race", 1),
    }


def test_lines_stand_in_the_order_of_the_accesses() -> None:
    """A read after a write names the store first, a write after a read the load."""
    store, load = f"{RACE}:50", f"{RACE}:51"
    assert {
        (each.kind, each.lines): each.count for each in judged("racecheck-both-ways").reported
    } == {
        ("RAW", (store, load)): 1,
        ("WAR", (load, store)): 1,
        ("Race", (load, store)): 3,
        ("Race", (store, load)): 1,
    }


def test_an_inlined_function_is_followed_to_its_kernel() -> None:
    """Synccheck names the barrier's own line first, then the line of the kernel that called it."""
    lines = (f"{DIVERGENT}:23", f"{DIVERGENT}:54")
    kind = "Divergent thread(s) in block"
    assert judged("synccheck-errors").reported == (group("error", kind, "two_arms", lines, 2),)


def test_files_of_others_are_not_named() -> None:
    """A place outside of the project's files is left out, and the finding is not."""
    report = read_report("racecheck", output("racecheck-errors"), ["code/other/syncthreads.cu"])
    assert {each.lines for each in report.reported} == {()}
    assert sum(each.count for each in report.reported) == report.errors


# ── no verdict ───────────────────────────────────────────────────────────────────────────────

NO_SUMMARY = "the tool gave no summary"
COULD_NOT = "the tool says that it could not do its work"


@pytest.mark.parametrize(
    ("name", "changed", "reason"),
    [
        ("synccheck-hung", {}, NO_SUMMARY),
        ("no-driver", {}, COULD_NOT),
        ("no-driver-exit-0", {}, COULD_NOT),
        ("racecheck-clean", {"log": ""}, NO_SUMMARY),
        ("racecheck-clean", {"proved": False}, "the probe did not come to its end under the tool"),
        ("racecheck-clean", {"watched": False}, "the tool was not in the probe's process"),
        ("racecheck-clean", {"xml": ""}, "the tool saved no report"),
        ("racecheck-clean", {"lists_launches": True}, "the tool saw no launch"),
    ],
)
def test_silence_is_not_clean(name: str, changed: dict[str, object], reason: str) -> None:
    """Whatever is missing of the proof that a tool looked, there is no verdict and no count."""
    assert judged(name, **changed) == sanitizer.inconclusive(reason)


def test_a_tool_that_lists_launches_must_have_seen_one() -> None:
    """A listed launch is no finding, and with one the report is clean."""
    xml = f"<ComputeSanitizerOutput>{LAUNCH}</ComputeSanitizerOutput>"
    assert judged("racecheck-clean", xml=xml, lists_launches=True).verdict == "clean"


@pytest.mark.parametrize("kept", range(5, 100, 5))
def test_a_log_that_was_cut_short_has_no_verdict(kept: int) -> None:
    """However much of the log is left, without its last line nothing is known."""
    log = output("racecheck-clean").log[:kept]
    assert judged("racecheck-clean", log=log) == sanitizer.inconclusive(NO_SUMMARY)


@pytest.mark.parametrize("kept", range(0, 60, 6))
def test_a_saved_report_that_was_cut_short_has_no_verdict(kept: int) -> None:
    """A saved report that is not whole may have lost its findings."""
    xml = output("racecheck-clean").xml[:kept]
    assert judged("racecheck-clean", xml=xml) == sanitizer.inconclusive("the tool saved no report")


@pytest.mark.parametrize(
    "xml",
    [
        "<SomethingElse/>",
        "<!DOCTYPE a [<!ENTITY b 'c'>]><ComputeSanitizerOutput>&b;</ComputeSanitizerOutput>",
    ],
)
def test_another_file_is_no_saved_report(xml: str) -> None:
    """Other XML, and any that declares entities, is not read."""
    assert judged("racecheck-clean", xml=xml).reason == "the tool saved no report"


def test_a_message_nobody_knows_is_not_clean() -> None:
    """A tool that says something new beside a summary of nothing is not taken for silent."""
    log = output("racecheck-clean").log.replace(
        "========= RACECHECK", "========= Warning: the moon is full\n========= RACECHECK"
    )
    report = judged("racecheck-clean", log=log)
    assert report.reason == "the tool printed a message that is not known here"


def test_a_summary_that_disagrees_with_its_messages_is_not_believed() -> None:
    """Findings that are shown and not counted, saved and not counted, or counted and not shown."""
    none = output("racecheck-clean").log.splitlines()[-1]
    found = output("racecheck-errors")
    *messages, some = found.log.splitlines()
    uncounted = "\n".join([*messages, none])
    assert judged("racecheck-errors", log=uncounted).reason == (
        "the tool shows findings and counts none"
    )
    assert judged("racecheck-clean", xml=found.xml).reason == (
        "the saved report holds findings and the summary counts none"
    )
    assert judged("racecheck-clean", log=some).reason == "the tool counts findings and shows none"


@pytest.mark.parametrize("forged", ["", "========= RACECHECK SUMMARY: 0 hazards displayed"])
def test_a_second_summary_is_not_believed(forged: str) -> None:
    """A second summary, whatever it counts, leaves no verdict; and so does another tool's only."""
    log = output("racecheck-errors").log + forged + " (0 errors, 0 warnings)\n" * bool(forged)
    report = judged("racecheck-errors", log=log)
    assert (report.verdict == "inconclusive") is bool(forged)
    assert read_report("synccheck", output("racecheck-clean"), FILES).reason == NO_SUMMARY


# ── the program ──────────────────────────────────────────────────────────────────────────────


@pytest.mark.skipif(sys.platform == "win32", reason="a script that is a program needs POSIX")
@pytest.mark.parametrize(("behaviour", "lists"), [("watches", True), ("old", False)])
def test_the_program_is_asked_what_it_can(
    behaviour: str, lists: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its version is that of the program found first; whether it lists launches, it says itself."""
    program = tmp_path / "compute-sanitizer"
    program.write_text(f"#!{sys.executable}\n{STAND_IN.read_text(encoding='utf-8')}")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    (tmp_path / "behaviour").write_text(behaviour)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert sanitizer.find() == Sanitizer(
        program=str(program), version="2025.3.1.0", lists_launches=lists
    )


def test_runs_at_once_do_not_meet() -> None:
    """Each run under way has ports of its own, and only racecheck is asked for every hazard."""
    tool = Sanitizer(program="compute-sanitizer", version="1.0", lists_launches=False)
    commands = [tool.command("racecheck", Path(), number) for number in range(8)]
    ports = [int(command[command.index("--port") + 1]) for command in commands]
    assert len({port // sanitizer.PORTS_EACH for port in ports}) == len(ports)
    assert "--racecheck-report" in commands[0]
    assert "--racecheck-report" not in tool.command("synccheck", Path(), 0)
    assert "--dump-kernel-launches" not in commands[0]
