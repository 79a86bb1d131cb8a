"""axe finds nothing, at any severity, in both themes, on wide screens and at 320 pixels."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from browser.conftest import Open

AXE = os.environ.get("GLOSSARY_AXE", "")
PAGES = (
    "",
    "glossary/",
    "glossary/syncthreads/",
    "experiments/day14-syncthreads/",
    "lessons/31-synchronizing-threads/",
    "speed.html",
)

pytestmark = pytest.mark.skipif(
    not AXE, reason="axe-core is absent: ci/axe.sh fetches it with npm; set GLOSSARY_AXE to it"
)


# A theme's header fades from one title into another: half way, none has its contrast.
AT_ONCE = "*, ::before, ::after { transition: none !important; animation: none !important; }"


def faults(page: Page) -> list[str]:
    """Run axe on what a page comes to; give each fault with the element it is about."""
    page.add_style_tag(content=AT_ONCE)
    page.evaluate(Path(AXE).read_text(encoding="utf-8"))
    found: dict[str, Any] = page.evaluate("axe.run({ resultTypes: ['violations'] })")
    return [
        f"{fault['id']} ({fault['impact']}): {node['html'][:120]}"
        for fault in found["violations"]
        for node in fault["nodes"]
    ]


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("dark", 320)])
@pytest.mark.parametrize("path", PAGES)
def test_axe_finds_nothing(
    open_page: Open, own_site: str, path: str, scheme: str, width: int
) -> None:
    """A page of this site has no fault that axe knows, and is no wider than the screen."""
    page = open_page(f"{own_site}{path}", width=width, color_scheme=scheme)
    assert faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_an_open_tooltip_and_choice_have_no_fault(open_page: Open, site: str) -> None:
    """Nothing is wrong either while a tooltip is open, nor on a page that tells names apart."""
    page = open_page(site)
    page.locator("article a[aria-describedby]").first.focus()
    assert faults(page) == []
    page.goto(f"{site}terms/bank/")
    assert faults(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_a_search_found_has_no_fault(open_page: Open, own_site: str, scheme: str) -> None:
    """Nothing is wrong either while the search shows entries, lessons and listings."""
    page = open_page(own_site, color_scheme=scheme)
    page.keyboard.press("/")
    page.keyboard.type("block barrier")
    page.locator(".md-search-result__link:visible").nth(3).wait_for()
    assert faults(page) == []


def test_wide_code_is_reached_without_a_mouse(open_page: Open, own_site: str) -> None:
    """On a touch screen wide code takes the focus as well, for who has a keyboard there."""
    page = open_page(f"{own_site}glossary/syncthreads/", width=320, has_touch=True, is_mobile=True)
    assert not page.evaluate("matchMedia('(hover)').matches")
    wide = page.evaluate(
        "[...document.querySelectorAll('pre > code')]"
        ".filter((code) => code.scrollWidth > code.clientWidth).map((code) => code.tabIndex)"
    )
    assert wide
    assert set(wide) == {0}
