"""Nothing moves while a page arrives, however slow the line and the machine are."""

from __future__ import annotations

import functools
import itertools
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from browser.conftest import SHIFTS, SUB_PATH, Quiet, served

# Where a page is cut: behind the opening tag of each; the next piece comes when this one is drawn.
# By what its tag says: a selector that finds it.
PIECES = {
    f'class="{name}': f".{name}"
    for name in ("md-main", "md-content", "md-footer", "md-footer__link", "md-footer-meta")
} | {'class="md-copyright': ".md-copyright"}
# As a list within the table of contents begins, and with all its lines.
NESTED = {'aria-label="Measured"': 'nav[aria-label="Measured"]', 'class="md-content': ".md-content"}
TWO_FRAMES = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
SLOW = 6  # times slower than this machine
PATIENCE_S = 30


class _InPieces(Quiet):
    """Serves a folder's pages in pieces and everything else whole."""

    def __init__(
        self, go_on: threading.Semaphore, pieces: Mapping[str, str], *given: Any, **options: Any
    ) -> None:
        self.go_on, self.pieces = go_on, pieces
        super().__init__(*given, **options)

    def do_GET(self) -> None:  # noqa: N802 - the name that the standard library calls
        """Send what is asked for."""
        if not self.path.endswith("/"):
            super().do_GET()
            return
        raw = (Path(self.translate_path(self.path)) / "index.html").read_bytes()
        starts = [raw.index(mark.encode()) for mark in self.pieces]
        cuts = [0, *(raw.index(b">", start) + 1 for start in starts), len(raw)]
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        for start, end in itertools.pairwise(cuts):
            self.wfile.write(raw[start:end])
            if end < len(raw):
                self.go_on.acquire(timeout=PATIENCE_S)


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_moves_while_a_page_arrives(
    browser: Browser, published_tree: Path, width: int
) -> None:
    """A page drawn piece by piece on a slow machine has no layout shift, its footer included."""
    assert shifts(browser, published_tree, f"{SUB_PATH}/", PIECES, width) == []


def test_no_line_of_the_contents_pushes_others_down(browser: Browser, preview_tree: Path) -> None:
    """A list within the table of contents stands where it begins, before it has a line."""
    assert shifts(browser, preview_tree, "glossary/syncthreads/", NESTED, 1280) == []


def shifts(browser: Browser, tree: Path, place: str, pieces: Mapping[str, str], width: int) -> Any:
    """Open a page that comes in pieces; give what moved."""
    go_on = threading.Semaphore(0)
    context = browser.new_context(viewport={"width": width, "height": 900})
    page = context.new_page()
    page.add_init_script(SHIFTS)
    context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOW})
    with served(tree, functools.partial(_InPieces, go_on, pieces)) as top:
        page.goto(f"{top}{place}", wait_until="commit")
        for selector in pieces.values():
            page.wait_for_selector(selector, state="attached")
            page.evaluate(TWO_FRAMES)
            go_on.release()
        page.wait_for_load_state("networkidle")
        moved = page.evaluate("window.shifted")
    context.close()
    return moved
