"""Builds glossaries of several sizes with several generators in turn, and notes what it costs.

Comes in: sizes, generators, how often. Goes out: `results.json`, and from it `docs/speed.md`. Must
not need a GPU or a network; what is not installed is not run, and said to be so.

    python benchmarks/scale.py                                  about a quarter of an hour
    TMPDIR=/dev/shm python benchmarks/scale.py --sizes 100 1000 5000   for the page in the docs
"""

from __future__ import annotations

import argparse
import datetime
import gzip
import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import generate
import measure
import others
import report
import served
import stages
import verify

from measured_glossary.trust.signing import find_tool

HERE = Path(__file__).resolve().parent
QUIET = {"NO_MKDOCS_2_WARNING": "1", "PYTHONWARNINGS": "ignore"}
ALL = ("ours", *others.GENERATORS)
# Entries of the largest site that is built in every round, served, and timed stage by stage: larger
# ones take a quarter of an hour a round.
DETAILED = 1000
GROWTH = (1000, 5000)  # entries: between these growth is taken, the two built after one another
# Entries: with more they take longer than all others together.
LARGEST = {"sphinx": 1000, "material": 5000, "zensical": 5000, "hugo": 5000}
EDIT = "The sentence number {} was added a moment ago."


@dataclass(frozen=True, slots=True, kw_only=True)
class Generator:
    """How a generator is run: its command, what a cold build must not find, where its site is.

    `kinds` are the builds that it tells apart: all of them begin with a cold one. `server` is its
    server's command, a port behind it, or nothing; `index` is what its search loads.
    """

    command: tuple[str, ...]
    wiped: tuple[str, ...]
    site: str
    kinds: tuple[str, ...] = ("cold",)
    server: tuple[str, ...] = ()
    index: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A generator's project of one size, in a folder."""

    name: str
    size: int
    folder: Path
    generator: Generator
    plan: generate.Plan

    def wipe(self) -> None:
        """Remove all that a build left."""
        for name in self.generator.wiped:
            shutil.rmtree(self.folder / name, ignore_errors=True)

    def edit(self, words: str, turn: int) -> str:
        """Add a sentence to one entry; give its id. Ours is signed anew."""
        number = (37 * turn + 5) % self.size
        entry_id = generate.entry_id(number)
        if self.name == "ours":
            generate.write(self.folder, generate.edited(self.plan, number, words))
            return entry_id
        path = self.folder / others.page_of(entry_id, self.name)
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace("## Related terms", f"{words}\n\n## Related terms"), "utf-8")
        return entry_id


# ── generators ───────────────────────────────────────────────────────────────────────────────


def generators() -> dict[str, Generator]:
    """Give the generators that are installed here."""
    python = sys.executable
    mkdocs = (python, "-m", "mkdocs", "build", "--quiet")
    serve = (python, "-m", "mkdocs", "serve", "--quiet", "--dev-addr")
    index = "search/search_index.json"
    every = ("cold", "no change", "one edit")
    found = {
        "ours": Generator(
            command=mkdocs,
            wiped=("site", ".cache"),
            site="site",
            kinds=every,
            server=serve,
            index=index,
        ),
        "material": Generator(command=mkdocs, wiped=("site",), site="site", index=index),
    }
    return found | dict(_others_here())


def _others_here() -> Iterator[tuple[str, Generator]]:
    if importlib.util.find_spec("zensical"):
        zensical = (sys.executable, "-m", "zensical")
        yield (
            "zensical",
            Generator(
                command=(*zensical, "build"),
                wiped=("site", ".cache"),
                site="site",
                kinds=("cold", "no change", "one edit"),
                server=(*zensical, "serve", "--dev-addr"),
                index="search.json",
            ),
        )
    if hugo := shutil.which("hugo"):
        yield (
            "hugo",
            Generator(
                command=(hugo, "--quiet"),
                wiped=("public", "resources"),
                site="public",
                server=(hugo, "server", "--quiet", "--port"),
            ),
        )
    if sphinx := _sphinx():
        yield (
            "sphinx",
            Generator(
                command=(*sphinx, "-q", "-j", "auto", "-b", "html", "docs", "_build"),
                wiped=("_build",),
                site="_build",
                kinds=("cold", "one edit"),
                index="searchindex.js",
            ),
        )


def _sphinx() -> tuple[str, ...]:
    """Give the command of a Sphinx that has furo and MyST: this Python's, or one named."""
    named = os.environ.get("SPHINX_BUILD") or shutil.which("sphinx-build")
    if all(map(importlib.util.find_spec, ("sphinx", "furo", "myst_parser"))):
        return (sys.executable, "-m", "sphinx")
    return (named,) if named else ()


def missing(asked: list[str]) -> list[str]:
    """Say what was asked for and is not here."""
    how = {
        "zensical": "pip install zensical",
        "hugo": "apt-get install hugo",
        "sphinx": "pip install sphinx furo myst-parser, or SPHINX_BUILD=FILE",
    }
    here = generators()
    return [f"{name} is not installed ({how[name]})" for name in asked if name not in here]


# ── one size ─────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What to measure."""

    sizes: tuple[int, ...]
    generators: tuple[str, ...]
    rounds: int
    with_serve: bool


def measured(asked: Asked, size: int, scratch: Path) -> Iterator[dict[str, Any]]:
    """Give every row of one size; generators take turns, so that noise falls on all."""
    places = list(_places(asked, size, scratch))
    for turn in range(asked.rounds if size <= DETAILED else 1):
        for place in places[:]:
            for row in _builds(place, turn):
                yield row
                if row["row"] == "failed":
                    places.remove(place)
        yield from _one_page(size, turn, scratch) if "material" in asked.generators else ()
    yield from map(_output, places)
    for ours in [place for place in places if place.name == "ours"]:
        yield from _commands(ours)  # the audit, while the site is that of the entries
        if size <= DETAILED:
            tell(f"{size}: stages")
            spent = {name: round(found, 3) for name, found in stages.seconds(ours.folder).items()}
            yield {"row": "stages", "size": size, "seconds": spent}
    for place in places if asked.with_serve and size <= DETAILED else ():
        if place.generator.server:
            tell(f"{size}: {place.name}, serve")
            yield _serve(place, asked.rounds)


def _places(asked: Asked, size: int, scratch: Path) -> Iterator[Place]:
    """Write each generator's project."""
    tell(f"{size}: writing {', '.join(asked.generators)}")
    ours = _place("ours", size, scratch)
    generate.write(ours.folder, generate.project(ours.plan))
    pages = others.expanded(ours.folder) if set(asked.generators) - {"ours"} else {}
    for name in asked.generators:
        place = _place(name, size, scratch)
        if name != "ours":
            generate.write(place.folder, iter(others.adapt(pages, name).items()))
        yield place


def _place(name: str, size: int, scratch: Path) -> Place:
    folder, plan = scratch / f"{size}-{name}", generate.Plan(entries=size)
    return Place(name=name, size=size, folder=folder, generator=generators()[name], plan=plan)


def _growth(asked: Asked, scratch: Path) -> Iterator[dict[str, Any]]:
    """Build ours of both sizes in turn: the machine's speed changes within minutes."""
    for turn in range(asked.rounds):
        for size in GROWTH:
            for row in _builds(_place("ours", size, scratch), turn):
                yield {**row, "row": "growth"} if row["row"] == "build" else row


def _builds(place: Place, turn: int) -> Iterator[dict[str, Any]]:
    for kind in place.generator.kinds:
        tell(f"{place.size}: {place.name}, {kind}, round {turn + 1}")
        if kind == "cold":
            place.wipe()
        elif kind == "one edit":
            place.edit(EDIT.format(turn), turn)
        try:
            cost = measure.run(place.generator.command, place.folder, QUIET)
        except measure.CommandError as error:
            said = str(error).strip().splitlines()[-1]
            tell(f"{place.size}: {place.name}, {kind}: {said}")
            yield {"row": "failed", "name": place.name, "size": place.size, "said": said[:300]}
            return
        yield _row(place.name, place.size, kind, turn, cost)


def _row(name: str, size: int, kind: str, turn: int, cost: measure.Cost) -> dict[str, Any]:
    costs = {key: round(value, 3) for key, value in asdict(cost).items()}
    return {"row": "build", "name": name, "size": size, "kind": kind, "round": turn, **costs}


def _one_page(size: int, turn: int, scratch: Path) -> Iterator[dict[str, Any]]:
    """Build a Material site of one page: what a MkDocs build takes at least."""
    folder = scratch / "one-page"
    if not folder.exists():
        page = {"docs/index.md": b"# One page\n\nAnd no more.\n"}
        generate.write(folder, iter(others.adapt(page, "material").items()))
    command = generators()["material"].command
    yield _row("one page", size, "cold", turn, measure.run(command, folder, QUIET))


def _output(place: Place) -> dict[str, Any]:
    """Say how large the built site is, and what its search loads, packed as a server sends it."""
    site = place.folder / place.generator.site
    index = site / place.generator.index
    raw = index.read_bytes() if place.generator.index and index.is_file() else b""
    paths = [path for path in site.rglob("*") if path.is_file()]
    return {
        "row": "output",
        "name": place.name,
        "size": place.size,
        "files": len(paths),
        "bytes": sum(path.stat().st_size for path in paths),
        "index_bytes": len(raw),
        "index_packed": len(gzip.compress(raw, 6)) if raw else 0,
    }


def _serve(place: Place, turns: int) -> dict[str, Any]:
    port = served.free_port()
    at = str(port) if place.name == "hugo" else f"127.0.0.1:{port}"
    command = (*place.generator.server, at)
    found = served.seconds_to_show(command, place.folder, QUIET, _edits(place, port, turns))
    seconds = [round(one, 3) for one in found]
    return {"row": "serve", "name": place.name, "size": place.size, "seconds": seconds}


def _edits(place: Place, port: int, turns: int) -> Iterator[tuple[str, str, Callable[[], None]]]:
    for turn in range(100, 100 + turns):
        words = EDIT.format(turn)
        number = (37 * turn + 5) % place.size
        url = f"http://127.0.0.1:{port}/glossary/{generate.entry_id(number)}/"
        yield url, words, lambda words=words, turn=turn: place.edit(words, turn)  # type: ignore[misc]


def _commands(place: Place) -> Iterator[dict[str, Any]]:
    for words in (("status",), ("check",), ("audit", place.generator.site)):
        tell(f"{place.size}: glossary {words[0]}")
        command = (sys.executable, "-m", "measured_glossary.cli", *words)
        cost = measure.run(command, place.folder, QUIET)
        yield _row(f"glossary {words[0]}", place.size, "command", 0, cost)


# ── the whole ────────────────────────────────────────────────────────────────────────────────


def results(asked: Asked) -> Iterator[dict[str, Any]]:
    """Measure everything; after each size give what `results.json` holds so far."""
    rows: list[dict[str, Any]] = []
    load_before = round(os.getloadavg()[0], 2)
    here = generators()
    wanted = replace(asked, generators=tuple(name for name in asked.generators if name in here))
    with tempfile.TemporaryDirectory(prefix="glossary-benchmark-") as scratch:
        for size in asked.sizes:
            rows += measured(fit(wanted, size), size, Path(scratch))
            sizes = asked.sizes[: asked.sizes.index(size) + 1]
            if size == GROWTH[1] and GROWTH[0] in sizes and "ours" in wanted.generators:
                rows += _growth(wanted, Path(scratch))
            yield {
                "schema": 1,
                "day": str(datetime.datetime.now(datetime.UTC).date()),
                "machine": {**machine(), "files": file_system(Path(scratch))},
                "load_before": load_before,
                "versions": versions(here),
                "sizes": list(sizes),
                "rounds": asked.rounds,
                "not_run": [*not_run(replace(asked, sizes=sizes)), *failed(rows)],
                "verify": verification(),
                "rows": rows,
            }


def fit(asked: Asked, size: int) -> Asked:
    """Leave out who takes too long for so many entries."""
    names = (name for name in asked.generators if size <= LARGEST.get(name, size))
    return replace(asked, generators=tuple(names))


def failed(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Say which generators did not come to their end, and their last words."""
    found = [row for row in rows if row["row"] == "failed"]
    return [f"{row['name']} with {row['size']:,} entries failed: {row['said']}" for row in found]


def not_run(asked: Asked) -> list[str]:
    """Say what this run leaves open."""
    left = [f"{size:,} entries" for size in (100, 1000, 5000) if size not in asked.sizes]
    left += [f"{name} was not asked for" for name in ALL if name not in asked.generators]
    for size in asked.sizes:
        names = [name for name in asked.generators if name not in fit(asked, size).generators]
        left += [f"{name} with {size:,} entries: it takes too long" for name in names]
        left += [f"servers and stages of {size:,} entries"] if size > DETAILED else []
    left += [] if asked.with_serve else ["the servers were not asked for"]
    return [*left, *missing(list(asked.generators))]


def file_system(folder: Path) -> str:
    """Give the kind of the file system that a folder is on: on a slow disk, new files decide."""
    mounts = [line.split()[1:3] for line in Path("/proc/mounts").read_text().splitlines()]
    around = [(place, kind) for place, kind in mounts if folder.resolve().is_relative_to(place)]
    return max(around, key=lambda each: len(each[0]))[1]


def machine() -> dict[str, Any]:
    """Give the class of this machine: no name of it, no serial number."""
    info = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    names = [line.partition(": ")[2] for line in info if line.startswith("model name")]
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {
        "processor": names[0] if names else platform.machine(),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(pages / 2**30),
        "system": platform.system(),
    }


def versions(here: Mapping[str, Generator]) -> dict[str, str]:
    """Give the versions of what was run."""
    names = ["mkdocs-measured-glossary", "mkdocs", "mkdocs-material", "Markdown", "Pygments"]
    names += ["zensical"] if "zensical" in here else []
    found = {"Python": platform.python_version(), **{name: version(name) for name in names}}
    found |= {"Hugo": _says((here["hugo"].command[0], "version"))} if "hugo" in here else {}
    found |= {"Sphinx": _says((*_sphinx(), "--version"))} if "sphinx" in here else {}
    return found


def _says(command: tuple[str, ...]) -> str:
    """Give the number in what a program says of its version."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    words = done.stdout.split()
    return next((word for word in words if word.lstrip("v")[:1].isdigit()), "unknown")


def verification() -> dict[str, Any]:
    """Compare our verification with a spawned `ssh-keygen`: rates, and whether verdicts agree."""
    tool = find_tool()
    if tool is None:
        return {}
    ours, theirs = verify.rates(tool)
    return {"ours_per_s": ours, "ssh_keygen_per_s": theirs, "agree": verify.agree(tool)}


def tell(text: str) -> None:
    """Say what is being done."""
    print(f"{datetime.datetime.now():%H:%M:%S} {text}", file=sys.stderr, flush=True)


def main() -> int:
    """Measure what the arguments ask for, and write the page."""
    parser = argparse.ArgumentParser(description="Measure builds of made-up glossaries.")
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 1000])
    parser.add_argument("--generators", nargs="+", choices=ALL, default=list(ALL))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--without-serve", action="store_true")
    parser.add_argument("--results", type=Path, default=HERE / "results.json")
    parser.add_argument("--page", type=Path, default=HERE.parent / "docs" / "speed.md")
    asked = parser.parse_args()
    wanted = Asked(
        sizes=tuple(sorted(asked.sizes)),
        generators=tuple(asked.generators),
        rounds=asked.rounds,
        with_serve=not asked.without_serve,
    )
    live = json.loads(report.LIVE.read_text(encoding="utf-8"))
    for made in results(wanted):
        asked.results.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", "utf-8")
        asked.page.write_text(report.page(made, live), encoding="utf-8")
    print(f"wrote {asked.results} and {asked.page}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
