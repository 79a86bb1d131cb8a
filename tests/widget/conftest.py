"""A page with the diagram in a real browser, opened from a file as a reader would."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, sync_playwright

from measured_glossary import diagram

BROWSER = os.environ.get("GLOSSARY_BROWSER") or shutil.which("chromium")
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
QUIET += ["--disable-component-update", "--disable-sync"]

# Material's own colours, as far as the diagram uses them, in both schemes.
THEMES = """
[data-md-color-scheme=default] {
  color-scheme: light;
  --md-default-fg-color: #000000de; --md-default-bg-color: #fff; --md-code-bg-color: #f5f5f5;
  --md-typeset-a-color: #4051b5;
}
[data-md-color-scheme=slate] {
  color-scheme: dark;
  --md-default-fg-color: hsla(225, 15%, 90%, 0.82); --md-default-bg-color: hsl(225, 15%, 14%);
  --md-code-bg-color: hsl(225, 15%, 18%); --md-typeset-a-color: #5488e8;
}
body { background: var(--md-default-bg-color); color: var(--md-default-fg-color); }
"""

Open = Callable[..., Page]


@pytest.fixture(scope="module")
def playwright() -> Iterator[Playwright]:
    """Playwright, and gone again: two of them cannot live at once."""
    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="module")
def browser(playwright: Playwright) -> Iterator[Browser]:
    """Chromium, or a skip where there is none."""
    if not BROWSER:
        pytest.skip("no Chromium: set GLOSSARY_BROWSER")
    with playwright.chromium.launch(executable_path=BROWSER, args=QUIET) as launched:
        yield launched


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the published script and a page that uses it, below some other content."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "tile-lifecycle.js").write_text(diagram.script(), encoding="utf-8")
    return folder


@pytest.fixture
def open_page(browser: Browser, site: Path) -> Iterator[Open]:
    """Open a page with the diagram; fails at the end if anything was logged or asked of a host."""
    contexts: list[BrowserContext] = []
    noise: list[str] = []
    asked: list[str] = []

    def open_it(
        address: str = "",
        *,
        tag: str = "",
        scheme: str = "default",
        width: int = 900,
        **options: Any,
    ) -> Page:
        html = (
            f"<!doctype html><html lang=en><meta charset=utf-8><title>Try</title>"
            f"<style>{THEMES}</style><body data-md-color-scheme={scheme}>"
            f"<h1>Try</h1><script src=tile-lifecycle.js></script>"
            f"{tag or f'<tile-lifecycle>{diagram.still()}</tile-lifecycle>'}<p>After it.</p>"
        )
        page_file = site / f"page-{len(contexts)}.html"
        page_file.write_text(html, encoding="utf-8")
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(5000)
        page.on("console", lambda message: noise.append(message.text))
        page.on("pageerror", lambda error: noise.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(page_file.as_uri() + address)
        return page

    yield open_it
    for context in contexts:
        context.close()
    assert noise == []
    assert [url for url in asked if not url.startswith("file:")] == []
