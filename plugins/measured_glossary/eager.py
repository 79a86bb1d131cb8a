"""An edited entry's page shown at once, before the build that follows has come to its end.

Comes in: MkDocs' server, the folder of the entries, and what makes one entry's page anew. Goes out:
the page in the browser. Must not know how a page is made. MkDocs sees the edit too, and builds all
that depends on it, a little later.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any

from mkdocs.livereload import LiveReloadServer
from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer

ENTRY_FILE = "entry.md"
SETTLE_S = 0.05  # editors write a file in several steps
IDLE_S = 2.0  # an edit that follows sooner is shown before everything is built
LOOK_EVERY_S = 0.05

Show = Callable[[str], None]


def attach(server: LiveReloadServer, entries: Path, show: Show) -> LiveReloadServer:
    """Let a server show an edited entry's page as soon as `show` has made it.

    Where the system does not tell of edits, they show after the build, as without this.
    """
    eager = _Eager(server, show)
    observer = Observer()
    observer.schedule(eager, str(entries), recursive=True)
    with suppress(OSError):  # no more watches are to be had
        observer.start()
        Thread(target=eager.run, daemon=True).start()
        server.builder = eager.build
    return server


class _Eager(FileSystemEventHandler):
    """Shows edits in a thread of its own, and puts builds off while they come."""

    def __init__(self, server: LiveReloadServer, show: Show) -> None:
        self.server, self.show, self.builder = server, show, server.builder
        self.building, self.edited = Lock(), SimpleQueue[str]()
        self.is_busy = False
        self.shown_at = 0.0

    def on_any_event(self, event: FileSystemEvent) -> None:
        """Note an entry whose text was written, in place or under another name first."""
        for name in (event.src_path, event.dest_path):
            path = Path(str(name))
            if path.name == ENTRY_FILE and event.event_type in _WRITTEN:
                self.edited.put(path.parent.name)

    def run(self) -> None:
        """Show what was edited, as long as the server runs."""
        while True:
            ids = {self.edited.get()}
            self.is_busy = True
            time.sleep(SETTLE_S)
            while not self.edited.empty():
                ids.add(self.edited.get())
            # What is wrong with an entry is said by the build that follows.
            with self.building, suppress(Exception):
                for entry_id in ids:
                    self.show(entry_id)
                self.shown_at = time.monotonic()
                self._reload()
            self.is_busy = False

    def build(self, *args: Any, **options: Any) -> None:
        """Build everything, once no edit is left to be shown and none came for a while."""
        follows = self._is_asked() or bool(self.shown_at)
        if follows:
            self._wait()
        with self.building:
            self.builder(*args, **options)
        if follows:
            self._reload()

    def _wait(self) -> None:
        server = self.server
        with server._epoch_cond:  # pages are served meanwhile: those edited are new already
            server._wanted_epoch = server._visible_epoch
            server._epoch_cond.notify_all()
        while self._is_asked() or time.monotonic() < self.shown_at + IDLE_S:
            time.sleep(LOOK_EVERY_S)
        self.shown_at = 0.0

    def _is_asked(self) -> bool:
        return self.is_busy or not self.edited.empty()

    def _reload(self) -> None:
        """Let browsers load their page anew, unless they wait for a build as it is."""
        server = self.server
        with server._epoch_cond:
            if server._visible_epoch == server._wanted_epoch:
                server._visible_epoch += 1
                server._wanted_epoch = server._visible_epoch
                server._epoch_cond.notify_all()


_WRITTEN = frozenset({"created", "modified", "moved"})
