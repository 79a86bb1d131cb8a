"""A stand-in for compute-sanitizer: writes the report that a test wants, around the real worker.

Beside this file's copy lie `report.log` and `report.xml`, and `behaviour`: `watches` and `old` run
the command with a library in it, as the tool does, `old` without knowing how to list launches;
`absent` runs it without; `skips` does not run it; `hangs` never comes back from it.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
HELP = "Usage: compute-sanitizer [options]\n  --dump-kernel-launches\n"
VERSION = "NVIDIA (R) Compute Sanitizer\nVersion 2025.3.1.0 (build 1) (public-release)\n"
VALUES = {
    *("--tool", "--target-processes", "--launch-timeout", "--port", "--max-connections"),
    *("--print-limit", "--show-backtrace", "--strip-paths", "--demangle", "--log-file", "--save"),
    *("--print-level", "--racecheck-report"),
}
SWITCHES = {"--xml", "--dump-kernel-launches"}


def main(arguments: list[str]) -> int:
    """Behave."""
    behaviour = (HERE / "behaviour").read_text(encoding="utf-8")
    if arguments == ["--version"]:
        print(VERSION)
        return 0
    if arguments == ["--help"]:
        print(HELP if behaviour != "old" else "Usage")
        return 0
    options, command = parsed(arguments)
    (HERE / f"options.{options['--tool']}").write_text("\n".join(arguments), encoding="utf-8")
    if behaviour == "hangs":
        print("\x1e" + '{"begin": true}', flush=True)  # as the worker says when its work begins
        signal.pause()
    library = HERE / "libsanitizer-collection.so"
    library.write_bytes(b"a page in the process that is watched")
    watched = {} if behaviour == "absent" else {"PRETENDED_LIBRARY": str(library)}
    environment = {**os.environ, **watched}
    run = behaviour != "skips"
    status = subprocess.run(command, check=False, env=environment).returncode if run else 0
    shutil.copy(HERE / "report.log", options["--log-file"])
    shutil.copy(HERE / "report.xml", options["--save"])
    return status


def parsed(arguments: list[str]) -> tuple[dict[str, str], list[str]]:
    """Part the tool's options from the command; an option that it does not know is an error."""
    options: dict[str, str] = {}
    rest = list(arguments)
    while rest and rest[0].startswith("-"):
        name = rest.pop(0)
        if name not in VALUES | SWITCHES:
            raise SystemExit(f"unrecognised option {name!r}")
        options[name] = rest.pop(0) if name in VALUES else ""
    return options, rest


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
