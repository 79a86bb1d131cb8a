"""Commands that begin something: a glossary in a folder, an entry with experiment and test.

Comes in: parsed arguments, and in a terminal what is typed there. Goes out: new files, what was
written, what to type next, and an exit status. Must not overwrite anything.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import shtab

from measured_glossary import scaffold
from measured_glossary.entry import Entry, parse
from measured_glossary.path import PATHS
from measured_glossary.problem import Checked, Place, Problem, Refused
from measured_glossary.project import SETTINGS_FILE, read_project
from measured_glossary.scaffold import Draft
from measured_glossary.source import Source, read
from measured_glossary.trust.folder import entry_ids

AddCommand = Callable[..., argparse.ArgumentParser]


def add_commands(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], add: AddCommand
) -> None:
    """Describe the commands that begin something; `add` gives a command its usual options."""
    made = add(commands, "init", run_init, "start a glossary in a folder")
    folder = made.add_argument("folder", nargs="?", type=Path, default=Path())
    folder.help, folder.complete = "default: this folder", shtab.DIRECTORY  # type: ignore[attr-defined]
    made = add(commands, "new", run_new, "start an entry with its experiment and a test")
    made.epilog = "In a terminal it asks for what no option gives."
    made.add_argument("term", nargs="?", help="the term, for example 'bank conflict'")
    made.add_argument("--id", default="", help="its folder's name; default: made from the term")
    for field in FIELDS:
        made.add_argument(field.option, help=field.help)
    either = made.add_mutually_exclusive_group()
    for option, value in (("--with-experiment", True), ("--without-experiment", False)):
        told = "kernel, experiment and test too" if value else "prose and sources only"
        either.add_argument(option, dest="experiment", action="store_const", const=value, help=told)


# ── init ─────────────────────────────────────────────────────────────────────────────────────


def run_init(arguments: argparse.Namespace) -> int:
    """Write the files of an empty glossary."""
    folder: Path = arguments.root / arguments.folder
    if os.path.lexists(folder) and not folder.is_dir():
        return _misuse(f"{folder} is a file: name a folder, there or to be made")
    if os.path.lexists(folder / SETTINGS_FILE):
        raise Refused([_begun_already(folder)])
    others = (
        [path for path in folder.iterdir() if path.name != ".git"]
        if os.path.lexists(folder)
        else []
    )
    files = scaffold.new_glossary(folder.resolve().name)
    scaffold.write_all(folder, files)
    print(_wrote(files))
    if others:
        print(f"left   {_named(path.name for path in others)}, which stood there already")
    go = "" if folder.resolve() == Path.cwd() else f"cd {shlex.quote(str(folder))}\n       "
    print(f"next:  {go}glossary new 'bank conflict'\n       mkdocs serve")
    return 0


def _begun_already(folder: Path) -> Problem:
    return Problem(
        place=Place(SETTINGS_FILE),
        code="file-exists",
        message=f"a glossary stands in {folder.resolve().name} already",
        hint="glossary new TERM adds an entry to it",
    )


def _named(names: Iterable[str], most: int = 3) -> str:
    first = sorted(names)
    more = f" and {len(first) - most} more" if len(first) > most else ""
    return ", ".join(first[:most]) + more


# ── new ──────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Field:
    """What a new entry is asked for: its key in the front matter, and the words of the question."""

    key: str
    asked: str
    help: str

    @property
    def option(self) -> str:
        """The option that gives it."""
        return f"--{self.key.replace('_', '-')}"


FIELDS = (
    Field(
        "question",
        "The question it answers",
        "the page's title; default: What does TERM mean in CUDA?",
    ),
    Field("answer", "The answer, in one sentence", "in one sentence; default: one to replace"),
    Field("area", "The area", f"the part of the subject; default: {scaffold.AREA}"),
    Field("applies_to", "What hardware it holds for", f"default: {scaffold.APPLIES_TO}"),
)


def run_new(arguments: argparse.Namespace) -> int:
    """Write a new entry, its kernel, its experiment and a test of its claims."""
    if outside := read_project(arguments.root).problems:
        raise Refused(outside)
    asks = sys.stdin.isatty() and sys.stdout.isatty()
    if arguments.term is None and not asks:
        return _misuse("the term is missing: glossary new 'bank conflict'")
    term = _line("The term", "") if arguments.term is None else arguments.term
    draft = scaffold.draft(term, arguments.id)
    if not draft.id:
        return _misuse(f"{term!r} has no letter or digit to make an id from: add --id NAME")
    draft = _given(draft, arguments)
    if told := _faults(draft):
        return _misuse("\n          ".join(told))
    if asks:
        scaffold.refuse_taken(
            arguments.root, scaffold.new_entry(replace(draft, with_experiment=False))
        )
        draft = _asked(draft, arguments)
    files = scaffold.new_entry(draft)
    scaffold.write_all(arguments.root, files)
    if not arguments.id:
        print(f"id     {draft.id}, made from the term; --id NAME gives another")
    print(_wrote(files))
    test = f"\n       pytest {scaffold.file_of_test(draft)}" if draft.with_experiment else ""
    print(f"next:  glossary check {draft.id}\n       glossary preview {draft.id} --open{test}")
    if paths := sorted(path.name for path in (arguments.root / PATHS).glob("*.yml")):
        any_of = " or ".join(f"{PATHS}/{name}" for name in paths)
        print(f"then:  a step '- entry: {draft.id}' in {any_of}")
    return 0


def _given(draft: Draft, arguments: argparse.Namespace) -> Draft:
    """Take what the options say, and an area that the glossary has."""
    areas = _areas(arguments.root)
    if areas and draft.area not in areas:
        draft = replace(draft, area=areas[0])
    values = {field.key: getattr(arguments, field.key) for field in FIELDS}
    given = {key: value for key, value in values.items() if value is not None}
    return replace(draft, with_experiment=arguments.experiment is not False, **given)


def _asked(draft: Draft, arguments: argparse.Namespace) -> Draft:
    """Ask for what no option gave, with what will do in brackets."""
    print("Enter takes what stands in brackets; all of it can be changed later.")
    for field in FIELDS:
        if getattr(arguments, field.key) is None:
            areas = _areas(arguments.root) if field.key == "area" else ()
            so_far = f" (so far: {', '.join(areas)})" if areas else ""
            draft = _one_asked(draft, field.key, field.asked + so_far)
    if arguments.experiment is None:
        said = _line("With kernel, experiment and test", "yes").casefold()
        draft = replace(draft, with_experiment=not said.startswith("n"))
    return draft


def _one_asked(draft: Draft, key: str, words: str) -> Draft:
    """Ask for one value until it is one that an entry can have."""
    while True:
        said: dict[str, Any] = {key: _line(words, getattr(draft, key))}
        asked = replace(draft, **said)
        told = [fault.partition(": ")[2] for fault in _faults(asked) if fault.startswith(f"{key}:")]
        if not told:
            return asked
        print("\n".join(f"  {fault}" for fault in told))


def _line(words: str, default: str) -> str:
    """Read one line from the terminal; its end there is an interruption."""
    try:
        return input(f"{words} [{default}]: " if default else f"{words}: ").strip() or default
    except EOFError:
        raise KeyboardInterrupt from None


def _faults(draft: Draft) -> list[str]:
    """Say why an entry could not be read: the fault is in what was given, and is told as such."""
    parsed = _read(draft)
    of_id = [fault for fault in parsed.problems if fault.code == "entry-id"]
    return [] if parsed.value else sorted({fault.message for fault in of_id or parsed.problems})


def _read(draft: Draft) -> Checked[Entry]:
    file = f"glossary/{draft.id}/entry.md"
    text = scaffold.new_entry(draft)[file]
    return parse(draft.id, Source(file, text.encode(), text))


def _areas(root: Path) -> tuple[str, ...]:
    """Give the areas that the glossary's readable entries are in."""
    files = ((name, f"glossary/{name}/entry.md") for name in entry_ids(root))
    sources = ((name, read(root, file).value) for name, file in files)
    entries = (parse(name, source).value for name, source in sources if source)
    return tuple(sorted({entry.front.area for entry in entries if entry}))


def _wrote(files: Iterable[str]) -> str:
    return "wrote  " + "\n       ".join(sorted(files))


def _misuse(message: str) -> int:
    print(f"glossary: {message}", file=sys.stderr)
    return 2
