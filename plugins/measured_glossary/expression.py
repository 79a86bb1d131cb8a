"""`{{ expressions }}` of a body, evaluated over what was measured.

Comes in: a `Value` of the body, and the studies whose tables it may name. Goes out: the text to
print, or a `Problem` with the value's place. Must not know what an entry is.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from types import SimpleNamespace
from typing import Any, NoReturn

from jinja2 import StrictUndefined, TemplateError, UndefinedError, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import missing

from measured_glossary.body import Value
from measured_glossary.lab.record import Machine, Record
from measured_glossary.lab.study import Study
from measured_glossary.lab.table import (
    MIN_TIMES,
    AmbiguousTimes,
    Bytes,
    Cell,
    ColumnKind,
    Plain,
    Racy,
    Row,
    Rows,
    Table,
    Times,
    refuse_unknown_keys,
    shown,
)
from measured_glossary.problem import Checked, Problem, meant

MAX_LENGTH, MAX_DEPTH = 200, 20
MAX_DECIMALS, MAX_SIGNIFICANT = 6, 9

# `rows[threads=32]` is what authors write; `rows(threads=32)` is what Jinja2 can parse.
_SELECTOR = re.compile(r"\[(\s*[A-Za-z_]\w*\s*=(?!=)[^\[\]]*)\]")

_ALLOWED = (
    nodes.Template, nodes.Output, nodes.Name, nodes.Getattr, nodes.Getitem, nodes.Call,
    nodes.Keyword, nodes.Const, nodes.Filter, nodes.Add, nodes.Sub, nodes.Mul, nodes.Div,
    nodes.Neg,
)  # fmt: skip

_FORM = "write {{ table[key=value].column }}"
_NO_NAME = "is no name here"
_ONE_NUMBER = "choose one number of it: .min, .median, .max or .rate_of_launches"


class ExpressionError(Exception):
    """An expression cannot be evaluated: why, and what to type."""

    def __init__(self, message: str, hint: str = _FORM) -> None:
        super().__init__(message)
        self.message, self.hint = message, hint


# ── evaluating ───────────────────────────────────────────────────────────────────────────────


def evaluate(value: Value, names: Mapping[str, object]) -> Checked[str]:
    """Evaluate one `{{ … }}` of a body over `names`.

    Without a value and without a problem where the table was not measured: that is said once, of
    the experiment. Keys, columns and what is done with them are checked there all the same.
    """
    environment = _environment()
    try:
        printed = _printed(_result(value.expression, names, environment))
        return Checked(value=None if environment.is_unmeasured else printed)
    except ExpressionError as error:
        message, hint = error.message, error.hint
    except UndefinedError as error:
        message = str(error.message)
        known = f"the names here are: {', '.join(sorted(names)) or 'none'}"
        is_name = message.endswith(_NO_NAME)
        hint = meant(message.partition("'")[2].partition("'")[0], names, known) if is_name else ""
    except TemplateError as error:
        message, hint = f"not an expression: {error.message}", _FORM
    except (SyntaxError, RecursionError, MemoryError):
        message, hint = "not an expression that can be read", _FORM
    except (LookupError, ValueError, TypeError, ArithmeticError, AmbiguousTimes) as error:
        if environment.is_unmeasured and isinstance(error, ArithmeticError | AmbiguousTimes):
            return Checked(value=None)  # what stands in for a figure is no figure
        # What the tables' own cells raise: a row that does not exist, a racy comparison.
        message, hint = str(error.args[0] if error.args else error), ""
    problem = Problem(
        place=value.place,
        code="bad-expression",
        message=f"{{{{ {value.expression} }}}}: {message}",
        hint=hint,
    )
    return Checked(value=None, problems=(problem,))


def _result(expression: str, names: Mapping[str, object], environment: _Environment) -> object:
    if len(expression) > MAX_LENGTH:
        raise ExpressionError(f"longer than {MAX_LENGTH} characters")
    source = _SELECTOR.sub(r"(\1)", expression)
    found = _walk(environment.parse("{{ " + source + " }}"))
    for node in found:
        if not isinstance(node, _ALLOWED):
            raise ExpressionError(f"{_words(type(node))} is not used in expressions")
    if not any(isinstance(node, nodes.Name) for node in found):
        raise ExpressionError("names nothing that was measured", "write it without the braces")
    return environment.compile_expression(source, undefined_to_none=False)(dict(names))


def _walk(node: nodes.Node, depth: int = 0) -> list[nodes.Node]:
    if depth > MAX_DEPTH:  # compiling costs more than the square of it
        raise ExpressionError("is nested too deeply")
    found = [node]
    for child in node.iter_child_nodes():
        found += _walk(child, depth + 1)
    return found


def _words(node: type[nodes.Node]) -> str:
    names = {
        "Compare": "a comparison", "TemplateData": "text outside of the expression", "Pow": "'**'",
        "CondExpr": "'if'", "List": "a list", "Tuple": "a comma", "Dict": "a dictionary",
        "Concat": "'~'", "Mod": "'%'", "FloorDiv": "'//'", "Test": "'is'", "Slice": "a slice",
    }  # fmt: skip
    return names.get(node.__name__, f"'{node.__name__.lower()}'")


def _printed(result: object) -> str:
    if isinstance(result, StrictUndefined):
        raise UndefinedError(result._undefined_message)
    if isinstance(result, bool) or not isinstance(result, str | int | float | Racy | Times):
        raise ExpressionError(f"gives {_kind(result)}, not one value to print")
    if isinstance(result, float) and not math.isfinite(result):
        raise ExpressionError(f"gives {result}, which is no number")
    return shown(result)


def _kind(result: object) -> str:
    result = result.like if isinstance(result, Unmeasured) else result
    if result is None:
        return "nothing: the case left no value"
    names = {
        "Rows": "a table", "_AnyRow": "a table", "Row": "a row", "bool": "yes or no",
        "str": "a text", "tuple": "a list",
        "Racy": "a racy count", "Times": "a time", "Machine": "the machine",
        "Record": "the record", "SimpleNamespace": "a group of names",
        "Findings": "a number of findings",
    }  # fmt: skip
    return names.get(type(result).__name__, f"a {type(result).__name__}")


# ── the sandbox ──────────────────────────────────────────────────────────────────────────────


class _Undefined(StrictUndefined):
    """What an expression asks for and is not there, in the glossary's own words."""

    @property
    def _undefined_message(self) -> str:
        name, owner = self._undefined_name, self._undefined_obj
        if owner is missing:
            return f"{name!r} {_NO_NAME}"
        there = f"it has {', '.join(_members(owner)) or 'nothing'}"
        return f"{_kind(owner)} has no {name!r}; {meant(str(name), _members(owner), there)}"


def _members(owner: object) -> list[str]:
    names = sorted(name for name in dir(owner) if not name.startswith("_"))
    return [name for name in names if not callable(getattr(type(owner), name, None))]


class _Environment(ImmutableSandboxedEnvironment):
    """The sandbox: selections of tables and arithmetic on plain numbers, no other call.

    A text's own methods are no way in either: `.ljust(10**9)` must not fill the memory, nor
    `.replace(…)` make a fact of what nobody measured.
    """

    intercepted_binops = frozenset(["+", "-", "*", "/"])
    is_unmeasured = False  # whether an expression asked for what was not measured

    def getattr(self, obj: Any, attribute: str) -> Any:
        """Give a fact, or what stands in for it."""
        return super().getattr(self._like(obj), attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        """Give a part, or what stands in for it."""
        return super().getitem(self._like(obj), argument)

    def _like(self, found: Any) -> Any:
        self.is_unmeasured = self.is_unmeasured or isinstance(found, Unmeasured)
        return found.like if isinstance(found, Unmeasured) else found

    def call(__self, __context: Any, __obj: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N805 - as the host names them, so that a key may be called `self`
        """Select a row of a table."""
        if isinstance(__obj, StrictUndefined):
            __obj()  # says what is not there
        selected = __self._like(__obj)
        if args or not isinstance(selected, Rows | _AnyRow | Ambiguous):
            raise ExpressionError("only a table takes a selection, and it names its key")
        return selected(**kwargs)

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """Reckon with plain numbers, and give the ratio of two times."""
        if operator == "/" and isinstance(left, Times) and isinstance(right, Times):
            return left / right
        for side in (left, right):
            if not _is_plain(side):
                hint = _ONE_NUMBER if isinstance(side, Racy | Times) else _FORM
                raise ExpressionError(
                    f"{operator!r} works on plain numbers, not on {_kind(side)}", hint
                )
        return super().call_binop(context, operator, left, right)

    def unsafe_undefined(self, obj: Any, attribute: str) -> Any:
        """Refuse what reaches behind a value."""
        raise ExpressionError(f"{attribute!r} is not used in expressions")


def _environment() -> _Environment:
    made = _Environment(undefined=_Undefined, autoescape=False)
    made.filters.clear()
    made.tests.clear()
    made.globals.clear()
    made.filters.update(percent=percent, digits=digits)
    return made


def _is_plain(value: object) -> bool:
    """Say whether a value is a number one can reckon with; a count of findings is none."""
    return type(value) in (int, float, Bytes)


def percent(share: float, decimals: int = 1) -> str:
    """Print a share of one as a percentage: `0.034` → `3.4 %`."""
    _check_filter("percent", share, decimals, 0, MAX_DECIMALS)
    return f"{100 * share:,.{decimals}f} %"


def digits(number: float, significant: int = 3) -> str:
    """Print a number with so many significant digits: `1234.5` → `1,230`."""
    _check_filter("digits", number, significant, 1, MAX_SIGNIFICANT)
    rounded = float(f"{number:.{significant}g}")
    magnitude = math.floor(math.log10(abs(rounded))) if rounded else 0
    if magnitude < -MAX_DECIMALS:
        return f"{rounded:.{significant - 1}e}"
    return f"{rounded:,.{max(0, significant - 1 - magnitude)}f}"


def _check_filter(name: str, number: object, places: object, least: int, most: int) -> None:
    if isinstance(number, StrictUndefined):
        raise UndefinedError(number._undefined_message)
    if not _is_plain(number) or not math.isfinite(float(number)):  # type: ignore[arg-type] # a plain number
        hint = _ONE_NUMBER if isinstance(number, Racy | Times) else _FORM
        raise ExpressionError(f"{name!r} takes a plain number, not {_kind(number)}", hint)
    if type(places) is not int or not least <= places <= most:
        raise ExpressionError(f"{name!r} takes {least} to {most} places, found {places!r}"[:200])


# ── the names an expression may use ──────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Unmeasured:
    """Stands for what was not measured here; `like` has its names, and no figure that counts."""

    like: object


@dataclass(frozen=True, slots=True)
class _AnyRow:
    """Stands for a table's rows, whatever they will be: each selection by its keys gives one."""

    table: Table

    def __call__(self, **key: Plain) -> Row:
        """Give a row with these values of the key."""
        refuse_unknown_keys(self.table, key)
        (cells,) = self.table.rows
        return Row(self.table, {**cells, **key})


# A zero of a race has a bound, so every name of it has a value.
_LIKE: Mapping[ColumnKind, Cell] = {
    "exact": 1, "bytes": 1, "findings": 1, "racy": (0,), "time": (1.0,) * MIN_TIMES,
    "outcome": "returned", "verdict": "clean",
}  # fmt: skip


def _unmeasured(table: Table) -> Unmeasured:
    row = {column.name: _LIKE[column.kind] for column in table.all_columns}
    return Unmeasured(_AnyRow(replace(table, rows=(row,))))


def _any_machine() -> Machine:
    known = {each.name: "0.0" if "str" in str(each.type) else 1 for each in fields(Machine)}
    return Machine(**known)  # type: ignore[arg-type] # each value is of its field's type


def _any_record() -> Record:
    """Give a record of nothing; of which tools it has the versions is not known yet."""
    return Record(
        experiment="",
        machine=_any_machine(),
        captured="",
        inputs=defaultdict(str),
        toolchain=defaultdict(str),
        options=(),
        seed=0,
        tables=(),
    )


class Ambiguous:
    """Stands for a table's name that several experiments use."""

    def __init__(self, name: str, owners: Sequence[str]) -> None:
        self.name, self.owners = name, owners

    def __call__(self, **_: object) -> NoReturn:
        """Refuse a selection: nobody can tell which table is meant."""
        choice = " or ".join(f"{owner}.{self.name}[…]" for owner in self.owners)
        raise ExpressionError(f"several experiments have a table {self.name!r}", f"write {choice}")


def names_of(studies: Sequence[Study]) -> dict[str, object]:
    """Give the names of an entry's expressions: tables, `machine`, `record` and `reported`."""
    tables = {study.id.replace("-", "_"): _tables(study) for study in studies}
    names: dict[str, object] = {owner: SimpleNamespace(**own) for owner, own in tables.items()}
    for table in {name for own in tables.values() for name in own}:
        owners = [owner for owner, own in tables.items() if table in own]
        only = tables[owners[0]][table]
        names[table] = only if len(owners) == 1 else Ambiguous(table, owners)
    if studies:
        names |= _of_record(studies)
    return names


def _of_record(studies: Sequence[Study]) -> dict[str, object]:
    """Give the machine and the record of the first measurement, and what others report."""
    main = next((study.measurements[0].record for study in studies if study.measurements), None)
    reported: dict[str, dict[str, object]] = {}
    for report in (report for study in studies for report in study.reported):
        own = reported.setdefault(_word(report.machine_name), {})
        own |= {table.name: Rows(table) for table in report.tables}
    return {
        "machine": main.machine if main else Unmeasured(_any_machine()),
        "record": main or Unmeasured(_any_record()),
        "reported": SimpleNamespace(**{name: SimpleNamespace(**r) for name, r in reported.items()}),
    }


def _tables(study: Study) -> dict[str, object]:
    runs = [table for measured in study.measurements for table in measured.record.tables]
    first: dict[str, Table] = {}
    for table in sorted(runs, key=_has_no_verdict):
        first.setdefault(table.name, table)
    rows = {table.name: Rows(table) for table in (*first.values(), *study.static)}
    return {
        table.name: rows[table.name] if table.name in rows else _unmeasured(table)
        for table in study.declared_tables
    }


def _has_no_verdict(table: Table) -> bool:
    """Say whether a tool was not there at all: then another machine's verdicts come first."""
    return table.kind == "sanitizer" and all(r["verdict"] == "inconclusive" for r in table.rows)


def _word(name: str) -> str:
    return re.sub(r"\W+", "_", name.lower()).strip("_")
