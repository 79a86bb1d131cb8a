"""The search's index beside the theme's own: how large each is, and how soon a browser can use it.

Comes in: numbers of made-up entries. Goes out: a table with both indexes' bytes, plain and packed,
and, where there is a Chromium, the time from the page's request for the index to "ready" and from
a question to its answer. Must not build the entries' pages: only the index of the theme needs them.

    python benchmarks/search.py --entries 1000 5000
"""

from __future__ import annotations

import argparse
import datetime
import functools
import gzip
import http.server
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import generate
import markdown
from material.plugins.search.plugin import SearchIndex  # type: ignore[import-untyped] # has none
from playwright.sync_api import Browser, sync_playwright

from measured_glossary import pipeline, search

BROWSER = os.environ.get("GLOSSARY_BROWSER") or shutil.which("chromium")
QUIET = ("--no-sandbox", "--disable-gpu", "--disable-background-networking")
TIMES = 3
LIMIT_MS = 300_000
FIELDS = {"title": {"boost": 1e3}, "text": {"boost": 1.0}, "tags": {"boost": 1e6}}
SEPARATOR = r"[\s\-_(),:!=\[\]\"/]+"  # of the project's own site
CONFIG = {
    "lang": ["en"],
    "separator": SEPARATOR,
    "pipeline": ["stopWordFilter"],
    "fields": FIELDS,
}
MKDOCS = """\
site_name: Made-up glossary
theme: {name: material, font: false, features: [search.highlight, search.suggest]}
plugins: [search]
"""
# What a page is asked: the words of a term, and the beginning of another one's.
QUESTION = "aligned barr"

# Notes when the page's worker says that it is ready, and how long it takes to answer.
WATCH = """
window.Worker = class extends Worker {
  constructor(url) {
    super(url);
    this.addEventListener("message", ({ data }) => {
      if (data.type === 1) window.readyAt = performance.now();
      if (data.type === 3) window.answeredAt = performance.now();
    });
    window.searching = this;
  }
};
"""
READY_MS = """() => readyAt - performance.getEntriesByType("resource")
  .find((entry) => entry.name.endsWith("search_index.json")).startTime"""
ASK = """(data) => {
  window.answeredAt = 0;
  window.askedAt = performance.now();
  searching.postMessage({ type: 2, data });
}"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A site of one page with an index: whose it is, of how many entries, and where it stands."""

    whose: str
    entries: int
    folder: Path

    @property
    def index(self) -> bytes:
        """Give the index."""
        return (self.folder / search.FILE).read_bytes()


def main() -> int:
    """Print a table of both indexes for each number of entries."""
    parser = argparse.ArgumentParser(description="Compare the search's index with the theme's.")
    parser.add_argument("--entries", type=int, nargs="+", default=[1000], help="how many each time")
    asked = parser.parse_args()
    print(f"{'entries':>7} {'index':<6} {'bytes':>11} {'packed':>10} {'share':>6}", end="")
    print(f" {'ready, ms':>16} {'answer, ms':>16}")
    for entries in asked.entries:
        with tempfile.TemporaryDirectory() as folder:
            _compare(_sites(entries, Path(folder)))
    return 0 if BROWSER else _said("there is no Chromium here to measure times in")


def _said(text: str) -> int:
    print(text, file=sys.stderr)
    return 2


def _compare(sites: Sequence[Site]) -> None:
    """Print a line for each site; times of all are taken in turns, so that a noise hits both."""
    times: list[list[tuple[float, float]]] = [[] for _ in sites]
    for _ in range(TIMES if BROWSER else 0):
        for site, taken in zip(sites, times, strict=True):
            taken.append(_times(site))
    theirs = len(gzip.compress(sites[0].index, mtime=0))
    for site, taken in zip(sites, times, strict=True):
        packed = len(gzip.compress(site.index, mtime=0))
        line = f"{site.entries:>7} {site.whose:<6} {len(site.index):>11,} {packed:>10,}"
        print(f"{line} {packed / theirs:>6.1%} {_spread(taken, 0):>16} {_spread(taken, 1):>16}")


def _spread(taken: Sequence[tuple[float, float]], which: int) -> str:
    """Give the median of what was taken, and the least and the most."""
    values = [each[which] for each in taken]
    if not values:
        return "not measured"
    return f"{statistics.median(values):,.0f} ({min(values):,.0f}–{max(values):,.0f})"


# ── sites ────────────────────────────────────────────────────────────────────────────────────


def _sites(entries: int, folder: Path) -> tuple[Site, Site]:
    """Give a site of one page with the theme's index, and one with ours and our worker."""
    plain = _plain(folder)
    glossary = _glossary(entries, folder / "project")
    theirs = Site(whose="theme", entries=entries, folder=folder / "theirs")
    ours = Site(whose="ours", entries=entries, folder=folder / "ours")
    for site in (theirs, ours):
        shutil.copytree(plain, site.folder)
    empty = json.dumps({"config": CONFIG, "docs": []})
    documents = search.documents(glossary, drafts=True, has_folders=True)
    _write(theirs.folder / search.FILE, _of_the_theme(glossary))
    _write(ours.folder / search.FILE, search.merged(empty, documents))
    page = ours.folder / "index.html"
    _write(page, search.with_worker(page.read_text("utf-8")))
    worker = resources.files("measured_glossary") / "assets" / "search.js"
    _write(ours.folder / search.WORKER, worker.read_text("utf-8"))
    return theirs, ours


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _plain(folder: Path) -> Path:
    """Build a site of one page in the theme."""
    _write(folder / "plain" / "docs" / "index.md", "# Home\n")
    _write(folder / "plain" / "mkdocs.yml", MKDOCS)
    command = [sys.executable, "-m", "mkdocs", "build", "-q", "-f"]
    subprocess.run(
        [*command, str(folder / "plain" / "mkdocs.yml")], check=True, capture_output=True
    )
    return folder / "plain" / "site"


def _glossary(entries: int, folder: Path) -> pipeline.Glossary:
    """Give a glossary of made-up drafts: who signed does not change what is found."""
    generate.write(folder, generate.project(generate.Plan(entries=entries, is_signed=False)))
    settings = pipeline.settings_for(folder, "recorded", {})
    return pipeline.build(folder, settings, datetime.date(2026, 1, 15))


def _of_the_theme(glossary: pipeline.Glossary) -> str:
    """Give the theme's index of the entries' questions, answers and bodies."""
    texts = [
        (judged.id, f"# {front.question}\n\n{front.answer}\n\n{judged.body}")
        for judged in glossary.entries
        if judged.entry and (front := judged.entry.front)
    ]
    with ProcessPoolExecutor() as pool:
        docs = [doc for each in pool.map(_read, texts, chunksize=50) for doc in each]
    return json.dumps({"config": CONFIG, "docs": docs}, separators=(",", ":"))


def _read(text: tuple[str, str]) -> list[dict[str, Any]]:
    """Read a page as the theme's search plugin does; colours of code leave no trace in it."""
    name, written = text
    html = markdown.markdown(written, extensions=["tables", "fenced_code", "toc"])
    page = SimpleNamespace(content=html, meta={}, toc=(), url=f"glossary/{name}/", title=name)
    index = SearchIndex(**CONFIG)
    index.add_entry_from_context(page)
    found: list[dict[str, Any]] = index.entries
    return found


# ── times ────────────────────────────────────────────────────────────────────────────────────


def _times(site: Site) -> tuple[float, float]:
    """Give how long a fresh browser takes, in ms: until the search is ready, and for an answer."""
    with _served(site.folder) as address, sync_playwright() as started:
        browser = started.chromium.launch(executable_path=BROWSER, args=list(QUIET))
        try:
            return _in_browser(browser, address)
        finally:
            browser.close()


def _in_browser(browser: Browser, address: str) -> tuple[float, float]:
    page = browser.new_page()
    page.set_default_timeout(LIMIT_MS)
    page.add_init_script(WATCH)
    page.goto(address)
    page.wait_for_function("window.readyAt")
    ready_ms = page.evaluate(READY_MS)
    page.evaluate(ASK, QUESTION)
    page.wait_for_function("window.answeredAt")
    return float(ready_ms), float(page.evaluate("answeredAt - askedAt"))


class _Silent(http.server.SimpleHTTPRequestHandler):
    """Serves a folder and prints nothing."""

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def _served(folder: Path) -> Iterator[str]:
    """Serve a folder on this machine; give its address."""
    handler = functools.partial(_Silent, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


if __name__ == "__main__":
    raise SystemExit(main())
