"""Tests on a device: skipped and counted where there is none.

`GLOSSARY_REQUIRE_GPU=1` turns the skips into failures, for the machine that must have one.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any, NoReturn

import pytest

import measured_glossary

HERE = Path(__file__).parent
ASK = """
import json
from measured_glossary.lab.machine import fingerprint
print(json.dumps(fingerprint()))
"""


@cache
def fingerprint() -> dict[str, Any] | None:
    """The GPU of this machine, asked in another process: this one stays without a context."""
    package = str(Path(measured_glossary.__file__).parents[1])
    command = [sys.executable, "-c", ASK]
    environment = {**os.environ, "PYTHONPATH": package}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] | None = json.loads(done.stdout.splitlines()[-1])
    return found


def absent(what: str) -> NoReturn:
    """Skip this test for want of something, or fail it where a GPU is required."""
    if os.environ.get("GLOSSARY_REQUIRE_GPU") == "1":
        pytest.fail(f"{what}, and GLOSSARY_REQUIRE_GPU is set", pytrace=False)
    pytest.skip(what)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Let no test of this folder begin without a GPU."""
    if fingerprint() is None:
        absent("no GPU here")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print how many tests were not run for want of a GPU."""
    skipped = [
        report
        for report in terminalreporter.stats.get("skipped", [])
        if HERE.name in Path(report.nodeid.partition("::")[0]).parts
    ]
    if skipped:
        hint = "GLOSSARY_REQUIRE_GPU=1 makes them failures"
        terminalreporter.write_line(f"{len(skipped)} GPU tests skipped: {hint}")


@pytest.fixture(scope="session")
def architecture() -> str:
    """The architecture that this machine's kernels are compiled for."""
    found = fingerprint()
    assert found is not None
    return "sm_" + str(found["compute_capability"]).replace(".", "")


@pytest.fixture(scope="session")
def nvcc() -> str:
    """CUDA's compiler."""
    return shutil.which("nvcc") or absent("no nvcc on PATH")
