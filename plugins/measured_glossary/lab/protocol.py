"""What the runner and the worker agree on: the numbers and names in their files and lines.

Comes in: nothing. Goes out: constants, and progress as lines on standard output. Standard library
only: the worker imports it, and the worker starts fast.
"""

from __future__ import annotations

import json
from typing import Any

SCHEMA = 1
REQUEST = "request.json"
RESULT = "result.json"
WARM = "--warm"  # in place of a request's file: the files are named on standard input, line by line
# The descriptor and the inode of a pipe that nobody writes to: it ends with the build.
LIFELINE = "GLOSSARY_LIFELINE"
MARK = "\x1e"  # ASCII's record separator: begins a line that is progress and not output


def event_line(**event: Any) -> str:
    """Give the line that tells of progress: `begin`, `end`, or `task`, `done` and `total`."""
    return f"{MARK}{json.dumps(event)}\n"


def read_event(line: bytes) -> tuple[bytes, dict[str, Any]]:
    """Split a line into what was printed and the progress behind it; either may be empty."""
    printed, separator, text = line.partition(MARK.encode())
    if not separator:
        return line, {}
    try:
        event = json.loads(text)
    except (ValueError, RecursionError):
        return line, {}
    return (printed, event) if isinstance(event, dict) else (line, {})
