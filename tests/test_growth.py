"""A glossary twice as large is twice the work, counted in instructions rather than in seconds.

Each entry is as long as the others and names as many of them, so that what the next hundred cost is
what the last hundred cost. A loop over all entries for each of them shows at once, on any machine.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

import pytest

from measured_glossary import backlinks, catalogue, feeds, page, pipeline, search, website
from measured_glossary.address import Address
from measured_glossary.lab.settings import Settings as LabSettings
from measured_glossary.memo import Memo
from measured_glossary.pipeline import Glossary
from measured_glossary.terms import link
from site_world import TODAY, Site, new_site

T = TypeVar("T")
SMALL, MIDDLE, LARGE = 16, 32, 64
# What one more entry may cost at the large end, in terms of one more at the small end.
LENIENCE = 1.001
PACKAGE = str(Path(pipeline.__file__).parent)
ADDRESS = Address(base="https://test.example/")

ENTRY = """\
---
term: matter {number:03}
question: What is matter {number:03}?
answer: Matter {number:03} is one of many that are all alike.
aliases: [also called {number:03}]
area: Area {area}
applies_to: CC 7.5
related: [matter-{first:03}]
byline:
  written_by: test-author
---

Every matter is like the others, and not to be confused with matter {second:03}.

## How it differs

It is like matter {third:03} in all but its number.
"""


def steps_of(act: Callable[[T], object], glossary: T) -> int:
    """Count the instructions that a call takes in our code and our templates.

    Python's own are left out: its library keeps what it was asked last, and so is not even.
    """
    count = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        if not frame.f_code.co_filename.startswith((PACKAGE, __file__)):
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        count += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        act(glossary)
    finally:
        sys.settrace(before)
    return count


def text(number: int, size: int) -> str:
    """Write an entry that names the three after it."""
    first, second, third = ((number + step) % size for step in (1, 2, 3))
    return ENTRY.format(number=number, area=number % 4, first=first, second=second, third=third)


@pytest.fixture(scope="module")
def sites(tmp_path_factory: pytest.TempPathFactory, lab_cache: Path) -> Mapping[int, Site]:
    """Give a site of each size, every entry published."""
    return {size: _site(tmp_path_factory.mktemp("grown"), lab_cache, size)
            for size in (SMALL, MIDDLE, LARGE)}  # fmt: skip


def _site(folder: Path, cache_folder: Path, size: int) -> Site:
    files = {f"glossary/matter-{n:03}/entry.md": text(n, size) for n in range(size)}
    site = new_site(folder, cache_folder, files)
    for number in range(size):
        site.publish(f"matter-{number:03}")
    return site


@pytest.fixture(scope="module")
def glossaries(sites: Mapping[int, Site]) -> Mapping[int, Glossary]:
    """Give the judged glossary of each size."""
    return {size: site.build() for size, site in sites.items()}


# ── what grows ───────────────────────────────────────────────────────────────────────────────


def vocabulary(glossary: Glossary) -> object:
    """Arrange all names."""
    return catalogue.terms(glossary, drafts=False)


def linking(glossary: Glossary) -> object:
    """Link the terms in every body."""
    known = catalogue.terms(glossary, drafts=False)
    return [link(e.body, known, page=website.entry_uri(e.id), own=e.id) for e in glossary.entries]


def mentions(glossary: Glossary) -> object:
    """Find who names whom."""
    pages = (
        backlinks.Written(uri=website.entry_uri(e.id), title=e.id, markdown=e.body, own=e.id)
        for e in glossary.entries
    )
    known = catalogue.terms(glossary, drafts=False)
    return backlinks.mentions((page, backlinks.named(page.markdown, known)) for page in pages)


def index(glossary: Glossary) -> object:
    """Write the index."""
    pairs = [(f"matter {n:03}", f"matter {n + 1:03}") for n in range(len(glossary.entries) - 1)]
    return page.render_index(page.Site(title="Test"), glossary.published(), pairs)


def data(glossary: Glossary) -> object:
    """Write feed, data and `llms.txt`."""
    public = catalogue.public(glossary, ADDRESS)
    return [write(public) for write in feeds.files().values()]


def searched(glossary: Glossary) -> object:
    """Make the documents of the search."""
    return search.documents(glossary, drafts=False, has_folders=True)


def files(glossary: Glossary) -> object:
    """Make every file of the site but what needs its address."""
    fresh = replace(glossary, memo=Memo())
    made = website.outputs(fresh, glossary.root / "docs", drafts=False)
    return [output.content for output in made]


def heads(glossary: Glossary) -> object:
    """Write what machines read into the head of every page."""
    fresh = replace(glossary, memo=Memo())
    site = website.website(fresh, glossary.root / "docs", drafts=False, address=ADDRESS)
    shown = [
        website.Shown(uri=website.entry_uri(e.id), title=e.id, description="", html="</head>")
        for e in glossary.entries
    ]
    return [website.with_metadata(site, each, has_twin=True) for each in shown]


def verdicts(glossary: Glossary) -> object:
    """Read, verify and judge everything."""
    return pipeline.build(glossary.root, pipeline.Settings(lab=LAB), TODAY)


LAB = LabSettings(measure="recorded", cache=Path("unused"))
GROWING = (vocabulary, linking, mentions, index, data, searched, files, heads, verdicts)


@pytest.mark.parametrize("act", GROWING, ids=lambda act: act.__name__)
def test_growth_is_linear(
    act: Callable[[Glossary], object], glossaries: Mapping[int, Glossary]
) -> None:
    """One more entry costs the same in a large glossary as in a small one."""
    act(glossaries[SMALL])  # templates and patterns are compiled once, whatever the size
    small, middle, large = (steps_of(act, glossaries[size]) for size in (SMALL, MIDDLE, LARGE))
    early, late = (middle - small) / (MIDDLE - SMALL), (large - middle) / (LARGE - MIDDLE)
    assert early > 0
    assert late <= LENIENCE * early, f"{early:.0f} instructions an entry, later {late:.0f}"


def test_the_count_tells_a_loop_within_a_loop(glossaries: Mapping[int, Glossary]) -> None:
    """What this file measures with would see one comparison of each entry with each other."""

    def quadratic(glossary: Glossary) -> object:
        ids = [entry.id for entry in glossary.entries]
        return [[a for a in ids if a == b] for b in ids]

    small, middle, large = (
        steps_of(quadratic, glossaries[size]) for size in (SMALL, MIDDLE, LARGE)
    )
    assert (large - middle) / (LARGE - MIDDLE) > 1.5 * (middle - small) / (MIDDLE - SMALL)
