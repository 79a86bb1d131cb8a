"""Study paths in a real browser: composed, ticked off, kept, exported, shared; nothing is lost."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from browser import worlds
from browser.conftest import SUB_PATH, Open, served
from browser.test_accessibility import AXE, faults
from site_world import Site

FIRST, SECOND = "lessons/1-first/index.md", "lessons/2-second/index.md"
FILES = {
    f"docs/{FIRST}": "# First lesson\n\nIt is about warps.\n",
    f"docs/{SECOND}": "# Second lesson\n\nIt is about blocks.\n",
    "paths/up.yml": (
        "title: From a warp upwards\ndescription: Begins with a warp.\nsteps:\n"
        "  - entry: warp\n    note: It is the smallest.\n"
        f"  - page: {FIRST}\n  - entry: draft\n  - entry: syncthreads\n"
    ),
}
NAV = f"{{Lesson: lesson.md}}, {{One: {FIRST}}}, {{Two: {SECOND}}}, {{Paths: paths/index.md}}"
WARP, BARRIER = "What is warp?", "What is __syncthreads()?"
SHARED = f"paths/#study-path=1&name=A%20friend%E2%80%99s&steps=warp,gone,{SECOND}"

# Stand-ins for a browser that refuses to keep anything of ours, or has no room for it.
REFUSING = """
for (const name of ["getItem", "setItem"]) {
  const real = Storage.prototype[name];
  Storage.prototype[name] = function (key, ...rest) {
    if (key.startsWith("study-paths")) throw new DOMException("refused", "SecurityError");
    return real.call(this, key, ...rest);
  };
}
"""
FULL = """
const real = Storage.prototype.setItem;
Storage.prototype.setItem = function (key, value) {
  if (key.startsWith("study-paths")) throw new DOMException("full", "QuotaExceededError");
  real.call(this, key, value);
};
"""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, lab_cache: Path) -> Site:
    """Give the glossary of test entries, with two lessons and a path over one of its drafts."""
    site = worlds.published(tmp_path_factory.mktemp("paths") / "project", lab_cache)
    for file, text in FILES.items():
        site.write(file, text)
    return site.replace("mkdocs.yml", "{Lesson: lesson.md}", NAV)


@pytest.fixture(scope="module")
def site(world: Site, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Serve it below a sub-path; give the address of its home page."""
    top = tmp_path_factory.mktemp("served-paths")
    worlds.build_published(world, top / SUB_PATH)
    with served(top) as address:
        yield f"{address}{SUB_PATH}/"


@pytest.fixture(scope="module")
def offline(world: Site, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give it as it is read from a disk: without addresses of folders."""
    folder = tmp_path_factory.mktemp("offline-paths") / "site"
    return worlds.build_published(world, folder, offline=True)


@pytest.fixture(scope="module")
def flat(offline: Path) -> Iterator[str]:
    """Serve the site without addresses of folders; give the address of its top."""
    with served(offline) as address:
        yield address


# ── what a test looks at and does ────────────────────────────────────────────────────────────


def button(page: Page, name: str) -> Locator:
    """Give the button that is called so."""
    return page.get_by_role("button", name=name, exact=True)


def add(page: Page, *titles: str) -> None:
    """Add steps with the page's own list."""
    for title in titles:
        page.get_by_label("Add a step").select_option(label=title)
        button(page, "Add").click()


def steps(page: Page) -> list[str]:
    """Give the steps of the path that is shown: title, or id and what is said of it."""
    return page.locator(".mg-steps > li > div").all_inner_texts()


def said(page: Page) -> Locator:
    """Give where the page tells what has just happened."""
    return page.locator(".mg-said")


def kept(page: Page) -> Any:
    """Give what the browser keeps for the site of this page."""
    name = f"study-paths {urlsplit(page.url).path.partition('/paths/')[0]}/paths/"
    text = page.evaluate("name => localStorage.getItem(name)", name)
    return text and json.loads(text)


def names(page: Page) -> list[str]:
    """Give the names of the paths that are kept."""
    return [path["name"] for path in kept(page)["paths"]]


def keep(page: Page, text: str) -> None:
    """Have the browser keep this text for the site, and read the page again."""
    page.evaluate("text => localStorage.setItem('study-paths /sub/path/paths/', text)", text)
    page.reload(wait_until="networkidle")


def give(page: Page, name: str, text: str) -> None:
    """Import a file."""
    given = {"name": name, "mimeType": "application/json", "buffer": text.encode()}
    page.get_by_label("Import a file").set_input_files(given)  # type: ignore[arg-type]


def whole(*, name: str = "Given", ids: tuple[str, ...] = ("warp",), **more: Any) -> str:
    """Give a file as one is exported."""
    listed = [{"id": step, "done": True} for step in ids]
    return json.dumps({"type": "study-path", "schema": 1, "name": name, "steps": listed, **more})


# ── composing ────────────────────────────────────────────────────────────────────────────────


def test_a_path_is_composed_from_the_pages_it_leads_over(open_page: Open, site: str) -> None:
    """An entry and a lesson are added on their own pages, ticked off there, and stay after that."""
    page = open_page(f"{site}glossary/warp/")
    button(page, "Add to “My path”").click()
    expect(page.get_by_role("status").filter(has_text="Step 1 of 1")).to_be_visible()
    button(page, "Tick off in “My path”").press("Enter")
    expect(button(page, "Untick in “My path”")).to_be_focused()
    page.goto(f"{site}lessons/2-second/")
    button(page, "Add to “My path”").click()
    page.get_by_role("link", name="Study paths").last.click()
    page.wait_for_url(f"{site}paths/")
    assert steps(page) == [WARP, "Second lesson"]
    expect(page.get_by_role("progressbar", name="1 of 2 ticked off")).to_have_attribute("max", "2")
    expect(page.get_by_role("checkbox", name=f"Ticked off: {WARP}")).to_be_checked()
    page.locator(".mg-steps").get_by_role("link", name="Second lesson").click()
    page.wait_for_url(f"{site}lessons/2-second/")


def test_a_page_that_is_no_step_has_no_control(open_page: Open, site: str) -> None:
    """Home and the index of the glossary cannot be added."""
    page = open_page(site)
    expect(page.locator(".mg-add")).to_have_count(0)


def test_steps_are_moved_ticked_and_removed(open_page: Open, site: str) -> None:
    """Buttons move a step and keep the focus; a removed step comes back; a reload keeps it all."""
    page = open_page(f"{site}paths/")
    add(page, WARP, "First lesson", BARRIER)
    up = button(page, f"Move up: {BARRIER}")
    up.click()
    expect(up).to_be_focused()
    expect(said(page)).to_have_text(f"“{BARRIER}” is step 2 of 3.")
    up.click()
    expect(button(page, f"Move down: {BARRIER}")).to_be_focused()  # at the top there is no up
    page.get_by_role("checkbox", name=f"Ticked off: {WARP}").check()
    button(page, "Remove: First lesson").click()
    assert steps(page) == [BARRIER, WARP]
    button(page, "Undo").click()
    page.reload(wait_until="networkidle")
    assert steps(page) == [BARRIER, WARP, "First lesson"]
    expect(page.get_by_text("1 of 3 ticked off")).to_be_visible()


def test_the_keyboard_is_enough(open_page: Open, site: str) -> None:
    """A step is added, moved and ticked off with keys alone, and the focus goes with it."""
    page = open_page(f"{site}paths/")
    page.get_by_label("Add a step").focus()
    page.keyboard.type("What is w")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    add(page, BARRIER)
    box = page.get_by_role("checkbox", name=f"Ticked off: {BARRIER}")
    box.focus()
    page.keyboard.press("Alt+ArrowUp")
    assert steps(page) == [BARRIER, WARP]
    expect(button(page, f"Move down: {BARRIER}")).to_be_focused()
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Space")
    expect(box).to_be_checked()
    expect(box).to_be_focused()


def test_what_could_be_read_first_is_suggested_with_its_reason(open_page: Open, site: str) -> None:
    """The lesson before a lesson and an entry's related terms, each put before what it is for."""
    page = open_page(f"{site}paths/")
    add(page, BARRIER, "Second lesson")
    lines = page.locator(".mg-suggested > li")
    assert [" ".join(line.split()) for line in lines.all_inner_texts()] == [
        "First lesson It is the lesson before “Second lesson”. Add before step 2",
        f"{WARP} It is a related term of “{BARRIER}”. Add before step 1",
    ]
    button(page, "Add before step 2: First lesson").click()
    button(page, f"Add before step 1: {WARP}").click()
    assert steps(page) == [WARP, BARRIER, "First lesson", "Second lesson"]
    expect(lines).to_have_count(0)


def test_a_step_that_is_ticked_off_wants_nothing_first(open_page: Open, site: str) -> None:
    """Who has read an entry is not told what to read before it."""
    page = open_page(f"{site}paths/")
    add(page, BARRIER)
    expect(page.locator(".mg-suggested > li")).to_have_count(1)
    page.get_by_role("checkbox").check()
    expect(page.locator(".mg-suggested > li")).to_have_count(0)


def test_there_may_be_several_paths(open_page: Open, site: str) -> None:
    """Paths are begun, named, chosen and deleted; a name stands once; a deletion can be undone."""
    page = open_page(f"{site}paths/")
    add(page, WARP)
    button(page, "New path").click()
    name = page.get_by_label("Name", exact=True)
    expect(name).to_be_focused()
    expect(name).to_have_value("My path (2)")
    name.fill("Barriers")
    name.press("Enter")
    add(page, BARRIER)
    name.fill("My path")
    name.press("Enter")
    assert names(page) == ["My path", "My path (2)"]
    page.get_by_role("combobox", name="Path", exact=True).select_option("My path")
    assert steps(page) == [WARP]
    button(page, "Delete this path").click()
    assert (names(page), steps(page)) == (["My path (2)"], [BARRIER])
    button(page, "Undo").click()
    assert names(page) == ["My path", "My path (2)"]
    page.goto(f"{site}glossary/warp/")
    expect(button(page, "Tick off in “My path”")).to_be_visible()


def test_another_tab_sees_what_is_changed(open_page: Open, site: str) -> None:
    """Two pages of one reader do not write over each other."""
    page = open_page(f"{site}paths/")
    other = page.context.new_page()
    other.goto(f"{site}glossary/warp/", wait_until="networkidle")
    add(page, BARRIER)
    button(other, "Add to “My path”").click()
    expect(page.locator(".mg-steps > li")).to_have_count(2)
    add(page, "First lesson")
    assert [step["id"] for step in kept(page)["paths"][0]["steps"]] == [
        "syncthreads",
        "warp",
        FIRST,
    ]


# ── files ────────────────────────────────────────────────────────────────────────────────────


def test_a_path_is_exported_and_imported(open_page: Open, site: str, tmp_path: Path) -> None:
    """The file has a schema number and the ticks; imported it stands beside the path it was."""
    page = open_page(f"{site}paths/")
    add(page, WARP, "First lesson")
    page.get_by_role("checkbox", name=f"Ticked off: {WARP}").check()
    with page.expect_download() as downloading:
        button(page, "Export as a file").click()
    assert downloading.value.suggested_filename == "my-path.json"
    file = tmp_path / "my-path.json"
    downloading.value.save_as(file)
    listed = [{"id": "warp", "done": True}, {"id": FIRST, "done": False}]
    given = {"type": "study-path", "schema": 1, "name": "My path", "steps": listed}
    assert json.loads(file.read_text("utf-8")) == given
    page.get_by_label("Import a file").set_input_files(file)
    expect(said(page)).to_have_text("“My path (2)” is imported.")
    assert [path["steps"] for path in kept(page)["paths"]] == [listed, listed]


WRONG = (
    ("%PDF-1.7", "“a.json” is not JSON, so no path was imported."),
    ("null", "“a.json” is not JSON, so no path was imported."),
    ('{"name": "package"}', "“a.json” is not a study path exported here."),
    (whole(schema=2), "“a.json”: its form has the number 2, and this page reads 1."),
    (whole(name=" "), "“a.json” is damaged: it has no name."),
    (whole(steps={}), "“a.json” is damaged: it has no steps."),
    (whole(ids=("warp", "<b>")), 'its step 2 has no "id" of an entry or page, or no "done".'),
    (whole(steps=[{"id": "warp"}]), 'its step 1 has no "id" of an entry or page'),
    (whole(steps=[None] * 501), "it has more than 500 steps."),
)


def test_a_wrong_file_is_told_and_nothing_is_lost(open_page: Open, site: str) -> None:
    """The message says what was found; the reader's own path is as it was."""
    page = open_page(f"{site}paths/")
    add(page, WARP)
    before = kept(page)
    for text, message in WRONG:
        give(page, "a.json", text)
        expect(said(page)).to_contain_text(message)
        expect(said(page)).to_contain_text("Your paths are as they were.")
        assert kept(page) == before
    give(page, "b.json", whole())
    expect(said(page)).to_have_text("“Given” is imported.")


# ── links ────────────────────────────────────────────────────────────────────────────────────


def test_a_shared_path_is_offered_and_changes_nothing(open_page: Open, site: str) -> None:
    """The link of one reader shows another the path, who takes it over beside his own, or not."""
    page = open_page(f"{site}paths/")
    add(page, WARP, "First lesson")
    page.get_by_role("checkbox", name=f"Ticked off: {WARP}").check()
    link = page.get_by_label("Link to this path").input_value()
    other = open_page(f"{site}paths/")
    add(other, BARRIER)
    before = kept(other)
    other.goto(link)
    offer = other.get_by_role("region", name="A path shared with you")
    assert offer.get_by_role("listitem").all_inner_texts() == [WARP, "First lesson"]
    assert kept(other) == before
    button(other, "Not now").click()
    expect(offer).to_have_count(0)
    assert (kept(other), other.url) == (before, f"{site}paths/")
    other.goto(link)
    button(other, "Take it over").click()
    assert steps(other) == [WARP, "First lesson"]
    expect(other.get_by_text("0 of 2 ticked off")).to_be_visible()  # ticks stay with who made them
    assert names(other) == ["My path", "My path (2)"]
    assert kept(other)["paths"][0] == before["paths"][0]
    other.reload()
    expect(offer).to_have_count(0)


def test_the_link_can_be_copied(open_page: Open, site: str) -> None:
    """The button puts into the clipboard what the field shows."""
    page = open_page(f"{site}paths/", permissions=["clipboard-read", "clipboard-write"])
    add(page, WARP)
    button(page, "Copy the link").click()
    expect(said(page)).to_have_text("The link is copied.")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == f"{site}paths/#study-path=1&name=My%20path&steps=warp"


def test_the_path_of_an_author_is_taken_over(open_page: Open, site: str) -> None:
    """The page of an author's path leads to the same offer; a step that is a draft is not in it."""
    page = open_page(f"{site}paths/up/")
    expect(page.locator("article > ol > li")).to_have_count(3)
    expect(page.get_by_text("1 of its 4 steps is not published")).to_be_visible()
    page.get_by_role("link", name="Take this path as your own").click()
    button(page, "Take it over").click()
    assert names(page) == ["From a warp upwards"]
    assert steps(page) == [WARP, "First lesson", BARRIER]


def test_a_step_this_site_does_not_have_is_shown_and_kept(open_page: Open, site: str) -> None:
    """A withdrawn entry stays in the path by its id, until the reader takes it out."""
    page = open_page(site + SHARED)
    button(page, "Take it over").click()
    unknown = "gone (not on this site: withdrawn, not published yet, or from elsewhere)"
    assert steps(page) == [WARP, unknown, "Second lesson"]
    page.reload(wait_until="networkidle")
    assert steps(page)[1] == unknown
    button(page, "Remove: gone").click()
    assert steps(page) == [WARP, "Second lesson"]


EMPTY_LINKS = (
    ("#study-path=1&name=A&steps=warp,%3Cimg%20src=x%3E", "holds no study path"),
    ("#study-path=1&name=&steps=warp", "holds no study path"),
    ("#study-path=1&name=A", "holds no study path"),
    ("#study-path=7&name=A&steps=warp", "has the number 7, and this page reads 1"),
)


def test_a_link_that_holds_no_path_is_told(open_page: Open, site: str) -> None:
    """Whatever stands in a link, nothing of it is shown but what is wrong with it."""
    page = open_page(f"{site}paths/")
    add(page, WARP)
    for link, message in EMPTY_LINKS:
        page.goto(f"{site}paths/{link}")
        expect(page.locator(".mg-warning")).to_contain_text(message)
        expect(page.get_by_role("region", name="A path shared with you")).to_have_count(0)
        assert steps(page) == [WARP]


# ── a browser that keeps nothing, or nonsense ────────────────────────────────────────────────


@pytest.mark.parametrize("program", [REFUSING, FULL], ids=["refusing", "full"])
def test_a_browser_that_keeps_nothing_is_told(open_page: Open, site: str, program: str) -> None:
    """The path lasts as long as the page, which says so, and can be exported and shared."""
    page = open_page(f"{site}paths/")
    page.add_init_script(program)
    page.reload(wait_until="networkidle")
    add(page, WARP)
    expect(page.locator(".mg-warning")).to_contain_text("keeps nothing for this site")
    add(page, BARRIER)
    assert steps(page) == [WARP, BARRIER]
    assert "steps=warp,syncthreads" in page.get_by_label("Link to this path").input_value()
    with page.expect_download():
        button(page, "Export as a file").click()


def test_an_entry_s_control_says_that_nothing_is_kept(open_page: Open, site: str) -> None:
    """Where nothing can be kept the entry's page has no idle button, and says why."""
    page = open_page(f"{site}glossary/warp/")
    page.add_init_script(REFUSING)
    page.reload(wait_until="networkidle")
    expect(page.locator(".mg-add")).to_contain_text("This browser keeps no path here")
    expect(page.locator(".mg-add button:visible")).to_have_count(0)
    full = open_page(f"{site}glossary/warp/")
    full.add_init_script(FULL)
    full.reload(wait_until="networkidle")
    button(full, "Add to “My path”").click()
    expect(full.locator(".mg-add")).to_contain_text("This browser keeps no path here")


NONSENSE = ("{", "[]", '{"schema": 2, "paths": []}', '{"schema": 1, "paths": [{"name": 3}]}')


def test_nonsense_is_told_and_left_until_the_reader_decides(open_page: Open, site: str) -> None:
    """What cannot be read is not written over: it can be saved, and then begun anew."""
    page = open_page(f"{site}paths/")
    for text in NONSENSE:
        keep(page, text)
        expect(page.locator(".mg-warning")).to_contain_text("cannot be read")
        expect(page.get_by_label("Add a step")).to_have_count(0)
    with page.expect_download() as downloading:
        button(page, "Save it as a file").click()
    assert downloading.value.path().read_text("utf-8") == NONSENSE[-1]
    page.goto(f"{site}glossary/warp/")
    expect(page.locator(".mg-add")).to_contain_text("Your paths cannot be read")
    page.goto(f"{site}paths/")
    button(page, "Start anew").click()
    add(page, WARP)
    page.reload(wait_until="networkidle")
    assert steps(page) == [WARP]


# ── without a program, a server, folders, a screen ───────────────────────────────────────────


def test_without_javascript_the_authors_paths_are_lists(open_page: Open, site: str) -> None:
    """A sentence says what needs JavaScript; the paths of the authors need none."""
    page = open_page(f"{site}paths/", java_script_enabled=False)
    expect(page.get_by_text("this page needs JavaScript")).to_be_visible()
    expect(page.locator("article :is(button, input, select)")).to_have_count(0)
    page.get_by_role("link", name="From a warp upwards").click()
    page.locator("article").get_by_role("link", name=WARP).click()
    page.wait_for_url(f"{site}glossary/warp/")
    expect(page.locator(".mg-add").get_by_role("link", name="Study paths")).to_be_visible()


def test_a_path_is_composed_on_a_site_without_folders(open_page: Open, flat: str) -> None:
    """Where pages are called by their files, links lead to files, below the server's top too."""
    page = open_page(f"{flat}glossary/warp/index.html")
    button(page, "Add to “My path”").click()
    page.goto(f"{flat}paths/index.html")
    assert steps(page) == [WARP]
    page.locator(".mg-steps").get_by_role("link").click()
    page.wait_for_url(f"{flat}glossary/warp/index.html")


def test_a_path_is_composed_on_a_disk(open_page: Open, offline: Path) -> None:
    """From a disk the path is kept, its links and an author's offer lead to files."""
    page = open_page((offline / "glossary/warp/index.html").as_uri())
    button(page, "Add to “My path”").click()
    page.locator(".mg-add").get_by_role("link", name="Study paths").click()
    expect(page.get_by_label("Link to this path, on this machine")).to_be_visible()
    assert steps(page) == [WARP]
    page.get_by_role("link", name="From a warp upwards").click()
    page.get_by_role("link", name="Take this path as your own").click()
    button(page, "Take it over").click()
    page.locator(".mg-steps").get_by_role("link", name="First lesson").click()
    page.wait_for_url((offline / "lessons/1-first/index.html").as_uri())


def test_a_path_is_printed_without_its_controls(open_page: Open, site: str) -> None:
    """On paper there are the steps and how far the reader is, and nothing to press."""
    page = open_page(f"{site}paths/")
    add(page, WARP, BARRIER)
    page.emulate_media(media="print")
    assert steps(page) == [WARP, BARRIER]
    expect(page.get_by_text("0 of 2 ticked off")).to_be_visible()
    expect(
        page.locator("article :is(button, select, input:not([type=checkbox])):visible")
    ).to_have_count(0)


@pytest.mark.skipif(not AXE, reason="axe-core is absent: ci/axe.sh fetches it; set GLOSSARY_AXE")
@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("dark", 320)])
def test_axe_finds_nothing(open_page: Open, site: str, scheme: str, width: int) -> None:
    """A path with all its controls, an offer and the control of an entry have no fault."""
    page = open_page(f"{site}paths/", width=width, color_scheme=scheme)
    add(page, "Second lesson", BARRIER)
    button(page, "New path").click()
    assert faults(page) == []
    page.get_by_role("combobox", name="Path", exact=True).select_option("My path")
    page.get_by_role("checkbox").first.check()
    page.goto(site + SHARED)
    assert faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for path in ("glossary/warp/", "paths/up/", "lessons/1-first/"):
        page.goto(site + path)
        assert faults(page) == []
