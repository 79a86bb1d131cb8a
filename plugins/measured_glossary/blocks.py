"""The `::: blocks` of a body, each one function in one table.

Comes in: a block of an entry and the evidence it may show. Goes out: Markdown, or problems at the
block's place. Must not know verdicts, signatures or the rest of the page.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from markupsafe import Markup
from pydantic import BaseModel, BeforeValidator, Field

from measured_glossary import listing, outcomes
from measured_glossary.asked import Asked, Plain, declared_table, fence, refuse, study_of
from measured_glossary.cells import chart_row, grid, reported
from measured_glossary.chart import Chart, draw
from measured_glossary.diagram import DIAGRAM, faults, moments, still
from measured_glossary.entry import Entry, Measured
from measured_glossary.excerpt import Excerpt, cut
from measured_glossary.lab.record import REPORTED_SUFFIX, Reported
from measured_glossary.lab.study import ClaimResult, DeclaredClaim, Study
from measured_glossary.lab.table import Cell, Column, Table
from measured_glossary.markup import fill, inert, plain
from measured_glossary.problem import Checked, Place, Problem, meant
from measured_glossary.readings import (
    Reading,
    facts,
    fingerprint,
    is_static,
    of_code,
    of_report,
    of_run,
    readings,
    trouble,
    unread,
)
from measured_glossary.source import Loc, Source, validate

_LANGUAGES = {"cu": "cuda", "cuh": "cuda", "h": "cpp", "hpp": "cpp", "cpp": "cpp", "py": "python"}
_SIGNS = {"held": "✓", "refuted": "✗", "not checked here": "○"}


def _several(value: object) -> object:
    return (value,) if isinstance(value, str) else value


class _TableOptions(Plain):
    """Which columns to show, in this order; which rows; a caption before the probe's own sentence.

    `where` gives for columns of the key the value, or the values, that a row must have.
    """

    columns: tuple[str, ...] = ()
    where: dict[str, Annotated[tuple[str, ...], BeforeValidator(_several)]] = Field(
        default_factory=dict
    )
    caption: str = ""


class _CaptionOptions(Plain):
    """A caption."""

    caption: str = ""


class _DiagramOptions(Plain):
    """Which preset the diagram starts with."""

    preset: str = ""


def expand(asked: Asked) -> Checked[str]:
    """Give a block's Markdown."""
    kind = BLOCKS.get(asked.block.name)
    if kind is None:
        hint = meant(asked.block.name, BLOCKS, f"the blocks are: {', '.join(sorted(BLOCKS))}")
        return refuse(asked, "unknown-block", f"there is no block {asked.block.name!r}", hint)
    words = asked.argument.split()
    if len(words) != len(kind.argument.split()):
        usage = f"::: {asked.block.name} {kind.argument}".rstrip()
        found = repr(asked.argument) if words else "nothing"
        return refuse(asked, "block-argument", f"found {found}", f"write {usage}")
    options = validate(kind.options, asked.block.options, code="block-option")
    if options.value is None:
        return Checked(value=None, problems=options.problems)
    return kind.expand(replace(asked, options=options.value))


# ── tables ───────────────────────────────────────────────────────────────────────────────────


def _measured_table(asked: Asked) -> Checked[str]:
    return _for_each_reading(asked, _figure, fits=lambda _: True)


def _figure(asked: Asked, reading: Reading, table: Table, columns: Sequence[Column]) -> Markup:
    return figure(reading, table, columns, ident=asked.ident, caption=asked.options.caption)


def figure(
    reading: Reading, table: Table, columns: Sequence[Column], *, ident: str, caption: str = ""
) -> Markup:
    """Give one reading of a table, or some rows of it, as a figure with its origin."""
    return fill(
        "measured-table.html",
        reading=reading,
        ident=ident,
        part=_part(reading, table),
        caption=caption or table.text,
        row=table.text[:1].lower() + table.text[1:] if caption else "",
        grid=grid(table, columns),
    )


def _chart(asked: Asked) -> Checked[str]:
    return _for_each_reading(asked, _picture, fits=lambda column: column.kind in ("racy", "time"))


def _picture(asked: Asked, reading: Reading, table: Table, columns: Sequence[Column]) -> Markup:
    shared = _shared_words([column.label for column in columns])
    caption = asked.options.caption or f"{shared or table.text} by {_keys(table)}"
    caption = caption.removesuffix(".")
    chart = Chart(
        title=caption,
        key=_keys(table, sentence=True),
        axis=_axis(columns[0], shared),
        series=tuple(column.label.removeprefix(shared).lstrip(" ,") for column in columns),
        rows=tuple(chart_row(table, row, columns) for row in table.rows),
    )
    svg = draw(chart, ident=asked.ident)
    return fill(
        "chart.html",
        reading=reading,
        caption=caption,
        svg=svg,
        ident=asked.ident,
        part=_part(reading, table),
    )


def _shared_words(labels: Sequence[str]) -> str:
    """Give the words before the comma that several labels have in common."""
    heads = {label.partition(",")[0] for label in labels}
    return heads.pop() if len(labels) > 1 and len(heads) == 1 else ""


def _keys(table: Table, *, sentence: bool = False) -> str:
    keys = ", ".join(column.label for column in table.key)
    return keys if sentence else keys[:1].lower() + keys[1:]


def _axis(column: Column, shared: str) -> str:
    what = shared or column.label
    if column.of is not None:
        return f"{what}, of {column.of:,}"
    return f"{what}, {column.unit}" if column.unit else what


Drawn = Callable[[Asked, Reading, Table, Sequence[Column]], Markup]


def _for_each_reading(
    asked: Asked, draw_one: Drawn, fits: Callable[[Column], bool]
) -> Checked[str]:
    """Draw every reading of the table asked for; the first stands open, others fold away."""
    declared = declared_table(asked, asked.argument)
    if declared.value is None:
        return Checked(value=None, problems=declared.problems)
    chosen = _chosen(asked, declared.value, fits)
    found = readings(asked.studies, asked.argument)
    problems = (*chosen.problems, *_unmet(asked, declared.value, found))
    if problems or chosen.value is None:
        return Checked(value=None, problems=problems)
    names = [column.name for column in chosen.value]
    drawn = []
    for index, reading in enumerate(found):
        here = replace(asked, ident=f"{asked.ident}-{index}" if index else asked.ident)
        table = _where(asked, reading.table or declared.value)
        columns = [column for name in names for column in table.columns if column.name == name]
        drawn.append((reading, draw_one(here, reading, table, columns)))
    instead = unread(study_of(asked, declared.value), declared.value)
    return Checked(value=fill("readings.html", drawn=drawn, unread=instead))


def _where(asked: Asked, table: Table) -> Table:
    """Give the rows that are asked for; a record may lack a column that came later."""
    wanted = asked.options.where.items()
    rows = tuple(
        row
        for row in table.rows
        if all(_written(row[name]) in values for name, values in wanted if name in row)
    )
    return replace(table, rows=rows)


def _unmet(asked: Asked, declared: Table, found: Sequence[Reading]) -> tuple[Problem, ...]:
    """Say what no row can have: a column that is no key, a value that was not measured."""
    keys = [column.name for column in declared.key]
    rows = [row for reading in found if reading.table for row in reading.table.rows]
    refused = list[Checked[str]]()
    for name, values in asked.options.where.items():
        there = dict.fromkeys(_written(row[name]) for row in rows if name in row)
        odd = [value for value in values if value not in there]
        if name not in keys:
            hint = meant(name, keys, f"the key is: {', '.join(keys) or 'nothing'}")
            message = f"{name!r} is not in the key"
            refused.append(refuse(asked, "unknown-column", message, hint, at=("where", name)))
        elif rows and odd:
            hint = f"the values are: {', '.join(there)}"
            message = f"no row has {name} = {' or '.join(odd)}"
            refused.append(refuse(asked, "unknown-row", message, hint, at=("where", name)))
    return tuple(problem for each in refused for problem in each.problems)


def _written(value: Cell) -> str:
    """Give a key's value as YAML has it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _part(reading: Reading, table: Table) -> str:
    """Say how many of the rows are shown, unless all are."""
    count = len(reading.table.rows) if reading.table else 0
    return f"{len(table.rows)} of {count} rows." if len(table.rows) < count else ""


def _chosen(
    asked: Asked, table: Table, fits: Callable[[Column], bool]
) -> Checked[tuple[Column, ...]]:
    known = {column.name: column for column in table.columns if fits(column)}
    wanted = asked.options.columns or tuple(known)
    unknown = [name for name in wanted if name not in known]
    if wanted and not unknown:
        return Checked(value=tuple(known[name] for name in wanted))
    message = f"{table.name} has no such column: {', '.join(unknown) or 'none can be drawn'}"
    there = f"the columns are: {', '.join(known) or 'none'}"
    hint = meant(unknown[0], known, there) if unknown else there
    at = ("columns", wanted.index(unknown[0])) if unknown else ()
    return refuse(asked, "unknown-column", message, hint, at=at)


def _reported_table(asked: Asked) -> Checked[str]:
    machine, name = asked.argument.split()
    reports = [report for study in asked.studies for report in study.reported]
    found = next((report for report in reports if _stem(report) == machine), None)
    if found is None:
        stems = [_stem(report) for report in reports]
        hint = meant(machine, stems, f"reported are: {', '.join(stems) or 'none'}")
        return refuse(asked, "unknown-report", f"no figures are reported for {machine!r}", hint)
    table = next((table for table in found.tables if table.name == name), None)
    if table is None:
        names = [table.name for table in found.tables]
        hint = meant(name, names, f"it reports: {', '.join(names) or 'nothing'}")
        return refuse(asked, "unknown-report", f"{found.file} does not report {name!r}", hint)
    reading = of_report(found, table)
    # Our own sentence on the rows would say how we measured, not how they did.
    shown = fill(
        "reported-table.html",
        ident=asked.ident,
        reading=reading,
        report=found,
        caption=asked.options.caption,
        grid=reported(table),
    )
    return Checked(value=shown)


def _stem(report: Reported) -> str:
    return report.file.rpartition("/")[2].removesuffix(REPORTED_SUFFIX)


# ── claims and machines ──────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stand:
    """How a claim stands somewhere: state, sign, where, and why."""

    state: str
    where: str
    detail: str = ""

    @property
    def sign(self) -> str:
        return _SIGNS[self.state]

    @property
    def name(self) -> str:
        return self.state.replace(" ", "-")


def _claims(asked: Asked) -> Checked[str]:
    chosen = [
        (study, claim)
        for name in asked.page.front.claims
        for study in asked.studies
        for claim in study.declared_claims
        if name in (claim.name, f"{study.id}.{claim.name}")
    ]
    return Checked(value=claim_list(chosen))


def claim_list(chosen: Sequence[tuple[Study, DeclaredClaim]]) -> Markup:
    """Give claims, each with how it stands on every machine."""
    claims = [
        {"id": claim.name, "text": claim.text, "stands": _stands(study, claim.name)}
        for study, claim in chosen
    ]
    return fill("claims.html", claims=claims)


def _stands(study: Study, name: str) -> list[_Stand]:
    """Give a claim's state in this build's machine code, or else on each machine."""
    results = [claim for claim in study.claims if claim.name == name]
    static = [_stand(result, "in this build's machine code") for result in results]
    runs = [
        _stand(claim, of_run(measurement).where)
        for measurement in study.measurements
        for claim in measurement.claims
        if claim.name == name
    ]
    why = trouble(study)
    unchecked = [_Stand(state="not checked here", where=why or "not measured yet")]
    if why and all(stand.state == "not checked here" for stand in static):
        static = []
    return static or runs or unchecked


def _stand(claim: ClaimResult, where: str) -> _Stand:
    return _Stand(state=claim.state, where=where, detail=claim.detail)


def _machine(asked: Asked) -> Checked[str]:
    return Checked(value=machines(asked.studies, ident=asked.ident))


def machines(studies: Sequence[Study], *, ident: str) -> Markup:
    """Give one line for each run, with everything that was noted of it folded away."""
    cards = [
        {"reading": of_run(run), "line": fingerprint(run.record), "facts": facts(run)}
        for study in studies
        for run in study.measurements
    ]
    counted = studies if all(map(is_static, studies)) else ()
    return fill(
        "machine.html",
        cards=cards,
        code=next((of_code(listing) for study in counted for listing in study.listings), None),
        notes=list(dict.fromkeys(why for study in counted for why in _lacking(study))),
        ident=ident,
    )


def _lacking(study: Study) -> tuple[str, ...]:
    return (trouble(study),) if trouble(study) else study.notes


# ── code ─────────────────────────────────────────────────────────────────────────────────────


def _excerpt(asked: Asked) -> Checked[str]:
    name, colon, section = asked.argument.rpartition(":")
    if not colon:
        return refuse(asked, "block-argument", f"found {asked.argument!r}", "write FILE:SECTION")
    source = _compiled(asked, name)
    if source.value is None:
        return Checked(value=None, problems=source.problems)
    excerpt = cut(source.value, section)
    if excerpt.value is None:
        return Checked(value=None, problems=tuple(_of_asker(asked, p) for p in excerpt.problems))
    return Checked(value=_fenced(asked, source.value, excerpt.value))


def _of_asker(asked: Asked, problem: Problem) -> Problem:
    """Say where a section is asked for that is not there: nothing is wrong with the file."""
    if problem.code != "section-missing":
        return problem
    (told,) = refuse(asked, problem.code, problem.message, problem.hint).problems
    return told


def _compiled(asked: Asked, name: str) -> Checked[Source]:
    """Find a file among those that the entry's experiments compile or run."""
    files = {file: s for study in asked.studies for file, s in study.files.items()}
    found = [s for file, s in sorted(files.items()) if f"/{file}".endswith(f"/{name}")]
    if len(found) == 1:
        return Checked(value=found[0])
    what = "names several files" if found else "is not a file of the entry's experiments"
    there = f"the files are: {', '.join(sorted(files)) or 'none'}"
    known = {file.rpartition("/")[2] for file in files}
    return refuse(
        asked, "excerpt-file", f"{name!r} {what}", there if found else meant(name, known, there)
    )


def _fenced(asked: Asked, source: Source, excerpt: Excerpt) -> Markup:
    changed = {file for s in asked.studies for run in s.measurements for file in run.changed}
    return fill(
        "excerpt.md",
        file=source.file,
        url=asked.url(source.file, f"#L{excerpt.first_line}-L{excerpt.last_line}"),
        excerpt=excerpt,
        digest=source.sha256,
        stale=source.file in changed,
        trouble=next((trouble(s) for s in asked.studies if source.file in s.files), ""),
        fence=fence("\n".join(excerpt.lines)),
        language=_LANGUAGES.get(source.file.rpartition(".")[2], "text"),
        code=Markup("\n".join(excerpt.lines)),  # noqa: S704 - inside a fence longer than any in it
    )


def _reproduce(asked: Asked) -> Checked[str]:
    entries = [asked.page.id] if isinstance(asked.page, Entry) else []
    return Checked(value=reproduce(asked.studies, entries))


def reproduce(studies: Sequence[Study], entries: Sequence[str]) -> Markup:
    """Say how a reader measures the same, with this project or with the CUDA toolkit alone.

    What is counted in machine code is counted again by a check of the `entries`, or of all.
    """
    programs = [
        file
        for study in studies
        for file, source in sorted(study.files.items())
        if file.endswith(".cu") and re.search(r"\bint\s+main\s*\(", source.text)
    ]
    ids = [study.id for study in studies if not is_static(study)]
    return fill(
        "reproduce.md",
        ids=[*map(_typed, ids)],
        entries=[*map(_typed, entries)],
        is_counted=len(ids) < len(studies),
        programs=[*map(_typed, programs)],
        varying=_varying(studies),
    )


def _varying(studies: Sequence[Study]) -> str:
    """Name what is another one in each run, as the beginning of a sentence."""
    kinds = {c.kind for study in studies for t in study.declared_tables for c in t.columns}
    named = [("time", "times"), ("racy", "counts that a race decides")]
    words = " and ".join(word for kind, word in named if kind in kinds)
    return words[:1].upper() + words[1:]


def _typed(name: str) -> Markup:
    """Give a name as it is typed in a shell, inside a fence: quoted where it must be."""
    try:
        return plain(name)
    except ValueError:
        return inert(shlex.quote(name))


# ── pictures ─────────────────────────────────────────────────────────────────────────────────


def diagram_faults(page: Measured) -> tuple[Problem, ...]:
    """Say what a page's front matter names and no diagram is, or no preset of it."""
    declared = page.front.diagram
    if declared is None:
        return ()

    def place(part: Loc) -> Place:
        return page.located.place(("diagram", *part))

    return tuple(faults(declared.name, declared.presets, place))


def _diagram(asked: Asked) -> Checked[str]:
    """Give a diagram's element; inside it stand the pictures for where no script runs."""
    declared = asked.page.front.diagram
    if declared is None or asked.argument != declared.name:
        hint = f"write 'diagram:' with 'name: {DIAGRAM}' and 'alt: …' into the front matter"
        return refuse(asked, "unknown-diagram", f"{asked.argument!r} is not described", hint)
    if told := diagram_faults(asked.page):
        return Checked(value=None, problems=told)
    presets = declared.presets or tuple(moments())
    first = asked.options.preset or presets[0]
    if first not in moments():
        hint = meant(first, moments(), f"the presets are: {', '.join(moments())}")
        return refuse(
            asked, "unknown-preset", f"there is no preset {first!r}", hint, at=("preset",)
        )
    pictures = still([first, *(name for name in presets if name != first)])
    values = {"preset": first, "presets": presets, "pictures": pictures, "alt": declared.alt}
    values["top"] = asked.top
    return Checked(value=fill("diagram.html", name=DIAGRAM, **values))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    """A kind of block: its function, what must stand behind its name, its options."""

    expand: Callable[[Asked], Checked[str]]
    argument: str = ""
    options: type[BaseModel] = Plain


BLOCKS: Mapping[str, _Kind] = {
    "measured-table": _Kind(expand=_measured_table, argument="PROBE", options=_TableOptions),
    "chart": _Kind(expand=_chart, argument="PROBE", options=_TableOptions),
    "outcomes": _Kind(expand=outcomes.outcomes, argument="PROBE", options=outcomes.OutcomeOptions),
    "sanitizer": _Kind(
        expand=outcomes.sanitizer, argument="PROBE", options=outcomes.SanitizerOptions
    ),
    "sass": _Kind(expand=listing.sass, argument="KERNEL", options=listing.Options),
    "reported-table": _Kind(
        expand=_reported_table, argument="MACHINE PROBE", options=_CaptionOptions
    ),
    "claims": _Kind(expand=_claims),
    "machine": _Kind(expand=_machine),
    "excerpt": _Kind(expand=_excerpt, argument="FILE:SECTION"),
    "reproduce": _Kind(expand=_reproduce),
    "diagram": _Kind(expand=_diagram, argument="NAME", options=_DiagramOptions),
}
