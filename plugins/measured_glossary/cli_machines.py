"""Commands about machines: compare two, sign a record with a machine's key, measure on a cluster.

Comes in: parsed arguments, the environment, the clock. Goes out: text, a signature beside a record,
and an exit status. Must not decide anything itself.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from measured_glossary import compare
from measured_glossary.cli_verify import keys_at_hand, ssh_keygen, today
from measured_glossary.lab.record import MEASUREMENTS, Record, read_record
from measured_glossary.lab.settings import Settings
from measured_glossary.pipeline import judging_registry, settings_for
from measured_glossary.problem import Place, Problem, Refused, meant
from measured_glossary.source import Source, decode, read
from measured_glossary.trust.attest import attest, machine_at_hand
from measured_glossary.trust.git import run_git

AddCommand = Callable[..., argparse.ArgumentParser]
Records = Mapping[str, Record]


def add_commands(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], add: AddCommand
) -> None:
    """Describe the commands about machines; `add` gives a command its usual options."""
    made = add(commands, "compare", run_compare, "say where two machines agree, and where not")
    made.add_argument("left", help="a machine's id, a record's file, or REVISION:FILE")
    made.add_argument("right", help="the same, of the other one")
    made.add_argument("experiment", nargs="*", help="only these; default: all that both have")
    made.add_argument("--json", action="store_true", help="for programs")
    made = add(commands, "attest", run_attest, "sign records with the key of this machine")
    made.add_argument("record", nargs="+", help=f"{MEASUREMENTS}/EXPERIMENT/MACHINE.json")
    made.add_argument("--key", type=Path, help="default: what the agent and ~/.ssh hold")
    made.add_argument("--ssh-keygen", type=Path, help="the tool that signs; default: the system's")


def extend_measure(made: argparse.ArgumentParser) -> None:
    """Let `measure` use a cluster, and sign what it kept."""
    made.add_argument("--dask", metavar="ADDRESS", help="on each kind of GPU of a Dask cluster")
    made.add_argument("--sign-with", type=Path, metavar="KEY", help="sign with a machine's key")


# ── measure, on a cluster and signed ─────────────────────────────────────────────────────────


def on_cluster(arguments: argparse.Namespace, wanted: Sequence[str], settings: Settings) -> int:
    """Measure on each distinct kind of machine among a cluster's workers."""
    if arguments.launches or arguments.sign_with:
        print(
            "glossary: --dask keeps whole records, which their own machines sign", file=sys.stderr
        )
        return 2
    from measured_glossary.lab import cluster  # imports Dask, which no other command needs

    def tell(line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    found = cluster.measure(arguments.root, wanted, arguments.dask, settings, tell)
    for record in found.records:
        print(f"{record.experiment}: measured on {record.machine.name}, kept in {record.file}")
    if found.problems:
        raise Refused(found.problems)
    return 0


def sign_measured(arguments: argparse.Namespace, files: Sequence[str]) -> None:
    """Sign what was just measured, if a machine's key was named."""
    if arguments.sign_with and files:
        sign_records(argparse.Namespace(root=arguments.root, key=arguments.sign_with), files)


# ── compare ──────────────────────────────────────────────────────────────────────────────────


def run_compare(arguments: argparse.Namespace) -> int:
    """Compare two machines' records, experiment by experiment."""
    left = records_of(arguments.root, arguments.left)
    right = records_of(arguments.root, arguments.right)
    shared = sorted(left.keys() & right.keys())
    wanted = [name for name in shared if name in (arguments.experiment or shared)]
    if not wanted or set(arguments.experiment) - set(wanted):
        raise Refused([_nothing(arguments, left, right)])
    done = [compare.compare(left[name], right[name]) for name in wanted]
    if arguments.json:
        print(json.dumps([compare.to_data(each) for each in done], indent=2, ensure_ascii=False))
    else:
        print("\n\n".join(compare.to_text(each) for each in done))
    return 0


def records_of(root: Path, named: str) -> Records:
    """Give the records that are named: one file's, one revision's, or all of a machine's."""
    file = root / named
    if file.is_file():
        return _one(decode(named, file.read_bytes()).value, named)
    if ":" in named:
        return _one(_of_revision(root, named), named)
    files = sorted(root.glob(f"{MEASUREMENTS}/*/{named}.json")) if named.isprintable() else []
    if not files or "/" in named:
        raise Refused([_unknown(root, named)])
    found = [read(root, path.relative_to(root).as_posix()) for path in files]
    problems = [problem for each in found for problem in each.problems]
    records = [read_record(each.value) for each in found if each.value]
    problems += [problem for each in records for problem in each.problems]
    if problems:
        raise Refused(problems)
    return {each.value.experiment: each.value for each in records if each.value}


def _one(source: Source | None, named: str) -> Records:
    """Read one record, wherever it lies: its name is not its own word."""
    if source is None:
        raise Refused([_unknown(Path(), named)])
    record = read_record(source, anywhere=True)
    if record.value is None:
        raise Refused(record.problems)
    return {record.value.experiment: record.value}


def _of_revision(root: Path, named: str) -> Source | None:
    """Read a file as a git revision has it."""
    ref, _, file = named.partition(":")
    asked = ("--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    commit = run_git(root, "rev-parse", *asked)
    if commit is None:
        return None
    raw = run_git(root, "cat-file", "blob", f"{commit.decode('ascii').strip()}:./{file}")
    return None if raw is None else decode(named, raw).value


def _unknown(root: Path, named: str) -> Problem:
    machines = sorted({path.stem for path in root.glob(f"{MEASUREMENTS}/*/*.json")})
    return Problem(
        place=Place(named),
        code="no-such-record",
        message="is neither a machine with a record here, nor a record's file, nor REVISION:FILE",
        hint=meant(named, machines, f"the machines are: {', '.join(machines) or 'none yet'}"),
    )


def _nothing(arguments: argparse.Namespace, left: Records, right: Records) -> Problem:
    sides = ((arguments.left, left), (arguments.right, right))
    have = "; ".join(f"{name} has {', '.join(sorted(found))}" for name, found in sides)
    asked = f" of {', '.join(arguments.experiment)}" if arguments.experiment else ""
    return Problem(
        place=Place(MEASUREMENTS),
        code="nothing-to-compare",
        message=f"the two have no experiment in common{asked}",
        hint=have,
    )


# ── attest ───────────────────────────────────────────────────────────────────────────────────


def run_attest(arguments: argparse.Namespace) -> int:
    """Sign records with a machine's key, then verify what was written as the build does."""
    sign_records(arguments, [_in_project(arguments.root, name) for name in arguments.record])
    return 0


def sign_records(arguments: argparse.Namespace, files: Sequence[str]) -> None:
    """Sign records of the project; `arguments` name the key."""
    root: Path = arguments.root
    settings = settings_for(root, "recorded", os.environ)
    registry = judging_registry(root, settings)
    machine = machine_at_hand(registry, keys_at_hand(arguments), today())
    if machine.value is None:
        raise Refused(machine.problems)
    for file in files:
        source = read(root, file)
        record = read_record(source.value) if source.value else None
        problems = (*source.problems, *(record.problems if record else ()))
        if problems:
            raise Refused(problems)
        made = attest(root, file, machine.value, ssh_keygen(arguments), os.environ)
        if made.value is None:
            raise Refused(made.problems)
        fingerprint = machine.value.key.public.fingerprint
        print(f"{made.value}: signed by {machine.value.person.id}, {fingerprint}")


def _in_project(root: Path, name: str) -> str:
    """Give a file's path from the project's root, however it was named."""
    path = Path(name)
    inside = path.resolve() if path.exists() else (root / name).resolve()
    if inside.is_relative_to(root.resolve()):
        return inside.relative_to(root.resolve()).as_posix()
    return path.as_posix()
