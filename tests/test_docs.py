"""What the hand-written pages show exists: commands, options, targets, links, codes."""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

import problems_page
from measured_glossary import blocks, cli, explain
from measured_glossary.entry import CitedSource

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
GENERATED = ("glossary/", "paths/")  # what the plugin adds to docs/
FENCE = re.compile(r"^( *)```(\w*)\n(.*?)^\1```", re.M | re.S)


def name(page: Path) -> str:
    """A page's name relative to the project's root."""
    return page.relative_to(ROOT).as_posix()


def shown_lines() -> Iterator[tuple[str, str]]:
    """Each command line shown in a `console` fence, without its comment; and its page."""
    for page in PAGES:
        for fence in FENCE.finditer(page.read_text(encoding="utf-8")):
            if fence[2] == "console":
                lines = (line.partition(" #")[0].strip() for line in fence[3].splitlines())
                yield from ((line, name(page)) for line in lines if line)


def mentioned_commands() -> Iterator[tuple[str, str]]:
    """Each `glossary …` in a code span of a page or of an explanation; and where it stands."""
    texts = [(name(page), page.read_text(encoding="utf-8")) for page in PAGES]
    texts += [(f"glossary explain {code}", text) for code, text in explain.sections().items()]
    for where, text in texts:
        for span in re.findall(r"`(glossary [a-z][^`]*)`", FENCE.sub("", text)):
            yield span, where


def subcommands() -> dict[str, argparse.ArgumentParser]:
    """The parsers of the commands, by name."""
    found = [a for a in cli.parser()._actions if isinstance(a, argparse._SubParsersAction)]
    return dict(found[0].choices)


COMMANDS = subcommands()
SHOWN = sorted({(line, page) for line, page in shown_lines() if line.startswith("glossary ")})
MENTIONED = sorted(set(mentioned_commands()))


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_a_command_explains_itself(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    """`glossary COMMAND --help` ends well and says what the command is for."""
    with pytest.raises(SystemExit) as ended:
        cli.parser().parse_args([command, "--help"])
    assert ended.value.code == 0
    assert re.search(r"[A-Z].*\.", capsys.readouterr().out)


@pytest.mark.parametrize(("line", "page"), SHOWN)
def test_a_shown_command_is_accepted(line: str, page: str) -> None:
    """Every `glossary` line of a console block is one the command line takes as it stands."""
    parsed = cli.parser().parse_args(shlex.split(line)[1:])
    assert callable(parsed.command), page


@pytest.mark.parametrize(("span", "where"), MENTIONED)
def test_a_mentioned_command_exists(span: str, where: str) -> None:
    """Every `glossary …` in running text names a command and options that exist."""
    _, command, *rest = shlex.split(span)
    assert command in COMMANDS, f"{where} names {span!r}"
    options = {option for action in COMMANDS[command]._actions for option in action.option_strings}
    used = {word.partition("=")[0] for word in rest if word.startswith("-")}
    assert used <= options, f"{where} names {span!r}"


def test_every_command_is_documented() -> None:
    """No command is known to its authors only."""
    texts = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert [c for c in sorted(COMMANDS) if f"glossary {c}" not in texts] == []


def test_shown_targets_exist() -> None:
    """Every `make …` that a page shows is a target of the Makefile."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z]+):", makefile, re.M))
    texts = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    lines = [line for line, _ in shown_lines() if line.startswith("make ")]
    shown = {shlex.split(line)[1] for line in lines} | set(re.findall(r"`make ([a-z]+)", texts))
    assert shown
    assert shown <= targets


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_relative_links_lead_somewhere(page: Path) -> None:
    """Every relative link of a page leads to a file of the project, or to a generated page."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        path = link.partition("#")[0]
        if path and "://" not in path and not path.startswith(GENERATED):
            assert (page.parent / path).exists(), f"{name(page)} links to {link}"


def test_pages_stay_inside_the_site() -> None:
    """A page of docs/ links to nothing that stands outside of docs/: the site has no such file."""
    for page in (ROOT / "docs").rglob("*.md"):
        for link in re.findall(r"\]\((\.[^)\s#]+)", page.read_text(encoding="utf-8")):
            target = (page.parent / link).resolve()
            assert target.is_relative_to(ROOT / "docs"), f"{name(page)} links to {link}"


def test_the_problems_page_lists_every_code() -> None:
    """docs/problems.md is completed with a heading for each code that `explain` knows."""
    headings = re.findall(r"^## `([a-z0-9-]+)`$", problems_page.sections(), re.M)
    assert headings == sorted(explain.sections())


def rows_of(heading: str) -> dict[str, list[str]]:
    """The rows of all tables below a heading of docs/blocks.md: first cell, the others."""
    text = (ROOT / "docs" / "blocks.md").read_text(encoding="utf-8").partition(f"## {heading}\n")[2]
    lines = re.findall(r"^\| (`.*) \|$", text.partition("\n## ")[0], re.M)
    cells = [[cell.strip() for cell in line.split("|")] for line in lines]
    return {first.strip("`"): others for first, *others in cells}


def test_every_block_is_listed_with_its_options() -> None:
    """docs/blocks.md has each block that there is, with its argument and all its options."""
    rows = rows_of("Blocks")
    listed = {name: row[:2] for name, row in rows.items() if len(row) == 3}
    options = {name: [*kind.options.model_fields] for name, kind in blocks.BLOCKS.items()}
    assert {name: row[0].strip("`") for name, row in listed.items()} == {
        name: kind.argument for name, kind in blocks.BLOCKS.items()
    }
    assert {name: re.findall(r"[a-z]+", row[1]) for name, row in listed.items()} == options
    assert set(rows) - set(listed) == {option for each in options.values() for option in each}


def test_every_field_of_a_source_is_listed() -> None:
    """docs/blocks.md has each field of a source, and says which are always needed."""
    needed = {name: row[0] == "always" for name, row in rows_of("Sources").items()}
    fields = CitedSource.model_fields
    assert needed == {name: field.is_required() for name, field in fields.items()}


def test_contributing_names_every_module() -> None:
    """The layout in CONTRIBUTING.md has each module at the top of the package."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    package = ROOT / "plugins" / "measured_glossary"
    modules = sorted(path.name for path in package.glob("[a-z]*.py"))
    assert [module for module in modules if f"`{module}`" not in text] == []
