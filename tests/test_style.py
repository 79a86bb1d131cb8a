"""The measure of style: functions stay short, and nothing grows ten times larger than the rest."""

from __future__ import annotations

import ast
import statistics
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "plugins" / "measured_glossary"

Function = ast.FunctionDef | ast.AsyncFunctionDef


def python_files() -> list[Path]:
    """The package's modules; scaffolds are templates rather than Python."""
    return sorted(path for path in PACKAGE.rglob("*.py") if "scaffolds" not in path.parts)


def definitions(kind: type[ast.AST] | tuple[type[ast.AST], ...]) -> Iterator[tuple[str, int]]:
    """Name and number of lines, docstring included, of each definition of the package."""
    for path in python_files():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, kind):
                assert isinstance(node, Function | ast.ClassDef)
                assert node.end_lineno is not None
                name = f"{path.relative_to(ROOT).as_posix()}:{node.lineno} {node.name}"
                yield name, node.end_lineno - node.lineno + 1


def longest(found: list[tuple[str, int]], above: int) -> str:
    """The definitions above a number of lines, longest first, for a message."""
    over = sorted((lines, name) for name, lines in found if lines > above)
    return "\n".join(f"{lines:4} {name}" for lines, name in reversed(over))


def test_functions_are_short() -> None:
    """Half of all functions have at most 8 lines, nine of ten at most 25, none above 50."""
    found = list(definitions((ast.FunctionDef, ast.AsyncFunctionDef)))
    lines = [count for _, count in found]
    assert statistics.median(lines) <= 8
    assert statistics.quantiles(lines, n=10)[-1] <= 25, longest(found, 25)
    assert max(lines) <= 50, longest(found, 50)


def test_classes_are_small() -> None:
    """No class has more than 150 lines."""
    found = list(definitions(ast.ClassDef))
    assert max(count for _, count in found) <= 150, longest(found, 150)


def test_modules_say_what_comes_in_and_goes_out() -> None:
    """Every module begins by saying what it is; package markers may be empty."""
    for path in python_files():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if tree.body:
            assert ast.get_docstring(tree), path.relative_to(ROOT).as_posix()
