"""How long work is shown: one line that is redrawn in a terminal, plain lines in a log.

Comes in: what is done of how much. Goes out: text on a stream, or lines for a log. Must not know
what the work is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TextIO

_ANEW = "\r\x1b[K"  # the terminal's line, from its beginning


@dataclass(slots=True)
class Tenths:
    """Says, as one line, each tenth of a task that is reached."""

    say: Callable[[str], object]
    said: dict[str, int] = field(default_factory=dict)

    def __call__(self, task: str, done: int, total: int) -> None:
        """Say that `done` of `total` steps of `task` are through, if that is a tenth more."""
        tenth = 10 * done // max(total, 1)
        if self.said.get(task) != tenth:
            self.said[task] = tenth
            self.say(f"{task}: {done:,} of {total:,}")


@dataclass(slots=True)
class Progress:
    """Shows the work's state on `stream`: redrawn in a terminal, by `Tenths` elsewhere."""

    stream: TextIO
    tenths: Tenths = field(init=False)

    def __post_init__(self) -> None:
        self.tenths = Tenths(lambda line: print(line, file=self.stream, flush=True))

    def __call__(self, task: str, done: int, total: int) -> None:
        """Show that `done` of `total` steps of `task` are through."""
        if not self.stream.isatty():
            self.tenths(task, done, total)
            return
        end = "\n" if done >= total else ""
        self.stream.write(f"{_ANEW}{task}  {done:,} of {total:,}{end}")
        self.stream.flush()

    def say(self, line: str) -> None:
        """Show a line that stays, in the place of one that is redrawn."""
        anew = _ANEW if self.stream.isatty() else ""
        print(f"{anew}{line}", file=self.stream, flush=True)
