"""Nothing moves while a page arrives, however slow the line and the machine are."""

from __future__ import annotations

import functools
import itertools
import threading
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from browser.conftest import SHIFTS, SUB_PATH, Quiet, served

# Where a page is cut: behind the opening tag of each; the next piece comes when this one is drawn.
PIECES = ("md-main", "md-content", "md-footer", "md-footer__link", "md-footer-meta", "md-copyright")
TWO_FRAMES = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
SLOW = 6  # times slower than this machine
PATIENCE_S = 30


class _InPieces(Quiet):
    """Serves a folder's pages in pieces and everything else whole."""

    def __init__(self, go_on: threading.Semaphore, *given: Any, **options: Any) -> None:
        self.go_on = go_on
        super().__init__(*given, **options)

    def do_GET(self) -> None:  # noqa: N802 - the name that the standard library calls
        """Send what is asked for."""
        if not self.path.endswith("/"):
            super().do_GET()
            return
        raw = (Path(self.translate_path(self.path)) / "index.html").read_bytes()
        starts = [raw.index(f'class="{name}'.encode()) for name in PIECES]
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
    go_on = threading.Semaphore(0)
    context = browser.new_context(viewport={"width": width, "height": 900})
    page = context.new_page()
    page.add_init_script(SHIFTS)
    context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOW})
    with served(published_tree, functools.partial(_InPieces, go_on)) as top:
        page.goto(f"{top}{SUB_PATH}/", wait_until="commit")
        for name in PIECES:
            page.wait_for_selector(f".{name}", state="attached")
            page.evaluate(TWO_FRAMES)
            go_on.release()
        page.wait_for_load_state("networkidle")
        assert page.evaluate("window.shifted") == []
    context.close()
