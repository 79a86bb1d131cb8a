"""How long work is shown: one line that is redrawn in a terminal, plain lines in a log.

Comes in: what is done of how much. Goes out: text on a stream. Must not know what the work is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TextIO


@dataclass(slots=True)
class Progress:
    """Shows the work's state on `stream`; in a log, each tenth of a task is one line."""

    stream: TextIO
    shown: dict[str, int] = field(default_factory=dict)

    def __call__(self, task: str, done: int, total: int) -> None:
        """Show that `done` of `total` steps of `task` are through."""
        tenth = 10 * done // max(total, 1)
        if self.stream.isatty():
            end = "\n" if done >= total else ""
            self.stream.write(f"\r\x1b[K{task}  {done:,} of {total:,}{end}")
        elif self.shown.get(task) != tenth:
            self.stream.write(f"{task}: {done:,} of {total:,}\n")
        self.shown[task] = tenth
        self.stream.flush()
