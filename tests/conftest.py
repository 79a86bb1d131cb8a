"""What every test may use: the switch that rewrites expectations, one compile cache a session."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# How long an example takes says more of the machine than of the code. Without GLOSSARY_FUZZ the
# examples are the same in every run: a change is judged by what it changed. With it they are new.
settings.register_profile("same", deadline=None, derandomize=True)
settings.register_profile(
    "new", deadline=None, max_examples=int(os.environ.get("GLOSSARY_FUZZ", 100))
)
settings.load_profile("new" if "GLOSSARY_FUZZ" in os.environ else "same")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--update-golden`, which writes what is there now into `tests/sites/*/expected/`."""
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="rewrite the expectations of tests/sites; read the diff as you would read code",
    )


@pytest.fixture(scope="session")
def lab_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the folder of compiled kernels that all tests of a session share."""
    return tmp_path_factory.mktemp("lab-cache")
