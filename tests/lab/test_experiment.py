"""What an author declares, and every misuse of it reported at once at its line."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from measured_glossary.lab.experiment import (
    Experiment,
    Fault,
    bytes_,
    exact,
    outcome,
    racy,
    time,
)
from measured_glossary.lab.table import Column

HEAD = """
from measured_glossary.lab.experiment import *
from measured_glossary.lab.experiment import Experiment, exact, racy, time, outcome, bytes_
experiment = Experiment(title="T", sources=["k.cu"])
KEY = {"n": exact("N")}
COLUMNS = {"wrong": racy("Wrong")}
"""
FIRST = HEAD.count("\n") + 1  # the line on which the text below HEAD begins

GOOD = '''
@experiment.runtime(key=KEY, columns=COLUMNS)
def rows(gpu):
    """One size."""
'''


def declared(text: str) -> Experiment:
    """Execute an experiment's file."""
    names: dict[str, object] = {}
    exec(HEAD + textwrap.dedent(text).lstrip("\n"), names)  # noqa: S102 - written in this file
    found = names["experiment"]
    assert isinstance(found, Experiment)
    return found


def faults(text: str) -> list[tuple[int, str]]:
    """Give line, counted from the first below HEAD, and code of each fault."""
    return [(fault.line - FIRST + 1, fault.code) for fault in declared(text).faults()]


def test_a_runtime_probe_becomes_a_table() -> None:
    """The decorator keeps key, columns, sentence and launches, and the function stays callable."""
    experiment = Experiment(title="T", sources=["k.cu"])

    @experiment.runtime(
        key={"threads": exact("Threads")},
        columns={"wrong": racy("Wrong", of=8), "took": time("Took", "µs"), "size": bytes_("Size")},
        launches=5,
    )
    def mismatches(gpu: object) -> str:
        """One block size,
        on one machine.
        """  # noqa: D205 - a sentence over two lines
        return "called"

    table = experiment.probes[0].table
    assert table.key == (Column(name="threads", label="Threads", kind="exact"),)
    assert table.columns == (
        Column(name="wrong", label="Wrong", kind="racy", of=8),
        Column(name="took", label="Took", kind="time", unit="µs"),
        Column(name="size", label="Size", kind="bytes", unit="bytes"),
    )
    assert (table.name, table.kind, table.launches) == ("mismatches", "runtime", 5)
    assert table.text == "One block size, on one machine."
    assert mismatches(None) == "called"
    assert experiment.faults() == ()


def test_an_outcome_probe_has_the_column_outcome() -> None:
    """The outcome of each case is a column that the author does not declare."""
    experiment = Experiment(title="T", sources=["k.cu"])

    @experiment.outcomes(cases=[{"n": 1}, {"n": 2}], key={"n": exact("N")}, limit_s=2)
    def cases(gpu: object, n: int) -> None:
        """One case."""

    probe = experiment.probes[0]
    assert [column.name for column in probe.table.columns] == ["outcome"]
    assert (probe.cases, probe.limit_s) == (({"n": 1}, {"n": 2}), 2)
    assert experiment.faults() == ()


def test_a_claim_names_its_tables_by_its_parameters() -> None:
    """A claim has its sentence, its tables and its line."""
    experiment = declared(
        GOOD
        + '''
@experiment.claim
def holds(rows):
    """It holds."""
    assert rows
'''
    )
    (claim,) = experiment.claims
    assert (claim.name, claim.text, claim.tables) == ("holds", "It holds.", ("rows",))
    assert claim.line - FIRST + 1 == 5
    assert experiment.faults() == ()


def test_forms_of_columns() -> None:
    """Each constructor gives its kind."""
    forms = [exact("a"), racy("a"), time("a"), outcome("a"), bytes_("a")]
    kinds = ["exact", "racy", "time", "outcome", "bytes"]
    assert [form.kind for form in forms] == kinds


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('experiment = Experiment(title="", sources=["k.cu"])', "experiment-declaration"),
        ('experiment = Experiment(title="T", sources=[])', "experiment-declaration"),
        ('experiment = Experiment(title="T", sources="k.cu")', "experiment-declaration"),
        ('experiment = Experiment(title="T", sources=["k.cu", 5])', "experiment-declaration"),
        ('experiment = Experiment("T", ["k.cu"], options="-O3")', "experiment-declaration"),
        ('experiment = Experiment("T", ["k.cu"], options=["-O3", 5])', "experiment-declaration"),
        ('experiment = Experiment("T", ["k.cu"], architectures=90)', "experiment-declaration"),
        ('experiment = Experiment("T", ["k.cu"], architectures=[])', "experiment-declaration"),
        ('experiment = Experiment("T", ["k.cu"], architectures=["90"])', "experiment-declaration"),
    ],
)
def test_a_wrong_declaration_is_a_fault(text: str, code: str) -> None:
    """The experiment's own arguments are checked, at the line of the call."""
    assert faults(text) == [(1, code)]


@pytest.mark.parametrize(
    ("decorator", "function", "code"),
    [
        ("runtime(key={}, columns=COLUMNS)", "rows(gpu)", "probe-declaration"),
        ("runtime(key=KEY, columns={})", "rows(gpu)", "probe-declaration"),
        ("runtime(key=COLUMNS, columns=KEY)", "rows(gpu)", "probe-declaration"),
        ("runtime(key=KEY, columns=KEY)", "rows(gpu)", "probe-declaration"),
        ("runtime(key=KEY, columns=COLUMNS, launches=0)", "rows(gpu)", "probe-declaration"),
        ("runtime(key=KEY, columns=COLUMNS, launches=1.5)", "rows(gpu)", "probe-declaration"),
        ("runtime(key=KEY, columns={'a': 'A'})", "rows(gpu)", "probe-column"),
        ("runtime(key=KEY, columns={'a': racy(5)})", "rows(gpu)", "probe-column"),
        ("runtime(key=KEY, columns={'a': racy('A', of=1.5)})", "rows(gpu)", "probe-column"),
        ("runtime(key=KEY, columns={'a b': racy('A')})", "rows(gpu)", "bad-name"),
        ("runtime(key=KEY, columns={'_a': racy('A')})", "rows(gpu)", "bad-name"),
        ("runtime(key=KEY, columns={'class': racy('A')})", "rows(gpu)", "bad-name"),
        ("runtime(key=KEY, columns={'ä': racy('A')})", "rows(gpu)", "bad-name"),
        ("runtime(key=KEY, columns=COLUMNS)", "record(gpu)", "bad-name"),
        ("runtime(key=KEY, columns=COLUMNS)", "rows()", "probe-signature"),
        ("static(key=KEY, columns=KEY | COLUMNS)", "rows(sass)", "probe-declaration"),
        ("static(key=KEY, columns=COLUMNS)", "rows(gpu)", "probe-signature"),
        ("outcomes(cases=[], key=KEY)", "rows(gpu, n)", "probe-declaration"),
        ("outcomes(cases=[{'m': 1}], key=KEY)", "rows(gpu, n)", "probe-declaration"),
        ("outcomes(cases=[{'n': [1]}], key=KEY)", "rows(gpu, n)", "probe-declaration"),
        ("outcomes(cases=[{'n': 1}], key=KEY, limit_s=0)", "rows(gpu, n)", "probe-declaration"),
        ("outcomes(cases=[{'n': 1}], key=KEY, limit_s=1e9)", "rows(gpu, n)", "probe-declaration"),
        ("outcomes(cases=[{'n': 1}], key=KEY)", "rows(gpu)", "probe-signature"),
        ("sanitizer('racecheck', [{'n': 1}], key=KEY)", "rows(gpu, n)", "probe-declaration"),
        ("sanitizer(['racecheck', 5], [{'n': 1}], KEY)", "rows(gpu, n)", "probe-declaration"),
        (
            "outcomes(cases=[{'n': 1}], key=KEY, columns={'outcome': outcome('O')})",
            "rows(gpu, n)",
            "probe-declaration",
        ),
    ],
)
def test_a_wrong_probe_is_a_fault(decorator: str, function: str, code: str) -> None:
    """Each misuse of a probe's decorator has a code, at the line of the probe."""
    text = f'@experiment.{decorator}\ndef {function}:\n    """One row."""\n'
    assert (1, code) in faults(text)


@pytest.mark.parametrize(
    ("claim", "code"),
    [
        ("def holds(rows):\n    assert rows", "docstring-missing"),
        ('def holds(rows):\n    """No full stop"""', "docstring-sentence"),
        ('def holds(rows):\n    """One sentence. And another."""', "docstring-sentence"),
        ('def holds():\n    """It holds."""', "claim-table"),
        ('def holds(row):\n    """It holds."""', "claim-table"),
        ('def machine(rows):\n    """It holds."""', "bad-name"),
        ('def rows(rows):\n    """It holds."""', "name-twice"),
    ],
)
def test_a_wrong_claim_is_a_fault(claim: str, code: str) -> None:
    """Each misuse of a claim has a code, at the line of the claim."""
    assert faults(f"{GOOD}\n@experiment.claim\n{claim}\n") == [(5, code)]


def test_all_faults_are_found_at_once() -> None:
    """Nothing raises at import: every fault is reported, in the order of the file."""
    found = faults(
        '''
@experiment.runtime(key={}, columns=COLUMNS, launches=-1)
def rows(gpu):
    """One size"""

@experiment.static(key=KEY, columns=COLUMNS)
def rows(sass):
    pass

@experiment.claim
def holds(nothing):
    pass
'''
    )
    assert found == [
        (1, "docstring-sentence"),
        (1, "probe-declaration"),
        (1, "probe-declaration"),
        (5, "docstring-missing"),
        (5, "name-twice"),
        (9, "docstring-missing"),
        (9, "claim-table"),
    ]


def test_a_fault_says_what_to_type() -> None:
    """The message names what was found and the hint the tables that exist."""
    experiment = declared(f'{GOOD}\n@experiment.claim\ndef holds(row):\n    """It holds."""\n')
    (fault,) = experiment.faults()
    assert fault == Fault(
        line=FIRST + 4,
        code="claim-table",
        message="the claim holds reads 'row', and no probe is called that",
        hint="did you mean 'rows'?",
    )


def test_importing_it_needs_no_more_than_the_standard_library(tmp_path: Path) -> None:
    """An author's import loads neither CuPy nor pydantic nor YAML: claims are checked anywhere."""
    script = (
        "import sys\nfrom measured_glossary.lab.experiment import Experiment\n"
        "print(sorted({'cupy', 'pydantic', 'yaml', 'numpy', 'mkdocs'} & set(sys.modules)))\n"
    )
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout == "[]\n"
