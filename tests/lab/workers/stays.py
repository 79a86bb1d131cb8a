"""A stand-in for the worker that stays: `stays.py --warm` behaves as each request asks.

It uses the standard library only and writes the protocol out by hand, so that a change of the
protocol is noticed.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

END = '\x1e{"end": true}'
PROBLEM = {"file": "a.py", "line": 3, "column": 0, "code": "a-code", "message": "m", "hint": ""}


def behave(request: dict[str, str], folder: Path) -> None:
    """Do what one request asks."""
    behaviour = request["behaviour"]
    print('\x1e{"begin": true}', flush=True)
    print(os.getpid(), flush=True)
    if behaviour == "hangs":
        signal.pause()
    if behaviour == "segfaults":
        os.kill(os.getpid(), signal.SIGSEGV)
    if behaviour == "leaves":
        sys.exit(3)
    answer = {"schema": 1, "mode": "static", "value": {"tables": []}, "problems": []}
    if behaviour == "has problems":
        answer |= {"value": None, "problems": [PROBLEM]}
    if behaviour != "says it ended":
        (folder / "result.json").write_text(json.dumps(answer))
    if behaviour == "answers and leaves":
        sys.exit(0)
    print(END, flush=True)
    if behaviour == "dies afterwards":
        sys.exit(4)


def main() -> None:
    """Answer one request after another."""
    assert sys.argv[1:] == ["--warm"]
    for line in sys.stdin:
        file = Path(line.rstrip("\n"))
        behave(json.loads(file.read_text()), file.parent)


if __name__ == "__main__":
    main()
