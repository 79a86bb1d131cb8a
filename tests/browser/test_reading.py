"""What a reader sees: edges that say there is more, controls beside the text and not on it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from browser.conftest import Open

# The covers move with what scrolls, the shadows below them do not: so they go away at the end.
SHADOWS = "(box) => getComputedStyle(box).backgroundAttachment"
COLOURS = """(all) => all.map((element) => {
  const { color, backgroundColor } = getComputedStyle(element);
  return [color, backgroundColor];
})"""
# The contrast of an element with the paper of its block of code.
RATIO = """(element) => {
  const channels = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const light = (colour) => {
    const [r, g, b] = channels(colour).map((c) => {
      const share = c / 255;
      return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const paper = getComputedStyle(element.closest("pre")).backgroundColor;
  const [low, high] = [light(getComputedStyle(element).color), light(paper)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}"""


def box(element: Locator) -> dict[str, float]:
    """Where an element stands."""
    found = element.bounding_box()
    assert found
    return {"left": found["x"], "right": found["x"] + found["width"]}


def wide_table(page: Page) -> Locator:
    return page.locator(".mg-scroll").filter(has=page.locator("table.mg-table")).first


def test_a_wide_table_says_that_it_scrolls(open_page: Open, own_site: str) -> None:
    """On a phone a cut table has a shadow at its edge, a name, and scrolls by key."""
    page = open_page(f"{own_site}glossary/syncthreads/", width=390)
    table = wide_table(page)
    assert table.evaluate("(box) => box.scrollWidth > box.clientWidth")
    assert table.evaluate(SHADOWS) == "local, local, scroll, scroll"
    expect(table).to_have_accessible_name(re.compile("^Recorded Wrong elements"))
    table.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("(box) => box.scrollLeft > 0", arg=table.element_handle())


def test_a_wide_table_of_a_page_says_that_it_scrolls(open_page: Open, own_site: str) -> None:
    """The shadows are behind such a table too, and nothing of the table hides them."""
    page = open_page(f"{own_site}blocks.html", width=390)
    wide = page.locator(".md-typeset__scrollwrap").first
    assert wide.evaluate("(box) => box.scrollWidth > box.clientWidth")
    assert wide.evaluate(SHADOWS) == "local, local, scroll, scroll"
    expect(wide.locator("table")).to_have_css("background-color", "rgba(0, 0, 0, 0)")


def test_a_table_breaks_no_word_of_code(open_page: Open, own_site: str) -> None:
    """However narrow the window is, a name in a table stands on one line."""
    page = open_page(f"{own_site}blocks.html", width=390)
    for name in ("FILE:SECTION", "architectures", "inconclusive"):
        for code in page.locator("td code").get_by_text(name, exact=True).all():
            assert code.evaluate("(code) => code.getClientRects().length") == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_copy_button_is_seen_and_covers_nothing(
    open_page: Open, own_site: str, scheme: str
) -> None:
    """It stands beside the code, in a contrast of at least three to one."""
    page = open_page(f"{own_site}glossary/syncthreads/", width=390, color_scheme=scheme)
    for block in page.locator(".highlight > pre").all():
        button = block.get_by_role("button", name="Copy to clipboard")
        assert box(block.locator("> code"))["right"] <= box(button)["left"]
        assert button.evaluate(RATIO) >= 3


def test_a_term_of_the_graph_shows_its_connections(open_page: Open, site: str) -> None:
    """With the focus a term shows its own arcs, and Enter leads to its page."""
    page = open_page(f"{site}glossary/")
    node = page.locator(".mg-node").filter(has_text=re.compile(r"^\s*warp\s*$"))
    arc = node.locator("> path").first
    expect(arc).to_have_css("visibility", "hidden")
    node.get_by_role("link", name="warp").focus()
    expect(arc).to_have_css("visibility", "visible")
    page.keyboard.press("Enter")
    expect(page.locator("article h1")).to_contain_text("What is warp?")


def test_an_entry_leads_to_the_next(open_page: Open, site: str) -> None:
    """At the end of a page stand the entries before and after it in the index."""
    page = open_page(f"{site}glossary/syncthreads/")
    nearby = page.get_by_role("navigation", name="Neighbouring entries")
    expect(nearby.get_by_role("link")).to_have_text(["memory bank", "warp"])
    nearby.get_by_role("link", name="warp").click()
    page.wait_for_url(re.compile("/glossary/warp/"))


def test_the_text_of_a_page_without_a_sidebar_uses_its_place(
    open_page: Open, own_site: str
) -> None:
    """An entry has no empty column beside it, and its lines stay short enough to read."""
    page = open_page(f"{own_site}glossary/syncthreads/")
    expect(page.locator(".md-sidebar--primary")).to_be_hidden()
    answer = box(page.locator(".mg-answer"))
    assert answer["left"] < 100
    assert answer["right"] - answer["left"] <= 760


def test_paper_shows_whole_tables_and_addresses(open_page: Open, own_site: str) -> None:
    """In print no table is cut, every tab stands open, and a source has its address."""
    page = open_page(f"{own_site}glossary/syncthreads/", width=640)
    page.emulate_media(media="print")
    expect(wide_table(page)).to_be_visible()
    for table in page.locator(".mg-scroll:visible").all():
        assert table.evaluate("(box) => box.scrollWidth <= box.clientWidth")
    for tab in page.locator(".mg-sass .tabbed-block").all():
        expect(tab).to_be_visible()
    source = page.locator("article ol a[href^=http]").first
    shown = source.evaluate("(link) => getComputedStyle(link, '::after').content")
    assert (source.get_attribute("href") or "-") in shown
    expect(page.locator(".mg-turn")).to_be_hidden()
    expect(page.locator("figure:has(> * .mg-chart)")).to_have_css("break-inside", "avoid")


def test_paper_is_light_whatever_the_screen_is(open_page: Open, own_site: str) -> None:
    """Who reads in the dark prints the same colours as anybody else."""
    seen = "h1, p, .mg-banner, .mg-origin, figcaption, td, .highlight *"
    light, dark = (
        open_page(f"{own_site}glossary/syncthreads/", color_scheme=scheme)
        for scheme in ("light", "dark")
    )
    for page in (light, dark):
        page.emulate_media(media="print")
    assert dark.locator("body").get_attribute("data-md-color-scheme") == "slate"
    colours = [page.locator(f"article :is({seen})").evaluate_all(COLOURS) for page in (light, dark)]
    assert colours[0] == colours[1]
