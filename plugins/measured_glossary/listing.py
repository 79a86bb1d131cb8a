"""A few lines of machine code, for each architecture: `::: sass`.

Comes in: a block as asked for, and the listings that this build made. Goes out: a tab for each
architecture, the instructions that matter marked. Must not compile or disassemble anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

from markupsafe import Markup
from pydantic import BeforeValidator, Field

from measured_glossary.asked import Asked, Plain, refuse
from measured_glossary.lab.sass import Kernel, opcode
from measured_glossary.lab.study import Listing
from measured_glossary.markup import fill
from measured_glossary.problem import Checked, meant
from measured_glossary.readings import faults, of_code


def _listed(value: object) -> object:
    return (value,) if isinstance(value, str) else value


Prefixes = Annotated[tuple[str, ...], BeforeValidator(_listed)]


class Options(Plain):
    """What to show of a kernel's machine code.

    `mark` are the opcodes, or what they begin with, that the text is about; `context` lines stand
    before and after each. Without `mark` the whole kernel is shown. `architectures`: all, if none
    are named.
    """

    mark: Prefixes = ()
    context: Annotated[int, Field(ge=0, le=20)] = 3
    architectures: tuple[str, ...] = ()
    caption: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """An instruction as printed; without text it stands for those left out."""

    text: str
    is_marked: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Tab:
    """One architecture's lines of a kernel, how many there are in all, and their digest."""

    architecture: str
    lines: tuple[Line, ...]
    marked: int
    total: int
    digest: str


def sass(asked: Asked) -> Checked[str]:
    """Give a kernel's machine code by architecture, as this build compiled it."""
    listings = [listing for study in asked.studies for listing in study.listings]
    notes = [note for study in asked.studies for note in study.notes]
    # What does not compile is told where it stands: its kernels are no mistake of the page.
    notes += [f"{p.place}: {p.message}" for study in asked.studies for p in faults(study)]
    if not listings and notes:
        return Checked(value=fill("sass-missing.html", kernel=asked.argument, notes=notes))
    chosen = _chosen(asked, listings)
    if chosen.value is None:
        return Checked(value=None, problems=chosen.problems)
    tabs = [_tab(listing, kernel, asked.options) for listing, kernel in chosen.value]
    if asked.options.mark and not all(tab.marked for tab in tabs):
        bare = ", ".join(tab.architecture for tab in tabs if not tab.marked)
        message = f"{asked.argument} has no {' or '.join(asked.options.mark)} on {bare}"
        hint = "mark an opcode that stands in it"
        return refuse(asked, "sass-mark", message, hint, at=("mark",))
    return Checked(value=_figure(asked, chosen.value[0][0], tabs))


Chosen = tuple[tuple[Listing, Kernel], ...]


def _chosen(asked: Asked, listings: Sequence[Listing]) -> Checked[Chosen]:
    """Find the kernel on each architecture asked for, oldest first."""
    found = {
        listing.architecture: (listing, kernel)
        for listing in sorted(listings, key=_age)
        for kernel in listing.sass.code
        if asked.argument in (kernel.name, kernel.symbol)
    }
    wanted = asked.options.architectures or tuple(found)
    if not found:
        known = sorted({name for listing in listings for name in listing.sass.kernels})
        message = f"there is no kernel {asked.argument!r}"
        hint = meant(asked.argument, known, f"there are: {', '.join(known)}")
        return refuse(asked, "sass-kernel", message, hint)
    if missing := [name for name in wanted if name not in found]:
        message = f"not compiled for {', '.join(missing)}"
        hint = f"this build compiles for: {', '.join(found)}"
        at = ("architectures", wanted.index(missing[0]))
        return refuse(asked, "sass-architecture", message, hint, at=at)
    return Checked(value=tuple(found[name] for name in wanted))


def _age(listing: Listing) -> tuple[int, str]:
    return int("".join(filter(str.isdigit, listing.architecture)) or 0), listing.architecture


def _tab(listing: Listing, kernel: Kernel, options: Options) -> Tab:
    code = [line for line in kernel.instructions if opcode(line) != "NOP"]
    marked = [_is_marked(line, options.mark) for line in code]
    return Tab(
        architecture=listing.architecture,
        lines=tuple(_windows(code, marked, options)),
        marked=sum(marked),
        total=len(code),
        digest=listing.sass.digest(kernel.name),
    )


def _is_marked(line: str, prefixes: Sequence[str]) -> bool:
    return any(f"{opcode(line)}.".startswith(f"{prefix}.") for prefix in prefixes)


def _windows(code: Sequence[str], marked: Sequence[bool], options: Options) -> Iterator[Line]:
    """Give the marked lines with what stands around them, and a gap for what is left out."""
    near = options.context if options.mark else len(code)
    shown = [
        not options.mark or any(marked[max(0, i - near) : i + near + 1]) for i in range(len(code))
    ]
    for index, line in enumerate(code):
        if shown[index]:
            yield Line(text=line, is_marked=marked[index])
        elif index == 0 or shown[index - 1]:
            yield Line(text="")


def _figure(asked: Asked, listing: Listing, tabs: Sequence[Tab]) -> Markup:
    return fill(
        "sass.html",
        ident=asked.ident,
        reading=of_code(listing),
        kernel=asked.argument,
        caption=asked.options.caption,
        mark=" or ".join(asked.options.mark),
        tabs=tabs,
    )
