"""The `glossary` command: arguments in, one call of the engine, text and an exit status out.

Comes in: `sys.argv`, the working directory, the clock, the environment. Goes out: 0 clean,
1 problems, 2 misuse or missing means. Must not decide anything itself.
"""

from __future__ import annotations

import argparse
import datetime
import io
import json
import os
import re
import sys
import webbrowser
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import shtab

import measured_glossary.rarely  # noqa: F401 - what it does, it does for the imports below too
from measured_glossary import (
    __version__,
    cli_machines,
    cli_new,
    cli_trust,
    explain,
    export,
    path,
    pipeline,
    status,
    website,
)
from measured_glossary.entry import json_schema
from measured_glossary.lab.studies import measure
from measured_glossary.problem import Format, Problem, Refused, meant, render
from measured_glossary.progress import Progress
from measured_glossary.project import read_project
from measured_glossary.trust.folder import ENTRIES, entry_ids

Command = Callable[[argparse.Namespace], int]

SCHEMAS = {"entry": json_schema, "path": path.json_schema}
INTERRUPTED = 130  # as shells have it: 128 and the number of SIGINT

DESCRIPTION = """\
A glossary whose numbers are measured by the build and whose pages are signed by two people.

Write:    new, check, preview          Measure:  measure, status
Sign:     doctor, sign, review, …      Publish:  export, audit
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; a user's mistake is printed, never traced."""
    _print_any_character()
    arguments = parser().parse_args(argv)
    command: Command = arguments.command
    try:
        status = command(arguments)
        if sys.stdout:  # there is none where it was closed
            sys.stdout.flush()
    except Refused as refused:
        form: Format = getattr(arguments, "format", "text")
        # Programs read standard output; people see both.
        told = render(refused.problems, form)
        print(told, file=sys.stderr if form == "text" else sys.stdout)
        return 1
    except BrokenPipeError:  # nobody reads on, and what is still in the buffer goes nowhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        print("\nglossary: interrupted", file=sys.stderr)
        return INTERRUPTED
    return status


def _print_any_character() -> None:
    """Let standard output escape what its encoding does not have, as standard error does."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


class _Parser(argparse.ArgumentParser):
    """A parser, of a command too, that takes for a word what is text, unless it names a path."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.register("type", None, _text)

    def add_subparsers(self, **options: Any) -> Any:
        """Add commands: each parser reads its own words, of which some are paths."""
        made = super().add_subparsers(**options)
        made.type = str
        return made


def _text(word: str) -> str:
    """Read a word as UTF-8 where the terminal is said not to have its characters."""
    try:
        return os.fsencode(word).decode("utf-8") if re.search("[\ud800-\udfff]", word) else word
    except UnicodeError:
        raise argparse.ArgumentTypeError(f"expected text in UTF-8, found {word!a}") from None


def parser() -> argparse.ArgumentParser:
    """Describe the command line."""
    made: argparse.ArgumentParser = _Parser(
        prog="glossary",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("--version", action="version", version=f"glossary {__version__}")
    shtab.add_argument_to(made, "--print-completion", help="print a completion script")
    commands = made.add_subparsers(title="commands", metavar="COMMAND", required=True)
    cli_new.add_commands(commands, add_command)
    _add_writing(commands)
    _add_measuring(commands)
    _add_publishing(commands)
    cli_machines.add_commands(commands, add_command)
    cli_trust.add_commands(commands)
    return made


def _add_writing(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    made = add_command(commands, "check", run_check, "check every entry, kernel, record and claim")
    made.add_argument("entry", nargs="*", help="only these entries")
    add_no_cache(made)
    made.add_argument("--format", choices=("text", "github", "json"), default="text")
    made = add_command(commands, "explain", run_explain, "explain a problem's code")
    made.add_argument("code", nargs="?", help="without one, the codes are listed")
    made = add_command(commands, "schema", run_schema, "print the JSON Schema of front matter")
    made.add_argument("of", nargs="?", choices=tuple(SCHEMAS), default="entry", help="of what")
    made = add_command(
        commands, "preview", run_preview, "build the site with drafts, into preview/"
    )
    made.add_argument("entry", nargs="?", help="whose page is told, or opened: the site is whole")
    made.add_argument("--open", action="store_true", help="open the page in the browser")
    add_no_cache(made)


def _add_measuring(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    made = add_command(commands, "measure", run_measure, "run experiments here and keep the record")
    made.add_argument("experiment", nargs="*", help="ids; without one, every experiment")
    made.add_argument("--launches", type=positive, help="fewer launches, for a trial: not kept")
    cli_machines.extend_measure(made)
    made = add_command(commands, "status", run_status, "what each entry is and what it needs")
    made.add_argument("--json", action="store_true", help="for programs")
    add_no_cache(made)


def _add_publishing(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    made = add_command(
        commands, "export", run_export, "write the site as Markdown, for Zensical and others"
    )
    made.add_argument("folder", type=Path, help="a new or empty folder").complete = shtab.DIRECTORY  # type: ignore[attr-defined]
    add_no_cache(made)


def add_no_cache(made: argparse.ArgumentParser) -> None:
    """Let a command do everything anew; signatures are verified anew in any case."""
    made.add_argument("--no-cache", action="store_true", help="parse and render everything anew")


def add_command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    command: Command,
    summary: str,
) -> argparse.ArgumentParser:
    """Add a command with the options every command has."""
    made = commands.add_parser(
        name, help=summary, description=f"{summary[0].upper()}{summary[1:]}."
    )
    made.add_argument("--root", type=Path, default=Path(), help="the project; default: this folder")
    made.set_defaults(command=command)
    return made


def positive(text: str) -> int:
    """Read a whole number above zero."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number above 0, found {text!r}")
    return int(text)


# ── writing ──────────────────────────────────────────────────────────────────────────────────


def run_check(arguments: argparse.Namespace) -> int:
    """Check everything that can be checked here; drafts are no fault."""
    glossary = _glossary(arguments, only=arguments.entry)
    known = [entry.id for entry in glossary.entries]
    wanted = set(arguments.entry or known)
    if unknown := sorted(wanted - set(known)):
        return _misuse(_no_such("entry", unknown, known))
    found = [p for entry in glossary.entries if entry.id in wanted for p in entry.verdict.reasons]
    if not arguments.entry:
        found += website.reference_faults(glossary, arguments.root / "docs")
    if found or arguments.format == "json":
        print(render(found, arguments.format))
    if arguments.format == "text":
        entries, problems = _counted(len(wanted), "entry"), _counted(len(set(found)), "problem")
        print(f"{entries} checked, {problems}", file=sys.stderr)
    return 1 if found else 0


def _counted(number: int, what: str) -> str:
    many = f"{what[:-1]}ies" if what.endswith("y") else f"{what}s"
    return f"{number} {what if number == 1 else many}"


def _no_such(what: str, unknown: Sequence[str], known: Sequence[str]) -> str:
    """Say which names are not there, and which are meant or there are."""
    there = meant(unknown[0], known, f"there are: {', '.join(known) or 'none'}")
    return f"there is no {what} {', '.join(map(repr, unknown))}; {there}"


def run_explain(arguments: argparse.Namespace) -> int:
    """Print what a problem's code means."""
    known = explain.sections()
    if arguments.code in known:
        print(f"{arguments.code}\n\n{known[arguments.code]}")
        return 0
    if arguments.code is None:
        print("\n".join(known))
        return 0
    close = ", ".join(explain.near(arguments.code))
    near = f"near it: {close}" if close else "glossary explain lists all"
    return _misuse(f"there is no problem {arguments.code!r}; {near}")


def run_schema(arguments: argparse.Namespace) -> int:
    """Print the JSON Schema that lets editors complete and check front matter or a study path."""
    print(json.dumps(SCHEMAS[arguments.of](), indent=2))
    return 0


def run_preview(arguments: argparse.Namespace) -> int:
    """Build the whole site with its drafts, marked as drafts, into `preview/`."""
    from measured_glossary import preview  # imports MkDocs, which no other command needs

    root, wanted = arguments.root.resolve(), arguments.entry
    if wanted and (root / ENTRIES).is_dir() and wanted not in entry_ids(root):
        return _misuse(_no_such("entry", [wanted], entry_ids(root)))
    tell = partial(print, file=sys.stderr)
    index = preview.build(root, tell, use_cache=not arguments.no_cache)
    page = index.parent / ENTRIES / wanted / index.name if wanted else index
    print(f"built {page}")
    if arguments.open:
        webbrowser.open(page.as_uri())
    return 0


# ── measuring and publishing ─────────────────────────────────────────────────────────────────


def run_measure(arguments: argparse.Namespace) -> int:
    """Run experiments on this machine's GPU and keep their records."""
    known = pipeline.experiment_ids(arguments.root)
    if not known and (outside := read_project(arguments.root).problems):
        raise Refused(outside)
    wanted = arguments.experiment or list(known)
    if unknown := sorted(set(wanted) - set(known)):
        return _misuse(_no_such("experiment", unknown, known))
    if not wanted:
        return _misuse("there is no experiment in code/ yet: glossary new TERM writes one")
    progress = Progress(sys.stderr)
    settings = pipeline.settings_for(arguments.root, "live", os.environ, progress).lab
    if arguments.dask:
        return cli_machines.on_cluster(arguments, wanted, settings)
    settings = replace(settings, launches=arguments.launches, tell=progress.say)
    problems: list[Problem] = []
    kept_files: list[str] = []
    for name in wanted:
        record = measure(arguments.root, name, settings)
        problems += record.problems
        if record.value is not None:
            kept_files += [] if arguments.launches else [record.value.file]
            kept = "a trial, not kept" if arguments.launches else f"kept in {record.value.file}"
            print(f"{name}: measured on {record.value.machine.name}, {kept}")
    cli_machines.sign_measured(arguments, kept_files)
    if problems:
        raise Refused(problems)
    return 0


def run_status(arguments: argparse.Namespace) -> int:
    """Print each entry's verdict, what is missing and the next command."""
    glossary = _glossary(arguments)
    print(status.as_json(glossary) if arguments.json else status.as_text(glossary))
    return 0


def run_export(arguments: argparse.Namespace) -> int:
    """Write the published site as a project that needs no plugin."""
    root: Path = arguments.root
    title = getattr(read_project(root).value, "title", "")
    settings = export.read_settings(root, title, os.environ)
    glossary = _glossary(arguments, docs=settings.docs_dir)
    pipeline.refuse_wrong_evidence(glossary)
    if faults := website.reference_faults(glossary, root / settings.docs_dir):
        raise Refused(faults)
    written = export.write(export.Site(glossary=glossary, settings=settings), arguments.folder)
    entries = _counted(len(glossary.published()), "published entry")
    print(f"wrote {_counted(len(written), 'file')} with {entries} to {arguments.folder}")
    for left in settings.left_out():
        print(f"left out, since only MkDocs runs it: {left}", file=sys.stderr)
    return 0


def _glossary(
    arguments: argparse.Namespace, docs: str = "docs", only: Sequence[str] = ()
) -> pipeline.Glossary:
    root, today = arguments.root, datetime.datetime.now(datetime.UTC).date()
    found = pipeline.settings_for(
        root,
        "recorded",
        os.environ,
        Progress(sys.stderr),
        today=None if arguments.no_cache else today,
    )
    settings = replace(found, docs=docs, only=frozenset(only))
    return pipeline.build(root, settings, today)


def _misuse(message: str) -> int:
    print(f"glossary: {message}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
