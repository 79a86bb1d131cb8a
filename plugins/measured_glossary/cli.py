"""The `glossary` command: arguments in, one call of the engine, text and an exit status out.

Comes in: `sys.argv`, the working directory, the clock, the environment. Goes out: 0 clean,
1 problems, 2 misuse or missing means. Must not decide anything itself.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import sys
import webbrowser
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import shtab

from measured_glossary import (
    __version__,
    cli_machines,
    cli_trust,
    explain,
    export,
    pipeline,
    scaffold,
    status,
)
from measured_glossary.entry import json_schema
from measured_glossary.lab.study import Measure, measure
from measured_glossary.problem import Problem, Refused, render
from measured_glossary.progress import Progress

Command = Callable[[argparse.Namespace], int]

DESCRIPTION = """\
A glossary whose numbers are measured by the build and whose pages are signed by two people.

Write:    new, check, preview          Measure:  measure, status
Sign:     doctor, sign, review, …      Publish:  export, audit
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; a user's mistake is printed, never traced."""
    arguments = parser().parse_args(argv)
    command: Command = arguments.command
    try:
        return command(arguments)
    except Refused as refused:
        print(render(refused.problems, getattr(arguments, "format", "text")), file=sys.stderr)
        return 1
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        print("interrupted; nothing was half-written", file=sys.stderr)
        return 2


def parser() -> argparse.ArgumentParser:
    """Describe the command line."""
    made = argparse.ArgumentParser(
        prog="glossary",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("--version", action="version", version=f"glossary {__version__}")
    shtab.add_argument_to(made, "--print-completion", help="print a completion script")
    commands = made.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_writing(commands)
    _add_measuring(commands)
    _add_publishing(commands)
    cli_machines.add_commands(commands, add_command)
    cli_trust.add_commands(commands)
    return made


def _add_writing(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    made = add_command(commands, "init", run_init, "start a glossary in a folder")
    made.add_argument("folder", nargs="?", default=".", help="default: this folder").complete = (  # type: ignore[attr-defined]
        shtab.DIRECTORY
    )
    made = add_command(commands, "new", run_new, "start an entry with its experiment")
    made.add_argument("term", help="the term, for example 'bank conflict'")
    made.add_argument("--area", default="Execution model", help="default: %(default)s")
    made.add_argument("--without-experiment", action="store_true", help="prose and sources only")
    made = add_command(commands, "check", run_check, "check every entry, kernel, record and claim")
    made.add_argument("entry", nargs="*", help="only these entries")
    made.add_argument("--format", choices=("text", "github", "json"), default="text")
    made = add_command(commands, "explain", run_explain, "explain a problem's code")
    made.add_argument("code", nargs="?", help="without one, the codes are listed")
    made = add_command(commands, "schema", run_schema, "print the JSON Schema of front matter")
    made = add_command(
        commands, "preview", run_preview, "build the site with drafts, into preview/"
    )
    made.add_argument("--open", action="store_true", help="open it in the browser")


def _add_measuring(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    made = add_command(commands, "measure", run_measure, "run experiments here and keep the record")
    made.add_argument("experiment", nargs="*", help="ids; without one, every experiment")
    made.add_argument("--launches", type=positive, help="fewer launches, for a trial: not kept")
    made = add_command(commands, "status", run_status, "what each entry is and what it needs")
    made.add_argument("--json", action="store_true", help="for programs")


def _add_publishing(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    made = add_command(commands, "export", run_export, "write the published pages as Markdown")
    made.add_argument("folder", help="a new or empty folder").complete = shtab.DIRECTORY  # type: ignore[attr-defined]


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
    number = int(text)
    if number < 1:
        raise ValueError
    return number


# ── writing ──────────────────────────────────────────────────────────────────────────────────


def run_init(arguments: argparse.Namespace) -> int:
    """Write the files of an empty glossary."""
    root = Path(arguments.folder).resolve()
    files = scaffold.new_glossary(
        root.name.replace("-", " ").capitalize(), scaffold.slug(root.name)
    )
    scaffold.write_all(root, files)
    print(f"wrote {', '.join(sorted(files))}")
    print("next:  glossary new 'bank conflict'\n       mkdocs serve")
    return 0


def run_new(arguments: argparse.Namespace) -> int:
    """Write a new entry, its kernel and its experiment."""
    if not scaffold.slug(arguments.term):
        return _misuse(f"{arguments.term!r} has no letter or digit to make an id from")
    files = scaffold.new_entry(
        arguments.term, arguments.area, with_experiment=not arguments.without_experiment
    )
    scaffold.write_all(arguments.root, files)
    print("wrote " + "\n      ".join(sorted(files)))
    print("next:  glossary check\n       mkdocs serve")
    return 0


def run_check(arguments: argparse.Namespace) -> int:
    """Check everything that can be checked here; drafts are no fault."""
    glossary = _glossary(arguments.root, "recorded")
    wanted = set(arguments.entry) or {entry.id for entry in glossary.entries}
    if unknown := wanted - {entry.id for entry in glossary.entries}:
        return _misuse(f"there is no entry {', '.join(sorted(unknown))}")
    found = [p for entry in glossary.entries if entry.id in wanted for p in entry.verdict.reasons]
    if found or arguments.format == "json":
        print(render(found, arguments.format))
    if arguments.format == "text":
        print(f"{len(wanted)} entries checked, {len(set(found))} problems", file=sys.stderr)
    return 1 if found else 0


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
    return _misuse(
        f"there is no problem {arguments.code!r}" + (f"; near it: {close}" if close else "")
    )


def run_schema(arguments: argparse.Namespace) -> int:
    """Print the JSON Schema that lets editors complete and check front matter."""
    print(json.dumps(json_schema(), indent=2))
    return 0


def run_preview(arguments: argparse.Namespace) -> int:
    """Build the whole site with its drafts, marked as drafts, into `preview/`."""
    from measured_glossary import preview  # imports MkDocs, which no other command needs

    index = preview.build(arguments.root.resolve())
    print(f"built {index}")
    if arguments.open:
        webbrowser.open(index.as_uri())
    return 0


# ── measuring and publishing ─────────────────────────────────────────────────────────────────


def run_measure(arguments: argparse.Namespace) -> int:
    """Run experiments on this machine's GPU and keep their records."""
    known = pipeline.experiment_ids(arguments.root)
    wanted = arguments.experiment or list(known)
    if unknown := sorted(set(wanted) - set(known)):
        return _misuse(f"there is no experiment {', '.join(unknown)}; there are {', '.join(known)}")
    settings = pipeline.settings_for(arguments.root, "live", os.environ, Progress(sys.stderr)).lab
    settings = replace(settings, launches=arguments.launches)
    problems: list[Problem] = []
    for name in wanted:
        record = measure(arguments.root, name, settings)
        problems += record.problems
        if record.value is not None:
            kept = "a trial, not kept" if arguments.launches else f"kept in {record.value.file}"
            print(f"{name}: measured on {record.value.machine.name}, {kept}")
    if problems:
        raise Refused(problems)
    return 0


def run_status(arguments: argparse.Namespace) -> int:
    """Print each entry's verdict, what is missing and the next command."""
    glossary = _glossary(arguments.root, "recorded")
    print(status.as_json(glossary) if arguments.json else status.as_text(glossary))
    return 0


def run_export(arguments: argparse.Namespace) -> int:
    """Write the published pages as plain Markdown."""
    glossary = _glossary(arguments.root, "recorded")
    written = export.write(glossary, Path(arguments.folder), arguments.root / "docs")
    print(f"wrote {len(written)} files to {arguments.folder}")
    return 0


def _glossary(root: Path, how: Measure) -> pipeline.Glossary:
    settings = pipeline.settings_for(root, how, os.environ, Progress(sys.stderr))
    return pipeline.build(root, settings, datetime.datetime.now(datetime.UTC).date())


def _misuse(message: str) -> int:
    print(f"glossary: {message}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
