"""The simulator's own tests, run by node; Python only starts them and reads the summary."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
NODE = shutil.which("node")


@pytest.mark.skipif(NODE is None, reason="node is not installed")
def test_the_simulator_says_what_the_table_expects() -> None:
    """Node's test runner passes over the simulator, and did run tests."""
    done = subprocess.run(
        [NODE or "node", "--test", "--test-reporter=tap", str(HERE / "simulator.test.mjs")],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6000:]
    passed = re.search(r"^# pass (\d+)$", done.stdout, re.MULTILINE)
    assert passed and int(passed[1]) > 60
