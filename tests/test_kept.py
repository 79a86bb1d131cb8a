"""Pages that are kept: the same bytes as pages made anew, whatever was edited in between."""

from __future__ import annotations

import importlib
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from measured_glossary.address import Address
from measured_glossary.cli import main
from measured_glossary.markup import ENVIRONMENT
from measured_glossary.press import Kept, Press
from measured_glossary.website import Output, website
from mkdocs_world import mkdocs
from site_world import ENTRY, Site, new_site
from test_sites import laid_out, read_case

THEME = "{% extends 'base.html' %}{% block content %}{{ super() }}<p>Below</p>{% endblock %}\n"
HOOK = """\
def on_post_page(output, **_):
    return output.replace("</body>", "<!-- hook --></body>")
"""
LESSON = "# Lesson\n\nA [warp](glossary/warp/index.md), a lane, and an [area](extra/index.md).\n"
OTHER = ENTRY.replace("term: warp", "term: lane").replace("What is a warp?", "What is a lane?")
LANE = OTHER.replace(
    "A warp is 32 threads that the hardware schedules together.", "One of 32."
).replace("byline:", "related: [warp]\nbyline:")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, lab_cache: Path) -> Site:
    """Give a built glossary: an entry with an experiment, one without, a draft, two lessons."""
    root = tmp_path_factory.mktemp("kept") / "project"
    site = laid_out(read_case("published-experiment"), root, lab_cache)
    site.write("docs/lesson.md", LESSON).write("docs/extra/index.md", "# Extra\n\n## Part\n")
    site.write("hook.py", HOOK).write("overrides/main.html", THEME)
    site.write("glossary/lane/entry.md", LANE).publish("lane")
    site.write("glossary/draft/entry.md", OTHER.replace("term: lane", "term: draft"))
    site.replace("mkdocs.yml", "theme: mkdocs", "theme: {name: mkdocs, custom_dir: overrides}")
    site.replace("mkdocs.yml", "{Home: index.md}", "{Home: index.md}, lesson.md, extra/index.md")
    keeping = "hooks: [hook.py]\nplugins: [search, measured-glossary: "
    keeping += "{measure: recorded, per_page: [hook.py]}]\n"
    site.replace("mkdocs.yml", "plugins: [search, measured-glossary: {measure: recorded}]", keeping)
    built = mkdocs(site)
    assert (built.status, "made anew" in built.output) == (0, False), built.output
    return site


@pytest.fixture
def site(made: Site, tmp_path: Path) -> Site:
    """Give that glossary, with what is kept of it, for one test to edit."""
    shutil.copytree(made.root, tmp_path / "project", symlinks=True)
    return Site(root=tmp_path / "project", cache=made.cache)


@pytest.fixture(scope="module", autouse=True)
def one_date() -> Iterator[None]:
    """Let each build say that it is of the same moment: MkDocs' own theme shows it."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("SOURCE_DATE_EPOCH", "1764400000")
        yield


def forget(site: Site) -> None:
    """Delete what is kept of pages; compiled kernels stay."""
    for path in (site.root / ".cache" / "measured-glossary").glob("memo.sqlite*"):
        path.unlink()


def tree(folder: Path) -> dict[str, bytes]:
    """Give every file of a folder."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@dataclass(frozen=True)
class Edit:
    """What somebody changes, and a page whose bytes show it."""

    do: Callable[[Site], object]
    shown: str = "glossary/warp/index.html"


def answer(site: Site) -> None:
    """Give an entry another answer: a tooltip on each page that names the term."""
    site.replace("glossary/lane/entry.md", "One of 32.", "One of the 32.").publish("lane")


def body(site: Site) -> None:
    """Change a sentence of an entry; another one is mentioned in it now."""
    site.replace("glossary/lane/entry.md", "Every block", "Each warp has it. Every block")
    site.publish("lane")


def code(site: Site) -> None:
    """Add a comment to a kernel, measure it again, and sign it again."""
    path = site.path("code/copy/copy.cu")
    path.write_text(path.read_text("utf-8") + "// One more line.\n", "utf-8")
    site.record("copy", ROWS).publish("warp")


def record(site: Site) -> None:
    """Measure again, with other counts."""
    other = [{**row, "wrong": [1 if n else 0 for n in row["wrong"]]} for row in ROWS["mismatches"]]
    site.record("copy", {"mismatches": other})


def alias(site: Site) -> None:
    """Give an entry another name, which a lesson and another entry use already."""
    site.replace("glossary/lane/entry.md", "area:", "aliases: [block]\narea:").publish("lane")


ROWS: dict[str, list[dict[str, Any]]] = {
    "mismatches": [
        {"threads": 32, "wrong": [0, 0, 0], "launched": 1},
        {"threads": 64, "wrong": [12, 7, 31], "launched": 1},
    ]
}
LANE_PAGE, LANE_PAGE_SOURCE = "glossary/lane/index.html", "glossary/lane/index.md"
EDITS = {
    "an answer": Edit(answer, "lesson/index.html"),
    "a body": Edit(body, LANE_PAGE),
    "a backlink": Edit(body),
    "an alias": Edit(alias),
    "code": Edit(code, "experiments/copy/index.html"),
    "a record": Edit(record, "experiments/copy/index.html"),
    "the glossary's title": Edit(
        lambda s: s.replace("glossary/settings.yml", "Test glossary", "Tested glossary")
    ),
    "a person's name": Edit(
        lambda s: s.replace("glossary/people.yml", "Test Reviewer", "Test Re-viewer")
    ),
    "a signature": Edit(lambda s: s.sign("lane", said="check", by="reviewer"), LANE_PAGE),
    "a signature less": Edit(
        lambda s: s.remove("glossary/lane/signatures/review.test-reviewer.json").remove(
            "glossary/lane/signatures/review.test-reviewer.json.sig"
        ),
        LANE_PAGE,
    ),
    "a retraction": Edit(
        lambda s: s.sign("lane", said="retract", by="author", reason="It is wrong."), LANE_PAGE
    ),
    "an entry more": Edit(
        lambda s: s.write("glossary/grid/entry.md", OTHER.replace("lane", "grid")).publish("grid"),
        "glossary/index.html",
    ),
    "an entry less": Edit(
        lambda s: s.remove("glossary/lane").replace("docs/lesson.md", "a lane", "one")
    ),
    "a setting": Edit(lambda s: s.replace("mkdocs.yml", "Test glossary", "Test site")),
    "an extension": Edit(
        lambda s: s.replace("mkdocs.yml", "tables,", "tables, toc: {permalink: true},")
    ),
    "the address": Edit(lambda s: s.replace("mkdocs.yml", "test.example/", "test.example/sub/")),
    "the navigation": Edit(
        lambda s: s.replace("mkdocs.yml", "lesson.md,", "Lesson One: lesson.md,")
    ),
    "a template": Edit(lambda s: s.replace("overrides/main.html", "Below", "Under")),
    "a hook": Edit(lambda s: s.replace("hook.py", "hook --", "hooked --")),
    "where a page stands": Edit(
        lambda s: s.replace(
            "mkdocs.yml", "strict: true", "strict: true\nuse_directory_urls: false"
        ),
    ),
}


@pytest.mark.parametrize("name", EDITS)
def test_what_is_kept_is_what_would_be_made(site: Site, name: str) -> None:
    """After an edit, the tree is byte for byte that of a build which keeps nothing."""
    before = tree(site.root / "site")
    edit = EDITS[name]
    edit.do(site)
    built = mkdocs(site)
    assert built.status == 0, built.output
    kept = tree(built.folder)
    assert kept.get(edit.shown) != before.get(edit.shown), f"{edit.shown} does not show the edit"
    shutil.rmtree(site.root / "site")
    forget(site)
    anew = tree(mkdocs(site).folder)
    assert [name for name in sorted({*anew, *kept}) if anew.get(name) != kept.get(name)] == []


SLUGS = "toc: {slugify: !!python/object/apply:pymdownx.slugs.slugify {kwds: {case: lower}}}"
GLOBAL = f"""\
from pathlib import Path
{HOOK}
def on_env(env, **_):
    env.globals["who"] = Path("who.txt").read_text()
"""
ADDS = """
from markdown.extensions import Extension
from markdown.postprocessors import Postprocessor
class Adds(Extension):
    def extendMarkdown(self, md):
        md.postprocessors.register(Post(md), "adds", 1)
class Post(Postprocessor):
    def run(self, text):
        if "Every block" not in text:  # an entry's: loaded when the key is known
            return text
        from NAME import WORD
        return text.replace("</p>", f" {WORD}</p>", 1)
def makeExtension(**_):
    return Adds()
"""


def extended(site: Site, extension: str) -> None:
    """Use an extension more."""
    site.replace("mkdocs.yml", "tables,", f"tables, {extension},")


def overridden(site: Site, shown: str) -> None:
    """Show something more on each page."""
    site.replace("overrides/main.html", "<p>Below</p>", shown)


def local_class(site: Site) -> None:
    """Use an extension of the site's own by the name of its class, in one file."""
    site.write("myext.py", f"WORD = 'one'\n{ADDS.replace('NAME', 'myext')}")
    extended(site, "'myext:Adds'")


def local_package(site: Site) -> None:
    """Use a package of the site's own, which loads a part of it when a page is rendered."""
    site.write("pkgext/__init__.py", ADDS.replace("NAME", "pkgext.a.words"))
    for folder in ("a", "b"):  # files of one name are two files
        site.write(f"pkgext/{folder}/words.py", "WORD = 'one'\n")
    extended(site, "pkgext")


def global_name(site: Site) -> None:
    """Give templates something that a hook read elsewhere."""
    site.write("hook.py", GLOBAL).write("who.txt", "one")
    overridden(site, "{{ who }}")


def linked_folder(site: Site) -> None:
    """Have templates in a folder that is linked into the theme's, and one that leads back."""
    site.write("shared/more.html", "one")
    site.path("overrides/partials").symlink_to("../shared")
    site.path("shared/back").symlink_to("../overrides")
    overridden(site, "{% include 'partials/more.html' %}")


def other_pages(site: Site, shown: str) -> None:
    """Show something of each hand-written page on all pages."""
    site.write("docs/aside.md", "# One\n\nA sentence.\n")
    site.replace("mkdocs.yml", "strict: true", "strict: true\nnot_in_nav: aside.md")
    overridden(site, f"{{% for file in pages %}}{{{{ {shown} }}}}{{% endfor %}}")


# What a site may have besides, and the edit that its pages must show then.
LOCAL: dict[str, tuple[Callable[[Site], object], Callable[[Site], object]]] = {
    "an option that is a function": (
        lambda s: extended(s, SLUGS),
        lambda s: s.replace("mkdocs.yml", "case: lower", "case: upper"),
    ),
    "a name that a hook gives to templates": (
        global_name,
        lambda s: s.write("who.txt", "another"),
    ),
    "an extension named by its class": (
        local_class,
        lambda s: s.replace("myext.py", "'one'", "'another'"),
    ),
    "a part of an extension": (
        local_package,
        lambda s: s.replace("pkgext/a/words.py", "'one'", "'another'"),
    ),
    "a template in a linked folder": (
        linked_folder,
        lambda s: s.write("shared/more.html", "another"),
    ),
    "another page's title": (
        lambda s: other_pages(s, "file.page.title"),
        lambda s: s.replace("docs/aside.md", "# One", "# Another"),
    ),
    "another page's text": (
        lambda s: other_pages(s, "file.page.content"),
        lambda s: s.replace("docs/aside.md", "A sentence.", "Another sentence."),
    ),
}


@pytest.mark.parametrize("name", LOCAL)
def test_what_a_site_has_of_its_own_counts(
    site: Site, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Code, options and templates of the site's own are on every page, and in its key."""
    monkeypatch.syspath_prepend(site.root)
    have, edit = LOCAL[name]
    have(site)
    before = tree(built_anew(site))
    edit(site)
    kept = tree(built_anew(site))
    shutil.rmtree(site.root / "site")
    forget(site)
    anew = tree(built_anew(site))
    assert [name for name in sorted({*anew, *kept}) if anew.get(name) != kept.get(name)] == []
    assert before[LANE_PAGE] != kept[LANE_PAGE]


def built_anew(site: Site) -> Path:
    """Build as a new process does: with none of the site's own code loaded."""
    for name in [name for name in sys.modules if name.partition(".")[0] in ("myext", "pkgext")]:
        del sys.modules[name]
    importlib.invalidate_caches()
    built = mkdocs(site)
    assert (built.status, "made anew" in built.output) == (0, False), built.output
    return built.folder


def test_code_that_is_gone_keeps_no_build_from_its_end(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a hook loaded may have been deleted since, or have come out of an archive."""
    for name in ("gone.py", "archive.zip/inside.py"):
        module = ModuleType(name)
        module.__file__ = str(site.root / name)
        monkeypatch.setitem(sys.modules, name, module)
    assert mkdocs(site.write("archive.zip", "")).status == 0


AFTER = """\
from pathlib import Path
def on_post_build(config, **_):
    for page in Path(config.site_dir).rglob("*.html"):
        text = page.read_text("utf-8")
        page.write_text(text.replace("</body>", "<!-- after --></body>"), "utf-8")
"""


def test_whoever_looks_at_the_built_site_finds_all_of_it(site: Site) -> None:
    """A hook that changes each page when all are there changes these too, kept or not."""
    plain = tree(site.root / "site")
    site.write("after.py", AFTER).replace("mkdocs.yml", "[hook.py]\n", "[hook.py, after.py]\n")
    for _ in range(2):
        built = mkdocs(site)
        assert (
            "each page is laid out anew for what looks at the built site: after.py" in built.output
        )
        marked = tree(built.folder)
        pages = {name: raw for name, raw in marked.items() if name.endswith(".html")}
        assert [name for name, raw in pages.items() if raw.count(b"<!-- after -->") != 1] == []
    assert "0 files written, 0 deleted" in built.output
    assert {name: raw.replace(b"<!-- after -->", b"") for name, raw in marked.items()} == plain
    site.replace("mkdocs.yml", ", after.py", "")
    assert tree(mkdocs(site).folder) == plain


def test_other_code_of_ours_is_another_key(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """What this package writes is written again by another version, the files that verify too."""
    address = Address(base="https://test.example/")

    def outputs() -> dict[str, Output]:
        made = website(site.build(), site.root / "docs", drafts=False, address=address).outputs
        return {out.uri: out for out in made}

    before = outputs()
    monkeypatch.setattr("measured_glossary.website.package", lambda: "another version")
    after = outputs()
    written = {uri for uri, out in before.items() if callable(out.make)}
    assert {"glossary/warp/manifest.sha256", LANE_PAGE_SOURCE} <= written
    assert [uri for uri in sorted(written) if before[uri].key == after[uri].key] == []


CODE = "pymdownx.superfences, pymdownx.highlight"
COLOURED = f"{CODE}: {{noclasses: true, pygments_style: monokai}}"


@pytest.mark.parametrize(("extensions", "shown"), [
    ("tables", "<pre><code"), (CODE, '<span class="'), (COLOURED, '<span style="color: #'),
])  # fmt: skip
def test_a_kept_page_is_what_mkdocs_itself_makes(site: Site, extensions: str, shown: str) -> None:
    """Read by MkDocs in its own loop, every page comes out the same, code in its colours too."""
    site.replace("mkdocs.yml", "tables,", f"tables, {extensions},")
    kept = tree(mkdocs(site).folder)
    assert shown.encode() in kept[LANE_PAGE]
    site.replace("mkdocs.yml", ", per_page: [hook.py]", "")
    built = mkdocs(site)
    assert "each page is made anew, since these may look at others: hook.py" in built.output
    anew = tree(built.folder)
    assert [name for name in sorted({*anew, *kept}) if anew.get(name) != kept.get(name)] == []


def test_a_build_without_a_change_touches_nothing(site: Site) -> None:
    """No file of the site is written again, and nothing is rendered."""
    before = {path: path.stat() for path in (site.root / "site").rglob("*")}
    mkdocs(site)  # the copy made for this test has other times
    before = {path: path.stat() for path in (site.root / "site").rglob("*")}
    built = mkdocs(site)
    assert "0 files written, 0 deleted" in built.output
    assert {path: path.stat() for path in (site.root / "site").rglob("*")} == before


def test_without_a_cache_nothing_is_kept(site: Site) -> None:
    """The option leaves no file behind, and the site is the same."""
    kept = tree(mkdocs(site).folder)
    assert ENVIRONMENT.bytecode_cache
    site.replace("mkdocs.yml", "measure: recorded", "measure: recorded, cache: false")
    forget(site)
    assert tree(mkdocs(site).folder) == kept
    assert not ENVIRONMENT.bytecode_cache
    assert not (site.root / ".cache" / "measured-glossary" / "memo.sqlite").exists()


def test_a_verdict_is_never_kept(site: Site) -> None:
    """A signature that no longer verifies takes the page away, whatever is kept of it."""
    signature = site.root / "glossary/lane/signatures/review.test-reviewer.json.sig"
    other = site.root / "glossary/lane/signatures/author.test-author.json.sig"
    signature.write_bytes(other.read_bytes())
    built = mkdocs(site)
    assert built.status == 1
    assert "glossary/lane/signatures" in built.output


def test_a_link_to_an_anchor_that_is_gone_is_said(site: Site) -> None:
    """Kept pages check the anchors they lead to, and are checked for those led to on them."""
    site.replace("docs/lesson.md", "warp/index.md", "warp/index.md#nowhere")
    site.replace("mkdocs.yml", "strict: true", "strict: true\nvalidation: {anchors: warn}")
    before = tree(site.root / "site")
    built = mkdocs(site)
    assert built.status == 1
    assert "'glossary/warp/index.md' does not contain an anchor '#nowhere'" in built.output
    assert tree(site.root / "site") == before, "a strict build that warns leaves the last site"


def test_the_page_of_all_entries_is_printed_last(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes much memory where they are many: no process that prints others is there any more."""
    printed: list[str] = []
    one = Press._one

    def noted(press: Press, file: Kept) -> Any:
        printed.append(file.src_uri)
        return one(press, file)

    monkeypatch.setattr(Press, "_one", noted)
    forget(site)
    mkdocs(site)
    assert {"glossary/warp/index.md", "experiments/copy/index.md"} < set(printed)
    assert printed[1] == "glossary/index.md"
    monkeypatch.setattr("measured_glossary.press.MANY", 1)
    forget(site)
    mkdocs(site)
    assert printed[-1] == "glossary/index.md"


@pytest.mark.parametrize(("anchor", "is_said"), [("nowhere", True), ("why", False)])
def test_a_link_to_an_anchor_of_its_own_page(site: Site, anchor: str, is_said: bool) -> None:
    """One that leads nowhere is said; what is on the page need not be looked for again."""
    text = f"## Why\n\nAs [said](#{anchor}) here.\n\nEvery block"
    site.replace("glossary/lane/entry.md", "Every block", text).publish("lane")
    site.replace("mkdocs.yml", "strict: true", "strict: true\nvalidation: {anchors: warn}")
    assert (f"'#{anchor}', but there is no such anchor" in mkdocs(site).output) is is_said


def test_a_build_that_fails_leaves_the_last_site(site: Site) -> None:
    """Whatever raises on the way, no file of the site is lost."""
    before = tree(site.root / "site")
    site.write("hook.py", "def on_post_build(**_):\n    raise SystemError('test')\n")
    with pytest.raises(SystemError):
        mkdocs(site)
    assert tree(site.root / "site") == before


def test_a_site_without_a_published_entry_is_kept_too(tmp_path: Path, lab_cache: Path) -> None:
    """Nothing to print is no reason to fail."""
    site = new_site(tmp_path / "empty", lab_cache)
    assert mkdocs(site).status == 0
    assert "0 files written" in mkdocs(site).output


def test_a_sentence_more_leaves_the_index_as_it_was(site: Site) -> None:
    """The index depends on what it says of an entry, not on the entry's body or signatures."""

    def keys() -> dict[str, bytes]:
        address = Address(base="https://test.example/", has_folders=True)
        made = website(site.build(), site.root / "docs", drafts=False, address=address)
        return {output.uri: output.key for output in made.outputs}

    before = keys()
    path = site.path("glossary/lane/entry.md")
    path.write_text(path.read_text("utf-8") + "\nOne sentence more.\n", "utf-8")
    site.publish("lane")
    changed = {uri for uri, key in keys().items() if before.get(uri) != key}
    assert "glossary/lane/index.md" in changed
    assert not changed & {"glossary/index.md", "glossary/warp/index.md", "index.md"}


def test_the_commands_keep_too_and_can_be_told_not_to(made: Site, tmp_path: Path) -> None:
    """`glossary status` leaves what it parsed for the next command, unless it is told not to."""
    kept = tmp_path / "project" / ".cache" / "measured-glossary" / "memo.sqlite"
    shutil.copytree(made.root, tmp_path / "project")
    site = Site(root=tmp_path / "project", cache=made.cache)
    forget(site)
    assert main(["status", "--no-cache", "--root", str(site.root)]) == 0
    assert not kept.exists()
    assert main(["status", "--root", str(site.root)]) == 0
    assert kept.exists()
