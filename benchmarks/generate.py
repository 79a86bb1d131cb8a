"""Makes a glossary of N entries, each signed by two throw-away people, the same each time.

Comes in: a number, a seed, a folder. Goes out: a project that `mkdocs build` and `glossary` take as
they take a real one. Must not need a GPU, a network or a key of anybody.

    python benchmarks/generate.py FOLDER --entries 1000
    python benchmarks/generate.py FOLDER --entries 1000 --drafts
    python benchmarks/generate.py FOLDER --entries 1000 --for hugo
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random

import people
import words

LINKS_RELATED, LINKS_IN_PROSE = 3, 2
SETTINGS = "title: Made-up glossary\nlicence: CC BY 4.0\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to make: how many entries in how many areas, from which seed, and whether signed."""

    entries: int
    areas: int = len(words.AREAS)
    seed: int = 1
    is_signed: bool = True


def project(plan: Plan) -> Iterator[tuple[str, bytes]]:
    """Give every file of the project, by its path from the root."""
    for file, text in _frame().items():
        yield file, text.encode()
    for number in range(plan.entries):
        yield from entry(plan, number)


def entry(plan: Plan, number: int) -> Iterator[tuple[str, bytes]]:
    """Give the files of one entry."""
    name = entry_id(number)
    file, raw = f"glossary/{name}/entry.md", _text(plan, number).encode()
    yield file, raw
    for signature, content in people.signatures(name, file, raw) if plan.is_signed else ():
        yield f"glossary/{name}/signatures/{signature}", content


def edited(plan: Plan, number: int, words: str) -> Iterator[tuple[str, bytes]]:
    """Give the files of an entry with a sentence more, signed anew as its people would."""
    name = entry_id(number)
    file, raw = f"glossary/{name}/entry.md", f"{_text(plan, number)}\n{words}\n".encode()
    yield from (
        (f"glossary/{name}/signatures/{signature}", content)
        for signature, content in people.signatures(name, file, raw)
    )
    yield file, raw


def entry_id(number: int) -> str:
    """Give the id of an entry's number."""
    return words.term(number).replace(" ", "-")


def write(folder: Path, files: Iterator[tuple[str, bytes]]) -> int:
    """Write files below a folder; give their number."""
    count = 0
    for file, raw in files:
        path = folder / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(raw)
        count += 1
    return count


# ── an entry ─────────────────────────────────────────────────────────────────────────────────


def _text(plan: Plan, number: int) -> str:
    """Give an entry: 600 words, a table, a CUDA block of 25 lines, five links to others."""
    random = Random(f"{plan.seed} {number}")  # noqa: S311 - the same text each time is the point
    others = _others(plan, number, random)
    front = _FRONT.format(
        term=words.term(number),
        alias=_alias(number),
        area=words.AREAS[number % plan.areas],
        related="".join(f"  - {entry_id(n)}\n" for n in others[:LINKS_RELATED]) or "  []\n",
        quote=f"case {number} of the made-up manual is like the others",
        number=number,
        author=people.AUTHOR,
    )
    return front + _body(number, [words.term(n) for n in others[LINKS_RELATED:]], random)


def _alias(number: int) -> str:
    """Give a second name, of the kind that stands in code."""
    first, second, third = words.term(number).split()
    return f"{first[:4]}_{second}_{third[:4]}()"


def _others(plan: Plan, number: int, random: Random) -> list[int]:
    """Give the numbers of the entries to link to: all there are, where there are few."""
    wanted = min(LINKS_RELATED + LINKS_IN_PROSE, plan.entries - 1)
    drawn = random.sample(range(plan.entries), min(wanted + 1, plan.entries))
    return [n for n in drawn if n != number][:wanted]


def _body(number: int, mentioned: list[str], random: Random) -> str:
    term = words.term(number)
    near = [f"It is not the same as {other}." for other in mentioned]
    return _BODY.format(
        term=term,
        quote=f"case {number} of the made-up manual is like the others",
        first=words.paragraph(random, 110),
        second=words.paragraph(random, 110),
        third=words.paragraph(random, 100),
        fourth=words.paragraph(random, 100),
        fifth=words.paragraph(random, 60),
        points="\n".join(f"- {words.sentence(random)}" for _ in range(4)),
        table=words.table(random),
        kernel=words.kernel(random, term.replace(" ", "_")),
        near=" ".join(near),
    )


_FRONT = """\
---
term: {term}
question: What is {term}, and when is it worth it?
answer: The term {term} stands for case {number} of a method that exists only to be measured.
aliases: [{alias}]
area: {area}
applies_to: CC 7.5
related:
{related}sources:
  - title: A made-up manual
    version: "1"
    section: "{number}"
    url: https://example.org/manual
    accessed: 2026-01-10
    quotes:
      - {quote}
byline:
  written_by: {author}
---

"""
_BODY = """\
{first}

{second} The manual says that “{quote}”.

## How it works

{third} {near}

{points}

## In figures

{fourth}

{table}

## Code

The kernel shows {term} with `__syncthreads()` and a *reduction by shuffles*.

```cuda
{kernel}
```

## What follows

{fifth} See the [manual](https://example.org/manual) for **everything else**.
"""


# ── what stands around the entries ───────────────────────────────────────────────────────────


def _frame() -> Mapping[str, str]:
    return {
        "glossary/settings.yml": SETTINGS,
        "glossary/people.yml": people.registry(),
        "docs/index.md": "# Made-up glossary\n\nIt exists to be built.\n",
        "mkdocs.yml": MKDOCS + NAV + PLUGINS,
    }


# The look and the extensions of the project's own site, so that the work is the same.
MKDOCS = """\
site_name: Made-up glossary
site_url: https://made-up.example/
strict: true
theme:
  name: material
  font: false
  features: [content.code.copy, navigation.footer, navigation.tabs, navigation.top, toc.follow]
markdown_extensions:
  - admonition
  - attr_list
  - footnotes
  - md_in_html
  - tables
  - toc: {permalink: true, toc_depth: 3}
  - pymdownx.details
  - pymdownx.highlight: {anchor_linenums: true, line_spans: __span, pygments_lang_class: true}
  - pymdownx.inlinehilite
  - pymdownx.superfences
  - pymdownx.tabbed: {alternate_style: true}
  - measured_glossary.markdown
"""
NAV = "nav: [{Home: index.md}, {Glossary: glossary/index.md}]\n"
PLUGINS = "plugins: [search, measured-glossary: {measure: recorded}]\n"


def _write_for(generator: str | None, plan: Plan, folder: Path) -> int:
    if generator is None:
        return write(folder, project(plan))
    import others  # which needs this module

    with tempfile.TemporaryDirectory() as scratch:
        write(Path(scratch), project(plan))
        pages = others.expanded(Path(scratch))
    return write(folder, iter(others.adapt(pages, generator).items()))


def main() -> int:
    """Write the project that the arguments ask for."""
    parser = argparse.ArgumentParser(description="Make a glossary of made-up entries.")
    parser.add_argument("folder", type=Path, help="a new or empty folder")
    parser.add_argument("--entries", type=int, default=1000, help=f"at most {words.MOST_TERMS}")
    parser.add_argument("--areas", type=int, default=len(words.AREAS), help="at most 16")
    parser.add_argument("--seed", type=int, default=1, help="another seed, another text")
    parser.add_argument("--drafts", action="store_true", help="sign nothing")
    parser.add_argument(
        "--for",
        dest="generator",
        choices=("material", "zensical", "hugo", "sphinx"),
        help="the same pages, expanded, as a project of another generator",
    )
    asked = parser.parse_args()
    if not 1 <= asked.entries <= words.MOST_TERMS or not 1 <= asked.areas <= len(words.AREAS):
        parser.error(f"at most {words.MOST_TERMS} entries in {len(words.AREAS)} areas")
    if asked.folder.exists() and any(asked.folder.iterdir()):
        parser.error(f"{asked.folder} is not empty")
    plan = Plan(
        entries=asked.entries, areas=asked.areas, seed=asked.seed, is_signed=not asked.drafts
    )
    count = _write_for(asked.generator, plan, asked.folder)
    print(f"{asked.folder}: {plan.entries} entries, {count} files")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
