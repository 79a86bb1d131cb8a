"""Why an assertion failed, in words: the assertion's text, and the values in it.

Comes in: an `AssertionError` and the text of the file it came from. Goes out: a line and a
sentence. Standard library only; must not know what an experiment is, nor execute anything itself.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from types import FrameType, TracebackType

from measured_glossary.lab.table import Row, short, shown

MAX_VALUES = 4

Evaluate = Callable[[ast.expr, FrameType], object]


def explain(
    error: AssertionError, file: str, text: str, default_line: int, evaluate: Evaluate
) -> tuple[int, str]:
    """Say in which line of `file` an assertion failed, and with which values.

    `evaluate` gives the value of a part of the assertion in the frame where it failed.
    """
    found = last_frame(error.__traceback__, file)
    if found is None:
        return default_line, said(error) or "an assertion failed"
    frame, line = found
    statement = _assertion_at(ast.parse(text), line)
    if statement is None:  # raised by what the line calls, not by an assert in it
        return line, said(error) or "an assertion failed"
    asserted = " ".join(ast.unparse(statement.test).split())
    values = "; ".join(dict.fromkeys(_values(statement.test, frame, evaluate)))
    parts = [f"`{asserted}`", f"where {values}" if values else "", said(error)]
    return line, ", ".join(part for part in parts if part)


def said(error: BaseException) -> str:
    """Give an exception's own words; what it was given, if Python cannot make words of it."""
    try:
        return str(error)
    except Exception:  # a number of thousands of digits
        return ", ".join(map(short, error.args))


def last_frame(traceback: TracebackType | None, file: str) -> tuple[FrameType, int] | None:
    """Find the innermost frame of `file`, and its line."""
    found = None
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == file:
            found = traceback.tb_frame, traceback.tb_lineno
        traceback = traceback.tb_next
    return found


def _assertion_at(tree: ast.Module, line: int) -> ast.Assert | None:
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert) and node.lineno <= line <= (node.end_lineno or 0):
            return node
    return None


def _values(test: ast.expr, frame: FrameType, evaluate: Evaluate) -> Iterator[str]:
    """Give `expression is value` for what is compared, and the rows that it is about."""
    operands = [
        operand
        for node in ast.walk(test)
        if isinstance(node, ast.Compare)
        for operand in (node.left, *node.comparators)
        if not isinstance(operand, ast.Constant)
    ]
    for operand in operands[:MAX_VALUES]:
        try:
            value = shown(evaluate(operand, frame))
        except Exception:  # noqa: S112 - a name of an inner scope: only a detail is lost
            continue
        yield f"{ast.unparse(operand)} is {value[:200]}"
    for name in sorted({node.id for node in ast.walk(test) if isinstance(node, ast.Name)}):
        if isinstance(frame.f_locals.get(name), Row):
            yield f"{name} is {frame.f_locals[name]!r}"
