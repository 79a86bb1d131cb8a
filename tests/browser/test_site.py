"""The site in a real browser: terms, filter, search, copying, themes, disk, paper, no program."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from browser import worlds
from browser.conftest import Open


def term(page: Page, name: str) -> Locator:
    return page.locator("article").get_by_role("link", name=name, exact=True)


def tip(page: Page) -> Locator:
    return page.locator(".mg-tip:visible")


# ── terms ────────────────────────────────────────────────────────────────────────────────────


def test_hovering_a_term_tells_its_answer(open_page: Open, site: str) -> None:
    """The tooltip shows on hover, stays while it is hovered itself, and goes with Escape."""
    page = open_page(site)
    link = term(page, "warp").first
    expect(tip(page)).to_have_count(0)
    link.hover()
    expect(tip(page)).to_have_text("A warp is 32 threads that the hardware schedules together.")
    tip(page).hover()
    expect(tip(page)).to_be_visible()
    page.keyboard.press("Escape")
    expect(tip(page)).to_have_count(0)


def test_a_term_with_the_focus_tells_its_answer(open_page: Open, site: str) -> None:
    """With the keyboard the tooltip shows too, and it describes the link."""
    page = open_page(site)
    link = term(page, "warp").first
    link.focus()
    expect(tip(page)).to_be_visible()
    expect(tip(page)).to_have_attribute("role", "tooltip")
    assert link.get_attribute("aria-describedby") == tip(page).get_attribute("id")
    expect(link).to_have_accessible_description(re.compile("^A warp is 32 threads"))
    link.blur()
    expect(tip(page)).to_have_count(0)


def test_the_first_tap_tells_and_the_second_follows(open_page: Open, site: str) -> None:
    """On a touch screen a tap shows the answer, another one opens the entry."""
    page = open_page(site, width=390, has_touch=True)
    link = term(page, "block barrier").first
    link.tap()
    expect(tip(page)).to_have_text("It is a barrier for one thread block.")
    assert page.url == site
    link.tap()
    page.wait_for_url(f"{site}glossary/syncthreads/")


def test_a_tooltip_stays_on_the_screen(open_page: Open, site: str) -> None:
    """On a narrow screen no tooltip makes the page wider."""
    page = open_page(site, width=320)
    for link in page.locator("article a[aria-describedby]").all():
        link.focus()
        box = tip(page).bounding_box()
        assert box
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 320
    assert page.evaluate("document.documentElement.scrollWidth") <= 320


def test_a_name_of_two_entries_leads_to_a_choice(open_page: Open, site: str) -> None:
    """A shared name opens the page that tells its entries apart."""
    page = open_page(site)
    term(page, "bank").click()
    expect(page.locator("article h1")).to_contain_text("bank")
    term(page, "memory bank").click()
    page.wait_for_url(f"{site}glossary/memory-bank/")


# ── index and search ─────────────────────────────────────────────────────────────────────────


def test_the_filter_narrows_both_lists(open_page: Open, site: str) -> None:
    """The box finds a term by an alias too, hides empty areas, and says how many it found."""
    page = open_page(f"{site}glossary/")
    box = page.get_by_role("searchbox", name="Filter the terms")
    box.fill("sync-threads")
    expect(page.locator("article > ul > li:visible")).to_have_count(2)
    box.fill("bank")
    expect(page.get_by_role("status").filter(has_text="found")).to_have_text("2 found")
    expect(page.get_by_role("heading", name="Execution model")).to_be_hidden()
    expect(page.get_by_role("heading", name="Memory", exact=False).first).to_be_visible()
    box.press("Escape")
    expect(page.get_by_role("heading", name="Execution model")).to_be_visible()


def results(page: Page, query: str) -> list[str]:
    """Search as a reader does; give the addresses found, best first."""
    box = page.locator(".md-search__input")
    box.click()
    box.fill(query)
    box.press("End")  # the theme looks at the box when a key is let go
    page.locator(".md-search-result__link").first.wait_for()
    links = page.locator("a.md-search-result__link").all()
    return [(link.get_attribute("href") or "").partition("?")[0] for link in links]


@pytest.mark.parametrize(
    "query", ["__syncthreads", "__syncthreads()", "syncthreads()", "block barrier", "sync threads"]
)
def test_search_finds_the_entry_before_the_lesson(open_page: Open, site: str, query: str) -> None:
    """Whatever readers type, the entry is the first that is found, and the lesson comes below."""
    found = results(open_page(site), query)
    assert found[0].startswith(f"{site}glossary/syncthreads/")
    assert any(address.startswith(f"{site}lesson/") for address in found)


@pytest.mark.parametrize("name", ["glossary/warp/", "terms/bank/", "404.html"])
def test_search_finds_the_entry_from_any_page(open_page: Open, site: str, name: str) -> None:
    """Other pages ask the same worker, that of a missing page too."""
    found = results(open_page(f"{site}{name}"), "syncthreads")
    assert found[0] == f"{site}glossary/syncthreads/"


def test_search_leads_to_a_heading_and_marks_it(open_page: Open, site: str) -> None:
    """A heading is found below its entry, and its page shows it with what was looked for."""
    page = open_page(site)
    address = f"{site}glossary/memory-bank/"
    assert results(page, "how wide") == [address, address]
    page.locator(".md-search-result__link", has_text="How wide is one?").click()
    page.wait_for_url(f"{address}?h=wide#how-wide-is-one")
    expect(page.locator("article h2:target")).to_be_in_viewport()
    expect(page.locator("article h2:target mark")).to_have_text("wide")


def test_search_is_used_with_the_keyboard(open_page: Open, site: str) -> None:
    """The end of a word is offered and taken with the right arrow; Enter opens the best page."""
    page = open_page(site)
    page.keyboard.press("/")
    page.keyboard.type("block bar")
    expect(page.locator(".md-search__suggest")).to_have_text("block barrier")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".md-search__input")).to_have_value("block barrier")
    # What was found for the half word may still be shown, and goes when the whole one is found.
    page.locator(".md-search-result__link[href*='h=block+barrier']").first.wait_for()
    page.keyboard.press("Enter")
    page.wait_for_url(f"{site}glossary/syncthreads/?h=block+barrier")


def test_search_says_that_it_found_nothing(open_page: Open, site: str) -> None:
    """A draft's word is not found in a published site."""
    page = open_page(site)
    page.locator(".md-search__input").click()
    page.keyboard.type(worlds.DRAFT["term"])
    expect(page.locator(".md-search-result__meta")).to_have_text("No matching documents")


# ── the theme's own controls ─────────────────────────────────────────────────────────────────


def test_code_can_be_copied(open_page: Open, site: str) -> None:
    """The button beside a block of code puts the code into the clipboard."""
    page = open_page(
        f"{site}glossary/syncthreads/", permissions=["clipboard-read", "clipboard-write"]
    )
    page.get_by_role("button", name="Copy to clipboard").first.click()
    expect(page.get_by_text("Copied to clipboard")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()").strip() == "__syncthreads();"


def test_the_theme_can_be_switched_and_stays(open_page: Open, site: str) -> None:
    """Light, dark and the system's theme follow each other, and the choice outlives the page."""
    page = open_page(site)
    body = page.locator("body")
    page.get_by_title("Switch to the light theme").click()
    expect(body).to_have_attribute("data-md-color-scheme", "default")
    page.get_by_title("Switch to the dark theme").click()
    expect(body).to_have_attribute("data-md-color-scheme", "slate")
    page.goto(f"{site}glossary/")
    expect(body).to_have_attribute("data-md-color-scheme", "slate")


# ── without a program, a server, a screen ────────────────────────────────────────────────────


def test_nothing_is_missing_without_javascript(open_page: Open, site: str) -> None:
    """Without JavaScript terms are links with titles, the index is whole, and no box is idle."""
    page = open_page(site, java_script_enabled=False)
    link = term(page, "warp").first
    expect(link).to_have_attribute("title", re.compile("^A warp is 32 threads"))
    page.goto(f"{site}glossary/")
    expect(page.get_by_role("searchbox", name="Filter the terms")).to_have_count(0)
    expect(page.locator("article > ul > li")).to_have_count(8)
    graph = page.get_by_role("group", name="How the terms hang together")
    expect(graph).to_be_visible()
    expect(graph.get_by_role("link", name="bank conflict")).to_be_visible()


def test_the_site_is_read_from_a_disk(open_page: Open, offline_tree: Path) -> None:
    """From a disk links, tooltips and search work, and nothing is asked of a host."""
    home = (offline_tree / "index.html").as_uri()
    page = open_page(home)
    found = results(page, "block barrier")
    assert found[0].startswith((offline_tree / "glossary/syncthreads/index.html").as_uri())
    page.goto(home)
    term(page, "warp").first.click()
    expect(page.locator("article h1")).to_contain_text("What is warp?")


@pytest.mark.parametrize("path", ["", "glossary/", "glossary/syncthreads/"])
def test_a_page_is_printed_whole(open_page: Open, site: str, path: str) -> None:
    """On paper there is the text, and no control that nobody can press."""
    page = open_page(f"{site}{path}")
    page.emulate_media(media="print")
    expect(page.locator("article h1")).to_be_visible()
    for control in (".mg-filter", ".md-search", ".md-header", ".md-tabs"):
        expect(page.locator(f"{control}:visible")).to_have_count(0)
    assert page.pdf()[:5] == b"%PDF-"
