"""The layers of docs/architecture.md, read from the source: who imports whom, and who must not."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "plugins" / "measured_glossary"

# From the ground up; a folder stands for all its modules. What shares a layer does not meet.
LAYERS: tuple[frozenset[str], ...] = (
    frozenset({"problem", "explain", "markup", "progress", "trace", "address", "card", "bundle"})
    | {"aside", "rarely"},
    frozenset({"automaton", "eager", "memo", "sieve", "stage"}),
    frozenset({"source", "attachment", "scan", "chart", "diagram", "scaffold", "graph", "tree"}),
    frozenset({"audit", "body", "expansion", "lean", "sentence", "project", "terms", "zensical"}),
    frozenset({"prose"}),
    frozenset({"wording"}),
    frozenset({"entry", "markdown"}),
    frozenset({"path", "excerpt", "document", "lab"}),
    frozenset({"trust", "asked", "cells", "compare", "expression", "readings"}),
    frozenset({"listing", "outcomes"}),
    frozenset({"gate", "leftover", "beside", "blocks", "backlinks", "proof", "published"}),
    frozenset({"cite", "metadata"}),
    frozenset({"page", "feeds"}),
    frozenset({"pipeline"}),
    frozenset({"expectation", "status", "catalogue"}),
    frozenset({"path_pages"}),
    frozenset({"website", "page_key"}),
    frozenset({"search", "press"}),
    frozenset({"theme"}),
    frozenset({"printing"}),
    frozenset({"building", "export", "cli_verify"}),
    frozenset({"plugin"}),
    frozenset({"preview", "cli_machines", "cli_new", "cli_trust"}),
    frozenset({"cli"}),
)

# Who may import what does not belong to the base, or would make the engine know its host.
ONLY_IN: dict[str, frozenset[str]] = {
    "mkdocs": frozenset({"building", "eager", "page_key", "plugin", "preview", "press"})
    | {"printing", "stage", "theme"},
    "cupy": frozenset({"lab.worker", "lab.gpu", "lab.machine"}),
    "pynvml": frozenset({"lab.machine"}),
}


@cache
def modules() -> list[str]:
    """Every module of the package, by its dotted name below it."""
    paths = (path.relative_to(PACKAGE).with_suffix("") for path in PACKAGE.rglob("*.py"))
    names = (".".join(path.parts) for path in paths if "scaffolds" not in path.parts)
    return sorted(name for name in names if not name.endswith("__init__"))


def text(module: str) -> str:
    """The source of a module."""
    return PACKAGE.joinpath(*module.split(".")).with_suffix(".py").read_text(encoding="utf-8")


@cache
def nodes(module: str) -> list[ast.AST]:
    """Everything in a module's syntax tree."""
    return list(ast.walk(ast.parse(text(module))))


def imports(module: str) -> Iterator[str]:
    """The absolute names a module imports, wherever in it the import stands."""
    for node in nodes(module):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{module}: imports are written out, without leading dots"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def inner_imports(module: str) -> set[str]:
    """The modules of the package that a module imports."""
    found = (re.match(r"measured_glossary\.(.+)", name) for name in imports(module))
    known = set(modules())
    names = {match[1] for match in found if match}
    return {name if name in known else name.rpartition(".")[0] for name in names} & known


def layer(module: str) -> int:
    """The number of a module's layer."""
    top = module.split(".", 1)[0]
    found = [number for number, names in enumerate(LAYERS) if top in names]
    assert found, f"{top} has no layer: give it one here and in docs/architecture.md"
    return found[0]


@pytest.mark.parametrize("module", modules())
def test_imports_go_one_way(module: str) -> None:
    """A module imports only from layers below its own, or from its own folder."""
    for imported in inner_imports(module):
        same_folder = "." in module and imported.split(".")[0] == module.split(".")[0]
        assert same_folder or layer(imported) < layer(module), f"{module} imports {imported}"


def test_folders_have_no_cycles() -> None:
    """Inside `lab` and `trust` imports have an order too: no module reaches itself."""
    below = {name: inner_imports(name) - {name} for name in modules()}
    while leaves := {name for name, needs in below.items() if not needs}:
        below = {name: needs - leaves for name, needs in below.items() if name not in leaves}
    assert not below, f"in a cycle: {sorted(below)}"


def test_the_page_tells_the_same_order() -> None:
    """The chain in docs/architecture.md agrees with the layers asserted here."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    chain = re.search(r"`(problem < [^`]+)`", page)
    assert chain, "docs/architecture.md has no line `problem < …`"
    shown = [{layer(name) for name in re.findall(r"\w+", part)} for part in chain[1].split("<")]
    assert all(max(low) < min(high) for low, high in pairwise(shown)), chain[1]


def test_nobody_imports_the_worker() -> None:
    """`lab/worker.py`, where author code runs, is started as a process and never imported."""
    importers = [name for name in modules() if "lab.worker" in inner_imports(name)]
    assert importers == []


@pytest.mark.parametrize("foreign", sorted(ONLY_IN))
def test_hosts_and_devices_stay_at_the_edge(foreign: str) -> None:
    """MkDocs is known to the adapter only, and a GPU's packages to the worker's side only."""
    importers = {
        name for name in modules() if any(found.split(".")[0] == foreign for found in imports(name))
    }
    assert importers <= ONLY_IN[foreign]


def test_author_code_is_executed_in_the_worker_only() -> None:
    """No other module loads or executes Python by path, by name or as text."""
    loading = {"exec", "eval", "__import__", "exec_module", "import_module", "run_path"}
    found = {name for name in modules() if loading & set(called(name))}
    assert found <= {"lab.worker"}


def called(module: str) -> Iterator[str]:
    """The last name of each function a module calls."""
    for node in nodes(module):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func).rpartition(".")[2]


def test_what_measures_is_loaded_where_there_is_something_to_measure() -> None:
    """A build has its values; worker, compiler and sanitizer come with the first experiment."""
    shown = "import sys, measured_glossary.building; print(*sys.modules, sep='\\n')"
    told = subprocess.run([sys.executable, "-c", shown], capture_output=True, text=True, check=True)
    loaded = {name for name in told.stdout.split() if name.startswith("measured_glossary.lab.")}
    found = {name.rpartition(".")[2] for name in loaded}
    assert found == {"record", "sass", "settings", "study", "table", "timing"}
