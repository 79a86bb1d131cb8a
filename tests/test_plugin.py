"""The plugin through MkDocs itself: what it refuses, what it keeps, what it lets out."""

from __future__ import annotations

import errno
import gc
import logging
import multiprocessing
import os
import re
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from tempfile import gettempdir

import pytest
from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.exceptions import Abort, PluginError
from mkdocs.structure.files import Files

from measured_glossary import preview
from measured_glossary.pipeline import Glossary
from measured_glossary.plugin import MeasuredGlossary
from measured_glossary.problem import Refused
from mkdocs_world import mkdocs
from site_world import ENTRY, MKDOCS, Site, new_site

WARP = "glossary/warp/entry.md"
PAGE = "glossary/warp/index.html"
SIGNATURES = "glossary/warp/signatures"
SENTENCE = "Every block is cut into warps."
ANSWER = "hardware schedules together"
EXPERIMENT = """\
from measured_glossary.lab.experiment import Experiment, exact

experiment = Experiment(title="Nothing", sources=["nothing.cu"], architectures=["sm_90"])


@experiment.runtime(key={"n": exact("n")}, columns={"m": exact("m")}, launches=1)
def rows(gpu):
    \"\"\"One row.\"\"\"


@experiment.claim
def holds(rows):
    \"\"\"It holds.\"\"\"
    assert rows(n=1).m == 1
"""


@pytest.fixture
def site(tmp_path: Path, lab_cache: Path) -> Site:
    """A glossary with one entry that nobody signed."""
    return new_site(tmp_path / "site", lab_cache, {WARP: ENTRY})


# ── what leaves the house ────────────────────────────────────────────────────────────────────


def test_a_published_entry_is_a_page(site: Site) -> None:
    """It has byline and verdict, and stands in the search index, the sitemap and the index."""
    built = mkdocs(site.publish("warp"))
    page = built.text(PAGE)
    assert built.status == 0
    assert SENTENCE in page
    assert "Test Author" in page
    assert "Test Reviewer on 2026-11-20" in page
    assert '<meta name="glossary-entry" content="warp">' in page
    assert '<meta name="glossary-verdict" content="published">' in page
    assert "noindex" not in page
    where = set(built.files_with("warp"))
    assert {PAGE, "sitemap.xml", "sitemap.xml.gz", "search/search_index.json"} <= where
    assert "glossary/index.html" in where


def test_the_verdict_names_the_signed_bytes(site: Site) -> None:
    """The manifest in a page's head is the one that was signed, as a reader can compute it."""
    manifest = site.publish("warp").build().entries[0].signoff
    assert manifest
    page = mkdocs(site).text(PAGE)
    assert f'<meta name="glossary-manifest" content="{manifest.manifest}">' in page


def test_one_changed_character_takes_a_page_down(site: Site) -> None:
    """What was signed and has changed is nowhere in the site any more."""
    site.publish("warp").write("docs/index.md", "# Home\n\nNothing here.\n")
    assert mkdocs(site).files_with(ANSWER) != []
    built = mkdocs(site.replace(WARP, SENTENCE, SENTENCE.lower()))
    assert built.status == 0
    assert "warp: outdated" in built.output
    assert built.traces_of("warp") == []
    assert built.files_with(ANSWER) == []


def test_a_draft_is_nowhere_in_a_build(site: Site) -> None:
    """No page, no search text, no address, no file of a draft leaves the house."""
    site.write("glossary/warp/picture.csv", "a figure of the draft\n")
    built = mkdocs(site)
    assert built.status == 0
    assert "warp: draft; missing: the author's signature by test-author" in built.output
    assert built.traces_of("warp") == []
    assert built.files_with("a figure of the draft") == []
    assert "No entry is published yet" in built.text("glossary/index.html")


def test_a_picture_goes_where_its_entry_goes(site: Site) -> None:
    """A published entry's picture stands beside its page, byte for byte."""
    picture = b"\x89PNG\r\n\x1a\n and so on"
    site.path("glossary/warp/tile.png").write_bytes(picture)
    site.replace(WARP, SENTENCE, "![A tile](tile.png)").publish("warp")
    built = mkdocs(site)
    assert built.status == 0
    assert (built.folder / "glossary/warp/tile.png").read_bytes() == picture
    assert 'src="tile.png"' in built.text(PAGE)


def test_style_sheets_are_there(site: Site) -> None:
    """Every page asks for the glossary's style sheet, and the site has it."""
    built = mkdocs(site)
    sheet = "assets/measured-glossary/glossary.css"
    assert built.holds(sheet)
    assert f'href="{sheet}"' in built.text("index.html")


def test_a_strict_build_with_material_is_clean(site: Site) -> None:
    """With MkDocs' strict mode and Material nothing is warned of."""
    site.replace("mkdocs.yml", "theme: mkdocs", "theme: {name: material, font: false}")
    built = mkdocs(site.publish("warp"))
    assert built.status == 0
    assert "WARNING" not in built.output
    assert '<meta name="glossary-verdict" content="published">' in built.text(PAGE)


def test_two_builds_are_the_same(site: Site) -> None:
    """The generated pages do not depend on when or how often they are built."""
    site.publish("warp")
    assert mkdocs(site).main(PAGE) == mkdocs(site).main(PAGE)


# ── previews ─────────────────────────────────────────────────────────────────────────────────


def test_a_preview_shows_drafts_and_says_so(site: Site) -> None:
    """The page of a draft is there, with its banner, and no search engine may take it."""
    index = preview.build(site.root)
    page = (index.parent / PAGE).read_text(encoding="utf-8")
    assert index == site.root / "preview" / "index.html"
    assert SENTENCE in page
    assert (
        "An entry is published once a named author and a second, named reviewer have signed it."
        in page
    )
    assert '<meta name="robots" content="noindex">' in page
    assert '<meta name="glossary-preview" content="drafts are shown">' in page
    assert '(<span class="mg-state">draft</span>)' in (
        index.parent / "glossary/index.html"
    ).read_text(encoding="utf-8")


def test_a_preview_marks_hand_written_pages_too(site: Site) -> None:
    """No page of a preview can be taken for one of the site."""
    index = preview.build(site.root).read_text(encoding="utf-8")
    assert '<meta name="robots" content="noindex">' in index
    assert '<meta name="glossary-preview"' in index


@pytest.mark.parametrize("is_kept", [True, False])
def test_a_preview_says_of_no_draft_that_the_site_lacks_it(
    site: Site, caplog: pytest.LogCaptureFixture, is_kept: bool
) -> None:
    """A link to a draft leads somewhere there; the draft has MkDocs' badge, whoever makes it."""
    site.write("docs/index.md", "# Home\n\nRead of a [draft](glossary/warp/index.md).\n")
    if not is_kept:
        site.write("hook.py", "def on_page_content(html, **more):\n    return html\n")
        site.write("mkdocs.yml", f"{site.path('mkdocs.yml').read_text('utf-8')}hooks: [hook.py]\n")
    with caplog.at_level(logging.INFO, "mkdocs"):
        folder = preview.build(site.root).parent
    told = "\n".join(caplog.messages)
    assert ("each page is made anew" in told) != is_kept
    assert "excluded from" not in told
    assert "warp: draft" in told
    page = (folder / "glossary" / "warp" / "index.html").read_text("utf-8")
    assert page.count("mkdocs-draft-marker") == 1
    assert "mkdocs-draft-marker" not in (folder / "index.html").read_text("utf-8")
    assert not (folder / "glossary" / "warp" / "index.md").exists()


def test_a_preview_survives_an_unreadable_entry(site: Site) -> None:
    """The author of a broken entry sees why; the others see their pages."""
    site.write("glossary/broken/entry.md", "nothing\n")
    folder = preview.build(site.root).parent
    assert "no-front-matter" in (folder / "glossary/broken/index.html").read_text("utf-8")
    assert SENTENCE in (folder / PAGE).read_text("utf-8")


def test_a_preview_leaves_the_site_alone(site: Site) -> None:
    """The folder of the last good site is not touched."""
    mkdocs(site)
    before = sorted((site.root / "site").rglob("*"))
    preview.build(site.root)
    assert sorted((site.root / "site").rglob("*")) == before


@pytest.mark.parametrize(
    ("old", "new", "code", "message"),
    [
        ("title: Test glossary", "titel: Test glossary", "settings-field", "'titel' is not a key"),
    ],
)
def test_a_preview_gives_our_own_refusal(
    site: Site, old: str, new: str, code: str, message: str
) -> None:
    """What the engine refuses keeps its places and hints on the way through MkDocs."""
    site.replace("glossary/settings.yml", old, new)
    with pytest.raises(Refused) as refused:
        preview.build(site.root)
    assert refused.value.problems[0].code == code
    assert message in refused.value.problems[0].message


def test_a_preview_passes_on_what_mkdocs_warns_of(site: Site) -> None:
    """A broken link is named, rather than counted."""
    site.write("docs/index.md", "# Home\n\n[nowhere](nowhere.md)\n")
    with pytest.raises(Refused) as refused:
        preview.build(site.root)
    (problem,) = refused.value.problems
    assert problem.code == "site-not-built"
    assert "'nowhere.md'" in problem.message


def test_a_preview_needs_the_plugin(site: Site) -> None:
    """Without the plugin there would be a site without its glossary."""
    site.replace("mkdocs.yml", ", measured-glossary: {measure: recorded}", "")
    with pytest.raises(Refused, match="no-plugin"):
        preview.build(site.root)


def test_a_preview_needs_a_configuration(site: Site) -> None:
    """A missing mkdocs.yml is named without the folders above it."""
    with pytest.raises(Refused) as refused:
        preview.build(site.remove("mkdocs.yml").root)
    assert str(refused.value).startswith("mkdocs.yml: missing-file: there is no such file")


# ── what is refused ──────────────────────────────────────────────────────────────────────────

REFUSED_CONFIGURATIONS = {
    "switched off": ("measure: recorded", "enabled: false", "would switch the gate off"),
    "unknown option": ("measure: recorded", "measur: live", "Unrecognised configuration name"),
    "unknown value": ("measure: recorded", "measure: never", "Expected one of"),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(REFUSED_CONFIGURATIONS))
def test_a_configuration_is_refused(site: Site, name: str) -> None:
    """No option, right or mistyped, loosens the gate; strict mode or not."""
    old, new, message = REFUSED_CONFIGURATIONS[name]
    site.replace("mkdocs.yml", "strict: true\n", "").replace("mkdocs.yml", old, new)
    built = mkdocs(site)
    assert built.status == 1
    assert message in built.output
    assert "Traceback" not in built.output
    assert not built.folder.exists()


@pytest.mark.parametrize("state", ["published", "unreadable", "absent"])
def test_signatures_are_verified_while_the_build_is_loaded(
    site: Site, state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a process that ends with the build, and with a refusal; without entries there is none."""
    monkeypatch.setattr("measured_glossary.plugin.cores", lambda: 2)
    monkeypatch.setattr("measured_glossary.trust.ahead.MANY", 1)
    site.publish("warp")
    if state == "unreadable":
        site.remove("glossary/people.yml")
    elif state == "absent":
        site.remove("glossary")
    config = load_config(str(site.root / "mkdocs.yml"))
    config.plugins.on_startup(command="build", dirty=False)
    begun = multiprocessing.active_children()
    assert len(begun) == (state != "absent")
    with nullcontext() if state == "published" else pytest.raises(Abort):
        build(config)
    assert not any(process.is_alive() for process in begun)
    assert not begun or begun[0].exitcode is not None


def test_dirty_builds_are_refused(site: Site) -> None:
    """`--dirty` would keep the pages of withdrawn entries."""
    built = mkdocs(site, "--dirty")
    assert built.status == 1
    assert "--dirty keeps the pages of withdrawn entries" in built.output
    assert not built.folder.exists()


def test_a_swallowed_event_is_refused(site: Site) -> None:
    """A build in which the gate never began to measure ends before anything is wiped."""
    config = load_config(str(site.root / "mkdocs.yml"))
    with pytest.raises(PluginError, match="swallowed the on_config event"):
        MeasuredGlossary().on_pre_build(config=config)


def test_nothing_is_generated_without_a_verdict(site: Site) -> None:
    """A build in which the gate did not run publishes nothing."""
    config = load_config(str(site.root / "mkdocs.yml"))
    with pytest.raises(PluginError, match="the gate has not run"):
        MeasuredGlossary().on_files(Files([]), config=config)


ASKS_TOO_MUCH = "---\nexperiments: [absent]\n---\n# Home\n"


@pytest.mark.parametrize(
    "mistake",
    [
        "an unreadable entry",
        "a page among the entries",
        "a page that asks too much",
        "false evidence",
        "a missing registry",
    ],
)
def test_a_refusal_keeps_the_last_good_site(site: Site, mistake: str) -> None:
    """Exit 1 with every reason, no traceback, and the site stands as it was."""
    good = {
        p: p.read_bytes() for p in mkdocs(site.publish("warp")).folder.rglob("*") if p.is_file()
    }
    code = {
        "an unreadable entry": lambda: site.write("glossary/broken/entry.md", "nothing\n"),
        "a page among the entries": lambda: site.write("docs/glossary/warp/index.md", "# Mine\n"),
        "a page that asks too much": lambda: site.write("docs/index.md", ASKS_TOO_MUCH),
        "false evidence": lambda: site.write(f"{SIGNATURES}/author.test-author.json.sig", "x\n"),
        "a missing registry": lambda: site.remove("glossary/people.yml"),
    }  # fmt: skip
    code[mistake]()
    built = mkdocs(site, "--quiet")
    assert built.status == 1
    assert "the glossary is refused\n" in built.output
    assert "Traceback" not in built.output
    assert {p: p.read_bytes() for p in built.folder.rglob("*") if p.is_file()} == good


def _a_file(folder: Path) -> None:
    folder.write_bytes(b"mine")


def _a_link_to_nothing(folder: Path) -> None:
    folder.symlink_to(folder.parent / "nowhere")


IN_ITS_PLACE = {
    "a file": (_a_file, "Not a directory", "move this away: a folder of the site is to stand"),
    "a link": (_a_link_to_nothing, "No such file or directory", "make the folder that this link"),
}


@pytest.mark.parametrize("what", IN_ITS_PLACE)
@pytest.mark.parametrize("folder", ["site", "preview", "public/here"])
def test_what_stands_in_place_of_the_sites_folder_is_told(
    site: Site, what: str, folder: str
) -> None:
    """It is no traceback, and what stands there is not deleted: it may be somebody's own."""
    spoil, why, todo = IN_ITS_PLACE[what]
    name = folder.partition("/")[0]
    spoil(site.root / name)
    if folder == "preview":
        with pytest.raises(Refused) as refused:
            preview.build(site.root)
        told = str(refused.value)
    else:
        built = mkdocs(site, "--site-dir", folder)
        assert built.status == 1
        told = built.output
        assert "the site is not written" in told
    assert f"{name}: cannot-write: cannot be written: {why}" in told
    assert todo in told
    assert (site.root / name).is_symlink() or (site.root / name).read_bytes() == b"mine"


def test_a_full_disk_is_told_and_the_last_good_site_can_be_read(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The system's reason and the file; nothing half is left of it, and nothing was deleted."""
    mkdocs(site.publish("warp"))
    before = {path for path in (site.root / "site").rglob("*") if path.is_file()}
    write_bytes = Path.write_bytes

    def full(path: Path, content: bytes) -> int:
        if path.is_relative_to(site.root / "site") and "index.html" in path.name:
            write_bytes(path, content[:9])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write_bytes(path, content)

    site.replace("mkdocs.yml", "Test glossary", "Another").remove("glossary/warp/signatures")
    with monkeypatch.context() as patched:
        patched.setattr("pathlib.Path.write_bytes", full)
        built = mkdocs(site)
    assert built.status == 1
    assert re.search(
        r"site/\S*index\.html: cannot-write: cannot be written: No space", built.output
    )
    assert "free some space there" in built.output
    assert {path for path in (site.root / "site").rglob("*") if path.is_file()} == before
    assert mkdocs(site).status == 0
    assert not (site.root / "site" / PAGE).exists()


@pytest.mark.parametrize("of", ["site", "preview"])
def test_a_full_disk_is_told_where_mkdocs_writes(
    site: Site, monkeypatch: pytest.MonkeyPatch, of: str
) -> None:
    """MkDocs builds in a temporary folder: what fails there is no traceback either."""

    def full(content: bytes, path: str) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("mkdocs.utils.write_file", full)
    if of == "preview":
        with pytest.raises(Refused) as refused:
            preview.build(site.root)
        told = str(refused.value)
    else:
        built = mkdocs(site)
        assert built.status == 1
        told = built.output
    assert f"{gettempdir()}: cannot-write: cannot be written: No space left on device" in told
    assert "free some space there" in told


def test_a_project_may_stand_in_a_folder_of_any_name(site: Site) -> None:
    """What is kept of a site is text, and a file system takes any bytes for a name."""
    odd = site.root.rename(os.fsdecode(bytes(site.root) + b"\xff"))
    built = mkdocs(replace(site, root=odd))
    assert built.status == 0
    assert built.holds("glossary/index.html")
    again = mkdocs(replace(site, root=odd)).output
    assert re.search(" [01] files written, 0 deleted", again), "more than the time of the build"


def test_a_name_of_any_bytes_goes_as_any_foreign_file(site: Site) -> None:
    """As every file that is not the site's, it is deleted."""
    foreign = Path(os.fsdecode(bytes(site.root) + b"/site/\xff.txt"))
    foreign.parent.mkdir()
    foreign.write_bytes(b"")
    assert mkdocs(site).status == 0
    assert not foreign.exists()


def test_python_frees_again_after_a_build(site: Site) -> None:
    """Looking for values that hold each other is put off while all is read, and not given up."""
    assert (mkdocs(site).status, gc.isenabled()) == (0, True)
    site.write("glossary/people.yml", "nobody")
    assert mkdocs(site).status != 0
    assert gc.isenabled()


def test_one_build_after_another_holds_no_more(site: Site) -> None:
    """`mkdocs serve` builds again and again in one process, and lets go of what was before."""
    held = []
    for _ in range(5):
        assert mkdocs(site).status == 0
        gc.unfreeze()  # or nobody finds them
        held.append(sum(isinstance(each, Glossary) for each in gc.get_objects()))
        gc.freeze()
    assert held[-1] <= held[2]


@pytest.mark.parametrize(
    "uri", ["glossary/warp.md", "Glossary/other/index.md", "experiments/copy/index.md"]
)
def test_hand_written_pages_stand_elsewhere(site: Site, uri: str) -> None:
    """A page of docs/ can pass neither for an entry nor for what an experiment measured."""
    built = mkdocs(site.write(f"docs/{uri}", "# Mine\n"), "--quiet")
    assert built.status == 1
    assert f"{uri}: foreign-page: stands among the hand-written pages" in built.output


@pytest.mark.parametrize("name", ["index.md", "index.html", "script.js", "archive.zip"])
def test_an_entry_brings_no_page_of_its_own(site: Site, name: str) -> None:
    """A file that would take a page's place, or that a browser runs, refuses the entry."""
    built = mkdocs(site.write(f"glossary/warp/{name}", "# Mine\n").publish("warp"), "--quiet")
    assert built.status == 1
    assert f"glossary/warp/{name}: attachment-kind: " in built.output


def test_authors_choose_no_template(site: Site) -> None:
    """Front matter that MkDocs would obey is refused, and never reaches it."""
    site.replace(WARP, "area:", "template: 404.html\nhide: [footer]\narea:")
    built = mkdocs(site, "--quiet")
    assert built.status == 1
    assert "'template' is not a key used here" in built.output
    assert "'hide' is not a key used here" in built.output


def test_measuring_live_needs_a_gpu(site: Site) -> None:
    """A build that was told to measure and cannot is refused, and says what to do."""
    code = {"code/nothing/experiment.py": EXPERIMENT, "code/nothing/nothing.cu": "// nothing\n"}
    new_site(site.root, site.cache, code)
    site.replace(WARP, "byline:", "experiments: [nothing]\nclaims: [holds]\nbyline:")
    site.replace("mkdocs.yml", "measure: recorded", "measure: live")
    built = mkdocs(site, "--quiet")
    assert built.status == 1
    assert "no-gpu: measuring live was asked for, and no GPU answers here" in built.output
    assert "build with measure: recorded" in built.output


def test_another_configuration_file_is_no_way_around(site: Site) -> None:
    """The gate of a site is the same whichever file MkDocs is given."""
    site.write("other.yml", MKDOCS).write("glossary/broken/entry.md", "nothing\n")
    built = mkdocs(site, "--quiet", "--config-file", str(site.root / "other.yml"))
    assert built.status == 1
    assert "no-front-matter" in built.output


def test_a_pinned_registry_is_the_one_that_judges(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a pin from outside of the repository another registry refuses the build."""
    monkeypatch.setenv("GLOSSARY_REGISTRY_PIN", "0" * 64)
    built = mkdocs(site, "--quiet")
    assert built.status == 1
    assert "glossary/people.yml: registry-pin: " in built.output


def test_a_preview_leaves_no_trace_in_a_build(site: Site) -> None:
    """A build after a preview, in the same process, shows no draft."""
    preview.build(site.root)
    built = mkdocs(site, "--quiet")
    assert built.status == 0
    assert built.traces_of("warp") == []
