"""Pictures of the site for people to look at: wide and narrow, light and dark.

`python tests/browser/screenshots.py [FOLDER]` builds the project's own site and the one of test
entries, and writes a PNG for each page, width and theme into `build/screenshots/`.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / name) for name in ("tests", "tests/trust")]

from playwright.sync_api import Browser, Page, sync_playwright  # noqa: E402

from browser import worlds  # noqa: E402
from browser.conftest import BROWSER, QUIET, SUB_PATH, served  # noqa: E402

OWN = {
    "home": "",
    "index": "glossary/",
    "entry": "glossary/syncthreads/",
    "experiment": "experiments/day14-syncthreads/",
    "how-we-measure": "how-we-measure.html",
    "lesson": "lessons/31-synchronizing-threads/",
    "paths": "paths/",
}
WIDTHS = {"desktop": 1280, "phone": 390}


def _tooltip(page: Page) -> None:
    page.locator("article a[aria-describedby]").first.focus()


def _search(page: Page) -> None:
    if page.viewport_size and page.viewport_size["width"] < 960:
        page.locator(".md-header__button[for=__search]").click()
    page.locator(".md-search__input").fill("block barrier")
    page.locator(".md-search__input").press("End")
    page.locator(".md-search-result__link").first.wait_for()


def _citation(page: Page) -> None:
    page.locator(".mg-cite summary").click()
    page.locator(".mg-cite").scroll_into_view_if_needed()


PUBLISHED: dict[str, tuple[str, Callable[[Page], None]]] = {
    "published-tooltip": ("", _tooltip),
    "published-search": ("", _search),
    "published-index": ("glossary/", lambda page: None),
    "published-citation": ("glossary/syncthreads/", _citation),
}


def _whole(page: Page) -> None:
    """Make the window as high as the page: one that grows while it is shot fades its tabs."""
    width, height = page.evaluate("[innerWidth, document.documentElement.scrollHeight]")
    page.set_viewport_size({"width": width, "height": height})
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def shoot(browser: Browser, address: str, target: Path, act: Callable[[Page], None]) -> None:
    """Take a picture of a page in each width and theme, whole unless something was done on it."""
    for screen, width in WIDTHS.items():
        for scheme in ("light", "dark"):
            viewport = {"width": width, "height": 900}
            page = browser.new_page(viewport=viewport, color_scheme=scheme)  # type: ignore[arg-type]
            page.goto(address, wait_until="networkidle")
            act(page)
            if target.name in OWN:
                _whole(page)
            file = target.with_name(f"{target.name}-{screen}-{scheme}.png")
            page.screenshot(path=file)
            page.close()
            print(file)


def pages(work: Path) -> Iterator[tuple[Path, str, str, Callable[[Page], None]]]:
    """Build both sites; give what is served, the path in it, the picture's name, what to do."""
    own = worlds.build_preview(work / "own")
    for name, path in OWN.items():
        yield own, path, name, lambda page: None
    site = worlds.published(work / "published", work / "cache")
    worlds.build_published(site, work / "served" / SUB_PATH)
    for name, (path, act) in PUBLISHED.items():
        yield work / "served", f"{SUB_PATH}/{path}", name, act


def main(folder: Path) -> int:
    """Write every picture; 2 where there is no browser."""
    if not BROWSER:
        print("no Chromium: set GLOSSARY_BROWSER", file=sys.stderr)
        return 2
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as work, sync_playwright() as started:
        browser = started.chromium.launch(executable_path=BROWSER, args=QUIET)
        for tree, path, name, act in pages(Path(work)):
            with served(tree) as top:
                shoot(browser, f"{top}{path}", folder / name, act)
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(*sys.argv[1:2]) if sys.argv[1:] else ROOT / "build" / "screenshots"))
