"""A stand-in for the worker: `stand_in.py BEHAVIOUR REQUEST.json` behaves as asked.

It uses the standard library only and writes the protocol out by hand, so that a change of the
protocol is noticed.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

BEGIN = '\x1e{"begin": true}'
STUBBORN = """
import signal, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
open(sys.argv[1], "w").write("x")
kept = open(sys.argv[1], "w")
print("the child is there", flush=True)
signal.pause()
"""


def result(folder: Path, **changed: object) -> None:
    """Write a whole answer, changed as asked."""
    answer = {"schema": 1, "mode": "static", "value": {"tables": []}, "problems": [], **changed}
    (folder / "result.json").write_text(json.dumps(answer))


def stubborn_child(folder: Path) -> None:
    """Start a child that ignores SIGTERM and holds a pipe open as long as it lives."""
    child = [sys.executable, "-c", STUBBORN, str(folder / "alive")]
    process = subprocess.Popen(child, stdout=subprocess.PIPE)
    assert process.stdout is not None
    sys.stdout.write(process.stdout.readline().decode())
    sys.stdout.flush()


def main(behaviour: str, folder: Path) -> None:
    """Behave."""
    if behaviour.endswith("a child"):
        stubborn_child(folder)
    print(BEGIN if behaviour != "never begins" else "waiting", flush=True)
    if behaviour == "answers":
        print("\x1e" + json.dumps({"task": "rows", "done": 1, "total": 2}), flush=True)
        print("half a line, then progress", end="")
        print("\x1e" + json.dumps({"task": "rows", "done": 2, "total": 2}), flush=True)
        problem = {"file": "a.py", "line": 3, "column": 0, "code": "a-code", "message": "m"}
        result(folder, problems=[{**problem, "hint": ""}])
    elif behaviour in ("hangs", "hangs with a child", "never begins"):
        signal.pause()
    elif behaviour == "leaves a child":
        result(folder)
    elif behaviour == "begins again and again":
        while True:
            print(BEGIN, flush=True)
    elif behaviour == "segfaults":
        print("about to fail", flush=True)
        os.kill(os.getpid(), signal.SIGSEGV)
    elif behaviour == "exits early":
        sys.exit(3)
    elif behaviour == "floods":
        print("the first line")
        for _ in range(64):
            sys.stdout.write("x" * (1 << 16))
        print("\nthe last line")
        result(folder)
    elif behaviour == "half a file":
        (folder / "result.json").write_text('{"schema": 1, "mode": "stat')
    elif behaviour == "links its file":
        (folder / "result.json").symlink_to("/etc/hostname")
    elif behaviour == "lies about its schema":
        result(folder, schema=7)
    elif behaviour == "lies about its mode":
        result(folder, mode="run")
    elif behaviour == "adds a key":
        result(folder, value={"tables": [], "verdict": "published"})
    elif behaviour == "writes NaN":
        result(folder, value={"tables": float("nan")})
    elif behaviour == "prints its environment":
        print(json.dumps({**os.environ, "stdin": sys.stdin.read()}))
        result(folder)
    elif behaviour != "never writes":
        raise SystemExit(f"unknown behaviour {behaviour!r}")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]).parent)
