"""The made-up glossaries that speed is measured on are real ones, and the same each time."""

from __future__ import annotations

import importlib
import multiprocessing
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from measured_glossary import pipeline
from measured_glossary.memo import Memo
from measured_glossary.source import decode
from measured_glossary.trust import ahead
from measured_glossary.trust.registry import judging
from site_world import TODAY, Site

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"
ENTRIES = 6


@pytest.fixture(scope="module")
def programs() -> Iterator[dict[str, ModuleType]]:
    """Give the programs of `benchmarks/`, which is no package."""
    with pytest.MonkeyPatch.context() as patched:
        patched.syspath_prepend(str(BENCHMARKS))
        names = ("words", "people", "generate", "others")
        yield {name: importlib.import_module(name) for name in names}


@pytest.fixture(scope="module")
def project(
    programs: dict[str, ModuleType], tmp_path_factory: pytest.TempPathFactory, lab_cache: Path
) -> Site:
    """Give a made-up glossary."""
    generate, root = programs["generate"], tmp_path_factory.mktemp("made-up")
    generate.write(root, generate.project(generate.Plan(entries=ENTRIES)))
    return Site(root=root, cache=lab_cache)


def test_every_entry_is_published(project: Site) -> None:
    """Front matter, prose and both signatures pass every check that a real entry passes."""
    judged = project.build().entries
    assert len(judged) == ENTRIES
    assert [(e.id, e.verdict.reasons) for e in judged if e.verdict.state != "published"] == []


def test_signatures_may_be_verified_by_another_process(
    project: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Verdicts are the same beside such a process, a forged one too, and it ends with the build."""
    name = project.build().entries[1].id
    signature = next((project.root / "glossary" / name / "signatures").glob("review.*.sig"))
    good = signature.read_bytes()
    other = next((project.root / "glossary" / name / "signatures").glob("author.*.sig"))
    monkeypatch.setattr(ahead, "MANY", 1)
    for forged in (good, other.read_bytes()):
        signature.write_bytes(forged)
        settings = replace(project.settings, memo=Memo(jobs=2))
        beside = pipeline.build(project.root, settings, TODAY).entries
        alone = project.build().entries
        assert [each.verdict for each in beside] == [each.verdict for each in alone]
        states = {each.id: each.verdict.state for each in beside}
        assert states.pop(name) == ("published" if forged == good else "refused")
        assert set(states.values()) == {"published"}
        assert multiprocessing.active_children() == []
    signature.write_bytes(good)


def test_drafts_can_be_had(programs: dict[str, ModuleType], tmp_path: Path, project: Site) -> None:
    """Without signatures the same entries are drafts."""
    generate = programs["generate"]
    generate.write(tmp_path, generate.project(generate.Plan(entries=ENTRIES, is_signed=False)))
    judged = Site(root=tmp_path, cache=project.cache).build().entries
    assert {entry.verdict.state for entry in judged} == {"draft"}


def test_an_edited_entry_stays_published(programs: dict[str, ModuleType], project: Site) -> None:
    """An edit is signed anew, as its people would, so that a build publishes it."""
    generate = programs["generate"]
    edited = generate.edited(generate.Plan(entries=ENTRIES), 2, "A sentence was added.")
    generate.write(project.root, edited)
    glossary = project.build()
    assert len(glossary.published()) == ENTRIES
    assert sum("A sentence was added." in entry.body for entry in glossary.entries) == 1


def test_the_same_seed_gives_the_same_bytes(programs: dict[str, ModuleType]) -> None:
    """Figures of two days are of the same glossary; another seed gives another."""
    generate = programs["generate"]
    plans = [generate.Plan(entries=3), generate.Plan(entries=3), generate.Plan(entries=3, seed=2)]
    first, second, other = (dict(generate.project(plan)) for plan in plans)
    assert first == second
    assert first.keys() == other.keys()
    assert first != other


def test_no_two_terms_are_alike(programs: dict[str, ModuleType]) -> None:
    """Ten thousand entries have ten thousand names."""
    words = programs["words"]
    assert words.MOST_TERMS > 10_000
    assert len({words.term(number) for number in range(words.MOST_TERMS)}) == words.MOST_TERMS


def test_production_refuses_its_people(programs: dict[str, ModuleType]) -> None:
    """Everybody can make these keys, so that nothing they sign is published in earnest."""
    text = programs["people"].registry()
    source = decode("glossary/people.yml", text.encode()).value
    assert source
    assert judging(source).value
    (problem,) = judging(source, production=True).problems
    assert problem.code == "test-project"


@pytest.mark.parametrize("generator", ["material", "zensical", "hugo", "sphinx"])
def test_every_generator_gets_every_entry(
    programs: dict[str, ModuleType], project: Site, generator: str
) -> None:
    """The same expanded Markdown, with areas alone in the navigation."""
    others, generate = programs["others"], programs["generate"]
    made = others.adapt(others.expanded(project.root), generator)
    for number in range(ENTRIES):
        page = made[others.page_of(generate.entry_id(number), generator)].decode()
        assert "```cuda" in page
        assert '<dl class="mg-byline">' in page
    settings = next(made[n] for n in ("mkdocs.yml", "config.toml", "docs/index.md") if n in made)
    assert b"areas/memory" in settings
    assert generate.entry_id(0).encode() not in settings
