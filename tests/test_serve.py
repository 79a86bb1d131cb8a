"""`mkdocs serve`: an edited entry shows at once, and all that depends on it a little later."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mkdocs.commands.build import build
from mkdocs.config import load_config

from site_world import ENTRY, Site, new_site

OTHER = ENTRY.replace("term: warp", "term: lane").replace("What is a warp?", "What is a lane?")
LANE = OTHER.replace("byline:", "related: [warp]\nbyline:")
OLD = "A warp is 32 threads that the hardware schedules together."
NEW = "Thirty-two threads that go together make a warp."
LIMIT_S = 90.0


@pytest.fixture
def site(tmp_path: Path, lab_cache: Path) -> Site:
    """Give a glossary of two entries, one of them published; the other names it."""
    site = new_site(tmp_path / "project", lab_cache)
    site.write("docs/index.md", "# Home\n\nA warp.\n").write("glossary/warp/entry.md", ENTRY)
    site.write("glossary/lane/entry.md", LANE).publish("warp")
    plugins = "plugins: [measured-glossary: {measure: recorded}]\n"
    return site.write("mkdocs.yml", f"site_name: Test\ntheme: mkdocs\nstrict: false\n{plugins}")


@contextmanager
def serving(site: Site) -> Iterator[Callable[[str], str]]:
    """Run the server; give what fetches a page, without the number of the build in it."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    process = subprocess.Popen(
        (sys.executable, "-m", "mkdocs", "serve", "--dev-addr", f"127.0.0.1:{port}"),
        cwd=site.root,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, "SOURCE_DATE_EPOCH": "1764400000", "TMPDIR": str(site.root.parent)},
    )

    def fetch(uri: str) -> str:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/{uri}", timeout=LIMIT_S) as got:
                return re.sub(r"livereload\(\d+, \d+\)", "", got.read().decode())
        except OSError:
            return ""

    try:
        assert until(lambda: OLD in fetch("glossary/warp/"))
        yield fetch
    finally:
        process.terminate()  # a shell may have told its jobs to ignore an interrupt
        said = process.communicate(timeout=LIMIT_S)[0].decode()
    assert "Traceback" not in said, said


def until(holds: Callable[[], bool]) -> bool:
    """Wait for something to hold; say whether it came to."""
    end = time.monotonic() + LIMIT_S
    while not holds() and time.monotonic() < end:
        time.sleep(0.02)
    return holds()


def test_an_edit_shows_at_once_and_everywhere_later(site: Site) -> None:
    """The page of the edited entry comes first; the index and a draft's tooltip follow."""
    with serving(site) as fetch:
        site.replace("glossary/warp/entry.md", OLD, NEW)
        assert until(lambda: NEW in fetch("glossary/warp/"))
        early, index = fetch("glossary/warp/"), fetch("glossary/")
        assert (OLD in index, NEW in index) == (True, False)
        assert until(lambda: NEW in fetch("glossary/"))
        assert NEW in fetch("glossary/lane/")
        assert fetch("glossary/warp/") == early


def test_an_entry_that_cannot_be_read_stays_as_it_was(site: Site) -> None:
    """A page that was good is shown until the entry is mended, and then the mended one."""
    with serving(site) as fetch:
        site.replace("glossary/warp/entry.md", "term: warp", "term: [warp")
        time.sleep(4.0)  # the build that says so comes and goes
        site.replace("glossary/warp/entry.md", "term: [warp", "term: warp")
        site.replace("glossary/warp/entry.md", OLD, NEW)
        assert until(lambda: NEW in fetch("glossary/warp/"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(OLD, NEW, id="answer"),
        pytest.param("byline:", "related: [lane]\nbyline:", id="related"),
        pytest.param("", "\nA paragraph more, with a lane in it.\n", id="body"),
    ],
)
def test_what_shows_at_once_is_what_a_build_makes(
    site: Site, old: str, new: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page is, byte for byte, the one of the build that follows."""
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1764400000")
    plugin = built(site)
    page = site.root / "site/glossary/warp/index.html"
    before = page.read_bytes()
    text = site.path("glossary/warp/entry.md").read_text()
    site.write("glossary/warp/entry.md", text.replace(old, new, 1) if old else text + new)
    plugin.building.show_again("warp")
    early = page.read_bytes()
    assert built(site) is plugin
    assert early != before
    assert page.read_bytes() == early


def built(site: Site) -> Any:
    """Build as the server does, each time with the settings read anew; give the plugin."""
    config = load_config(str(site.root / "mkdocs.yml"))
    config.plugins.on_startup(command="serve", dirty=False)
    build(config)
    return config.plugins["measured-glossary"]
