"""`{{ expressions }}` of a body, evaluated over what was measured.

Comes in: a `Value` of the body, and the studies whose tables it may name. Goes out: the text to
print, or a `Problem` with the value's place. Must not know what an entry is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from jinja2 import StrictUndefined, TemplateError, UndefinedError, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

from measured_glossary.body import Value
from measured_glossary.lab.study import Study
from measured_glossary.lab.table import Racy, Rows, Times, shown
from measured_glossary.problem import Checked, Problem

MAX_LENGTH = 200

# `rows[threads=32]` is what authors write; `rows(threads=32)` is what Jinja2 can parse.
_SELECTOR = re.compile(r"\[(\s*[A-Za-z_]\w*\s*=(?!=)[^\[\]]*)\]")

_ALLOWED = (
    nodes.Template, nodes.Output, nodes.Name, nodes.Getattr, nodes.Getitem, nodes.Call,
    nodes.Keyword, nodes.Const, nodes.Filter, nodes.Add, nodes.Sub, nodes.Mul, nodes.Div,
    nodes.Neg,
)  # fmt: skip


class ExpressionError(Exception):
    """An expression cannot be evaluated; the message says why."""


class _Environment(ImmutableSandboxedEnvironment):
    """The sandbox, with arithmetic on numbers only: `'x' * 10**9` must not fill the memory."""

    intercepted_binops = frozenset(["+", "-", "*", "/"])

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        if not all(isinstance(side, int | float) for side in (left, right)):
            raise ExpressionError(f"{operator!r} works on plain numbers only")
        return super().call_binop(context, operator, left, right)


def _environment() -> _Environment:
    made = _Environment(undefined=StrictUndefined, autoescape=False)
    made.filters.clear()
    made.tests.clear()
    made.globals.clear()
    made.filters.update(percent=percent, digits=digits)
    return made


def percent(share: float, decimals: int = 1) -> str:
    """Print a share of one as a percentage: `0.034` → `3.4 %`."""
    return f"{100 * share:,.{int(decimals)}f} %"


def digits(number: float, significant: int = 3) -> str:
    """Print a number with so many significant digits and thousands separators."""
    return f"{float(f'{number:.{int(significant)}g}'):,g}"


def evaluate(value: Value, names: Mapping[str, object]) -> Checked[str]:
    """Evaluate one `{{ … }}` of a body over `names`.

    Without a value and without a problem where the table was not measured: that is said once, of
    the experiment.
    """
    try:
        return Checked(value=_printed(_result(value.expression, names)))
    except NotMeasured:
        return Checked(value=None)
    except ExpressionError as error:
        message, hint = str(error), "see 'Expressions in the body' of the architecture page"
    except UndefinedError as error:
        message = str(error.message)
        hint = f"the names here are: {', '.join(sorted(names)) or 'none'}"
    except TemplateError as error:
        message, hint = f"not an expression: {error.message}", "write {{ table[key=value].column }}"
    except (LookupError, ValueError, TypeError, ArithmeticError) as error:
        # What the tables' own cells raise: a row that does not exist, a racy comparison.
        message, hint = str(error.args[0] if error.args else error), ""
    problem = Problem(
        place=value.place,
        code="bad-expression",
        message=f"{{{{ {value.expression} }}}}: {message}",
        hint=hint,
    )
    return Checked(value=None, problems=(problem,))


def _result(expression: str, names: Mapping[str, object]) -> object:
    if len(expression) > MAX_LENGTH:
        raise ExpressionError(f"longer than {MAX_LENGTH} characters")
    source = _SELECTOR.sub(r"(\1)", expression)
    environment = _environment()
    for node in _walk(environment.parse("{{ " + source + " }}")):
        if not isinstance(node, _ALLOWED):
            raise ExpressionError(f"{type(node).__name__.lower()} is not used in expressions")
    return environment.compile_expression(source, undefined_to_none=False)(**names)


def _walk(node: nodes.Node) -> list[nodes.Node]:
    found = [node]
    for child in node.iter_child_nodes():
        found += _walk(child)
    return found


def _printed(result: object) -> str:
    if isinstance(result, StrictUndefined):
        raise UndefinedError(result._undefined_message)
    if isinstance(result, bool) or not isinstance(result, str | int | float | Racy | Times):
        raise ExpressionError(f"gives {_kind(result)}, not one value to print")
    return shown(result)


def _kind(result: object) -> str:
    if result is None:
        return "nothing: the case left no value"
    names = {"Rows": "a table", "Row": "a row", "bool": "yes or no"}
    return names.get(type(result).__name__, f"a {type(result).__name__}")


# ── the names an expression may use ──────────────────────────────────────────────────────────


class NotMeasured(Exception):  # noqa: N818 - a state of the evidence, not an error of the author
    """An expression asks for a table that has no rows here."""


class Unmeasured:
    """Stands for a table that has no rows here: whatever is asked of it, it has no answer."""

    def __call__(self, **_: object) -> NoReturn:
        """Refuse a selection."""
        raise NotMeasured


def names_of(studies: Sequence[Study]) -> dict[str, object]:
    """Give the names of an entry's expressions: tables, `machine`, `record` and `reported`."""
    names: dict[str, object] = {}
    for study in studies:
        tables = _tables(study)
        names |= {name: table for name, table in tables.items() if name not in names}
        names[study.id.replace("-", "_")] = tables
    main = next((study.measurements[0] for study in studies if study.measurements), None)
    if main is not None:
        names |= {"machine": main.record.machine, "record": main.record}
    names["reported"] = {
        _word(report.machine_name): {table.name: Rows(table) for table in report.tables}
        for study in studies
        for report in study.reported
    }
    return names


def _tables(study: Study) -> dict[str, object]:
    run = study.measurements[0].record.tables if study.measurements else ()
    rows = {table.name: Rows(table) for table in (*run, *study.static)}
    return {
        table.name: rows.get(table.name) or Unmeasured()
        for table in study.declared_tables
    }


def _word(name: str) -> str:
    return re.sub(r"\W+", "_", name.lower()).strip("_")
