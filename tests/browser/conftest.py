"""A browser, and the sites it looks at; each is built once a session."""

from __future__ import annotations

import functools
import http.server
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from browser import worlds
from site_world import Site

BROWSER = os.environ.get("GLOSSARY_BROWSER") or shutil.which("chromium")
QUIET = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
QUIET += ["--disable-component-update", "--disable-sync"]
SUB_PATH = "sub/path"

Open = Callable[..., Page]

# Notes what moved after it was drawn, as browsers measure it, and by how much. A table drawn while
# its later rows are still being read finds the width of its columns anew: that is HTML's own doing,
# told by what moved (cells alone) and when (before the page was read to its end).
SHIFTS = """
window.shifted = [];
const read = () => performance.getEntriesByType("navigation")[0].domInteractive || Infinity;
const isCell = (source) => source.node?.parentElement?.closest("table") != null;
new PerformanceObserver((list) => {
  for (const entry of list.getEntries()) {
    if (entry.hadRecentInput) continue;
    if (entry.startTime <= read() && entry.sources.every(isCell)) continue;
    const moved = entry.sources.map((source) => source.node?.outerHTML?.slice(0, 100) ?? "text");
    window.shifted.push(`${entry.value}: ${moved.join("; ")}`);
  }
}).observe({ type: "layout-shift", buffered: true });
"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves a folder and prints nothing."""

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def served(
    folder: Path, handler: Callable[..., http.server.SimpleHTTPRequestHandler] = Quiet
) -> Iterator[str]:
    """Serve a folder on this machine; give its address."""
    serving = functools.partial(handler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), serving) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


@pytest.fixture(scope="session")
def published_site(tmp_path_factory: pytest.TempPathFactory, lab_cache: Path) -> Site:
    """Give the glossary of test entries."""
    return worlds.published(tmp_path_factory.mktemp("published") / "project", lab_cache)


@pytest.fixture(scope="session")
def published_tree(published_site: Site, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the folder that serves the published site below a sub-path."""
    top = tmp_path_factory.mktemp("served")
    worlds.build_published(published_site, top / SUB_PATH)
    return top


@pytest.fixture(scope="session")
def offline_tree(published_site: Site, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the published site as it is read from a disk."""
    folder = tmp_path_factory.mktemp("offline") / "site"
    return worlds.build_published(published_site, folder, offline=True)


@pytest.fixture(scope="session")
def preview_tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the folder that serves the project's own site, with its drafts."""
    return worlds.build_preview(tmp_path_factory.mktemp("preview"))


@pytest.fixture(scope="module")
def site(published_tree: Path) -> Iterator[str]:
    """Serve the published site; give the address of its home page."""
    with served(published_tree) as top:
        yield f"{top}{SUB_PATH}/"


@pytest.fixture(scope="module")
def own_site(preview_tree: Path) -> Iterator[str]:
    """Serve the project's own site; give the address of its home page."""
    with served(preview_tree) as top:
        yield top


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, or a skip where there is none."""
    if not BROWSER:
        pytest.skip("no Chromium: set GLOSSARY_BROWSER")
    with sync_playwright() as started, started.chromium.launch(
        executable_path=BROWSER, args=QUIET
    ) as launched:  # fmt: skip
        yield launched


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Open]:
    """Open a page; fails at the end if one logged anything, asked another host, or moved."""
    contexts: list[BrowserContext] = []
    shifted: list[str] = []
    noise: list[str] = []
    asked: list[str] = []

    def open_it(address: str, *, width: int = 1280, **options: Any) -> Page:
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("console", lambda message: noise.append(message.text))
        page.on("pageerror", lambda error: noise.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        if options.get("java_script_enabled", True):
            page.add_init_script(SHIFTS)
        page.goto(address, wait_until="networkidle")
        if options.get("java_script_enabled", True):
            shifted.extend(page.evaluate("window.shifted"))
        return page

    yield open_it
    for context in contexts:
        context.close()
    assert noise == []
    local = ("file:", "http://127.0.0.1:", "about:", "data:", "blob:")
    assert [url for url in asked if not url.startswith(local)] == []
    assert shifted == []
