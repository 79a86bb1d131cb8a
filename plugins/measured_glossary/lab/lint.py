"""Claims that could hold by chance, found by reading them: nothing is executed.

Comes in: the text of `experiment.py`, its claims and its tables. Goes out: faults at their line.
Standard library only. What it cannot see (a value behind a variable) the values refuse themselves.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from measured_glossary.lab.table import SAMPLED, Table

# What sums up samples: one number that another run would not give again.
SUMMARIES = frozenset({"samples", "median", "q1", "q3", "min", "max", "rate_of_launches"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A comparison that the samples cannot answer."""

    line: int
    code: str
    message: str
    hint: str


def lint(
    text: str, claims: Mapping[str, Sequence[str]], tables: Sequence[Table]
) -> Iterator[Fault]:
    """Find such comparisons in the claims of a file; `claims` names the tables each one reads."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and node.name in claims:
            read = [table for table in tables if table.name in claims[node.name]]
            yield from _in_claim(node, read)


def _in_claim(claim: ast.FunctionDef, tables: Sequence[Table]) -> Iterator[Fault]:
    sampled = _columns(tables, SAMPLED)
    times = _columns(tables, ("time",))
    for node in ast.walk(claim):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            pairs = zip(sides, node.ops, sides[1:], strict=False)
            for left, operator, right in pairs:
                yield from _compared(node, left, operator, right, sampled, times)
        elif isinstance(node, ast.BinOp) and _divides(node, times):
            yield _ratio(node)


def _divides(node: ast.BinOp, times: Collection[str]) -> bool:
    is_ratio = isinstance(node.op, ast.Div)
    return is_ratio and _sums_up(node.left, times) and _sums_up(node.right, times)


def _columns(tables: Sequence[Table], kinds: Collection[str]) -> frozenset[str]:
    """Give the names that mean a column of these kinds in each table that has such a column."""
    columns = [column for table in tables for column in table.all_columns]
    other = {column.name for column in columns if column.kind not in kinds}
    return frozenset({column.name for column in columns} - other)


def _compared(
    node: ast.Compare,
    left: ast.expr,
    operator: ast.cmpop,
    right: ast.expr,
    sampled: Collection[str],
    times: Collection[str],
) -> Iterator[Fault]:
    if isinstance(operator, ast.Eq | ast.NotEq):
        for side, other in ((left, right), (right, left)):
            if _is_sampled(side, sampled) and not _is_bound(side, other):
                yield _equality(node, side)
                return
    elif _sums_up(left, times) and _sums_up(right, times):
        yield _order(node)


def _column(node: ast.expr) -> str:
    """Give the name of the column that an expression picks: `row.took`, `row["took"]`."""
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
        return str(node.slice.value)
    return ""


def _sums_up(node: ast.expr, columns: Collection[str]) -> bool:
    """Say whether an expression is `row.took.median`, or calculated from such."""
    if isinstance(node, ast.BinOp):
        return _sums_up(node.left, columns) or _sums_up(node.right, columns)
    if not isinstance(node, ast.Attribute):
        return False
    return node.attr in SUMMARIES and _column(node.value) in columns


def _is_sampled(node: ast.expr, columns: Collection[str]) -> bool:
    return _column(node) in columns or _sums_up(node, columns)


def _is_bound(side: ast.expr, other: ast.expr) -> bool:
    """Say whether samples are compared with zero, or a rate with all launches."""
    if not isinstance(other, ast.Constant) or isinstance(other.value, bool):
        return False
    is_rate = isinstance(side, ast.Attribute) and side.attr == "rate_of_launches"
    return other.value == 0 or (is_rate and other.value == 1)


def _equality(node: ast.Compare, side: ast.expr) -> Fault:
    message = f"`{ast.unparse(node)}` compares for equality what another run gives otherwise"
    hint = "write '== 0', '!= 0', '<', '>' or '.rate_of_launches': docs, How we measure"
    return Fault(line=side.lineno, code="equality-by-chance", message=message, hint=hint)


def _ratio(node: ast.BinOp) -> Fault:
    message = f"`{ast.unparse(node)}` divides medians, whether or not the times overlap"
    hint = "divide the times themselves, a.took / b.took: where they overlap that is ambiguous"
    return Fault(line=node.lineno, code="medians-compared", message=message, hint=hint)


def _order(node: ast.Compare) -> Fault:
    message = f"`{ast.unparse(node)}` compares medians, whether or not the times overlap"
    hint = "compare the times themselves, a.took < b.took: they differ where they do not overlap"
    return Fault(line=node.lineno, code="medians-compared", message=message, hint=hint)
