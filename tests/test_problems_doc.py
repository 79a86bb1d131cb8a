"""Every problem's code is explained, and every explanation is of a code that can occur."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from measured_glossary import explain

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "plugins" / "measured_glossary"
FOLDER = PACKAGE / "problems"
CODE = re.compile(r"[a-z0-9]+(-[a-z0-9]+)+")
MODULES = {
    path: ast.parse(path.read_text(encoding="utf-8"))
    for path in sorted(PACKAGE.rglob("*.py"))
    if "scaffolds" not in path.parts
}


# ── which argument of a call is a code: the one whose parameter is named so ──────────────────


def positions(tree: ast.Module) -> dict[str, int]:
    """For each function and class of a module with a parameter `code`: where it stands."""
    found: dict[str, int] = {}
    for owner in ast.walk(tree):
        for node in ast.iter_child_nodes(owner):
            if isinstance(node, ast.FunctionDef):
                name = owner.name if isinstance(owner, ast.ClassDef) else node.name
                name = node.name if node.name != "__init__" else name
                names = [argument.arg for argument in node.args.args]
            elif isinstance(node, ast.ClassDef):
                name, names = node.name, [ast.unparse(field.target) for field in fields(node)]
            else:
                continue
            names = names[1:] if names[:1] in (["self"], ["cls"]) else names
            if "code" in names:
                found[name] = names.index("code")
    return found


def fields(node: ast.ClassDef) -> list[ast.AnnAssign]:
    """The annotated fields of a dataclass or a named tuple, in order."""
    return [part for part in node.body if isinstance(part, ast.AnnAssign)]


EVERYWHERE = {name: at for tree in MODULES.values() for name, at in positions(tree).items()}


def code_expressions(tree: ast.Module) -> Iterator[ast.expr]:
    """The expressions of a module that stand where a code is expected."""
    here = EVERYWHERE | positions(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == "code":
            yield node.value
        elif isinstance(node, ast.Call):
            at = here.get(ast.unparse(node.func).rpartition(".")[2])
            yield from node.args[at : at + 1] if at is not None else []
        elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            yield from (value for target in targets for value in assigned(target, node.value))


def assigned(target: ast.expr, value: ast.expr) -> Iterator[ast.expr]:
    """What an assignment gives to a variable named `code`, alone or in a tuple."""
    if isinstance(target, ast.Name) and target.id == "code":
        yield value
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for part, given in zip(target.elts, value.elts, strict=False):
            yield from assigned(part, given)


def codes_used() -> dict[str, str]:
    """Each code that the package can print, and a place in the source that prints it."""
    found: dict[str, str] = {}
    for path, tree in MODULES.items():
        for expression in code_expressions(tree):
            for code in kebab_constants(expression):
                where = f"{path.relative_to(ROOT).as_posix()}:{expression.lineno}"
                found.setdefault(code, where)
    return found


def kebab_constants(node: ast.AST) -> Iterator[str]:
    """The constants in an expression that have the form of a code."""
    for part in ast.walk(node):
        value = part.value if isinstance(part, ast.Constant) else None
        if isinstance(value, str) and CODE.fullmatch(value):
            yield value


USED = codes_used()
WRITTEN = {code for tree in MODULES.values() for code in kebab_constants(tree)}
EXPLAINED = explain.sections()


@pytest.mark.parametrize("code", sorted(USED))
def test_a_code_that_can_be_printed_is_explained(code: str) -> None:
    """`glossary explain CODE` has something to say on every code."""
    assert code in EXPLAINED, f"{USED[code]} prints it; add '## {code}' to a file in {FOLDER}"


@pytest.mark.parametrize("code", sorted(EXPLAINED))
def test_an_explained_code_can_occur(code: str) -> None:
    """No explanation is left over from a code that is gone."""
    assert code in WRITTEN


def test_a_code_is_explained_once() -> None:
    """No two files explain the same code: one of them would never be read."""
    headings = [
        line for path in sorted(FOLDER.glob("*.md"))
        for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("## ")
    ]  # fmt: skip
    assert sorted(headings) == sorted(set(headings))
    assert len(headings) == len(EXPLAINED)


@pytest.mark.parametrize("code", sorted(EXPLAINED))
def test_an_explanation_says_something(code: str) -> None:
    """A section holds at least a sentence."""
    assert re.search(r"[a-z].*[.:]", EXPLAINED[code])


def test_codes_in_helpers_are_found() -> None:
    """The search sees keyword, positional, conditional and assigned codes."""
    tree = ast.parse(
        "def _refuse(file, code, message): ...\n"
        "class _Bad:\n    def __init__(self, code): ...\n"
        "_refuse(f, 'by-position', m)\n"
        "raise _Bad('by-class')\n"
        "Problem(code='by-keyword' if x else 'by-choice')\n"
        "code, hint = 'by-tuple', 'not-a-code'\n"
    )
    found = {code for part in code_expressions(tree) for code in kebab_constants(part)}
    assert found == {"by-position", "by-class", "by-keyword", "by-choice", "by-tuple"}
