"""What was measured as a page: `docs/speed.md`, from `results.json`, `live.json` and nothing else.

Comes in: the results as `scale.py` and `live.py` wrote them. Goes out: Markdown with tables and
pictures. Must not measure, nor know the day: the same results give the same page.

    python benchmarks/report.py          writes docs/speed.md anew
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from measured_glossary.chart import Chart, Mark, Row, draw

HERE = Path(__file__).resolve().parent
RESULTS, LIVE = HERE / "results.json", HERE / "live.json"
PAGE = HERE.parent / "docs" / "speed.md"
NAMES = {
    "ours": "ours", "material": "Material", "zensical": "Zensical", "hugo": "Hugo",
    "sphinx": "Sphinx", "one page": "Material, one page",
}  # fmt: skip
OPEN = "not measured"

Results = dict[str, Any]


# ── what was measured ────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Measured:
    """The results, with the questions that the page asks of them."""

    data: Results
    live: Results

    def rows(self, row: str, **wanted: Any) -> list[dict[str, Any]]:
        """Give the rows of a kind with these values, in the order in which they were measured."""
        found = (each for each in self.data["rows"] if each["row"] == row)
        return [each for each in found if all(each.get(k) == v for k, v in wanted.items())]

    def costs(self, name: str, size: int, kind: str, field: str = "wall_s") -> list[float]:
        """Give a cost of each round."""
        found = self.rows("build", name=name, size=size, kind=kind)
        return [float(each[field]) for each in found]

    def cost(self, name: str, size: int, kind: str, field: str = "wall_s") -> float | None:
        """Give the median of the rounds."""
        costs = self.costs(name, size, kind, field)
        return median(costs) if costs else None

    def ratio(self, size: int, ours: str, other: tuple[str, str]) -> float | None:
        """Give the median of the rounds' ratios: what disturbed a round disturbed both of it."""
        mine, theirs = self.costs("ours", size, ours), self.costs(other[0], size, other[1])
        pairs = list(zip(mine, theirs, strict=False))
        return median(a / b for a, b in pairs) if pairs else None

    def growth(
        self, name: str, kind: str, sizes: tuple[int, int], field: str = "wall_s"
    ) -> float | None:
        """Give how a cost grows as a power of the entries: the median of rounds in turn, if any."""
        of_both = [self.rows("growth", name=name, kind=kind, size=size) for size in sizes]
        rounds = zip(*([each[field] for each in rows] for rows in of_both), strict=False)
        medians = [self.cost(name, size, kind, field) for size in sizes]
        found = [power for pair in rounds if (power := _power(sizes, pair))]
        return median(found) if found else _power(sizes, medians)

    def output(self, name: str, size: int, field: str) -> float | None:
        """Give a size of the built site."""
        found = self.rows("output", name=name, size=size)
        return float(found[0][field]) if found else None

    @property
    def builds(self) -> list[tuple[str, str]]:
        """Each generator and kind of build, in the order in which they were run."""
        found = ((each["name"], each["kind"]) for each in self.rows("build"))
        return [pair for pair in dict.fromkeys(found) if pair[1] != "command"]


# ── aims ─────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Aim:
    """What was aimed at, and what came out; `None` where it was not measured."""

    what: str
    most: float
    found: float | None
    unit: str = ""

    def line(self) -> tuple[str, ...]:
        """Give the row of the table."""
        if self.found is None:
            return self.what, f"≤ {self.most:g}{self.unit}", OPEN, "–"
        is_met = "yes" if self.found <= self.most else "**no**"
        return self.what, f"≤ {self.most:g}{self.unit}", f"{_short(self.found)}{self.unit}", is_met


def aims(made: Measured) -> Iterator[Aim]:
    """Give every aim of the project's issue on speed."""
    yield Aim("cold / Material with areas in the nav, 1,000", 0.45,
              made.ratio(1000, "cold", ("material", "cold")))  # fmt: skip
    yield Aim("cold / Zensical cold, 1,000", 0.65,
              made.ratio(1000, "cold", ("zensical", "cold")))  # fmt: skip
    for size, zensical, hugo in ((1000, 0.08, 0.27), (5000, 0.04, 0.08)):
        yield Aim(f"one edit / Zensical with the same edit, {size:,}", zensical,
                  made.ratio(size, "one edit", ("zensical", "one edit")))  # fmt: skip
        yield Aim(f"one edit / Hugo’s full build, {size:,}", hugo,
                  made.ratio(size, "one edit", ("hugo", "cold")))  # fmt: skip
    yield Aim("one edit / a one-page Material site, 1,000", 1.5,
              made.ratio(1000, "one edit", ("one page", "cold")))  # fmt: skip
    yield from _growth_aims(made)
    held = made.cost("ours", 5000, "cold", "sum_mb")
    yield Aim("peak memory of all processes, cold, 5,000", 350, held, " MB")
    yield Aim("verification / a spawned ssh-keygen", 0.03, _verification(made.data))
    yield Aim("compressed search index / Material’s, 1,000", 0.06, _index(made, 1000))
    yield Aim("an edit shows in serve, 1,000", 0.7, _served(made, "ours", 1000), " s")
    adds_s = made.live["adds_s"]
    yield Aim("live measuring, beyond what is timed and the longest hang", 1.5, adds_s, " s")


def _growth_aims(made: Measured) -> Iterator[Aim]:
    sizes = (1000, 5000)
    for kind, most in (("cold", 1.05), ("one edit", 0.6)):
        found = made.growth("ours", kind, sizes)
        yield Aim(f"growth from 1,000 to 5,000, {kind}: exponent", most, found)
    found = _power(sizes, [made.output("ours", size, "bytes") for size in sizes])
    yield Aim("growth from 1,000 to 5,000, bytes: exponent", 1.02, found)


def _power(sizes: tuple[int, int], costs: Sequence[float | None]) -> float | None:
    """Give the exponent with which a cost grows between two sizes."""
    (small, large), (before, after) = sizes, costs
    return math.log(after / before) / math.log(large / small) if before and after else None


def _bounds(made: Measured) -> Iterator[str]:
    """Say what an aim would leave for all else, where a part of the work alone takes as much."""
    hugo, edit = made.cost("hugo", 5000, "cold"), made.cost("ours", 5000, "one edit")
    one_page, verify = made.cost("one page", 1000, "cold"), made.data["verify"]
    if hugo and edit and one_page and verify:
        alone_s = 2 * 5000 / verify["ours_per_s"]
        yield _BOUNDS.format(aim_s=0.08 * hugo, alone_s=alone_s, one_page_s=one_page, edit_s=edit)


_BOUNDS = """\
Every build verifies every signature. Of 5,000 entries these are 10,000: they alone keep one core
busy for {alone_s:.1f} s, where 0.08 of Hugo’s build are {aim_s:.1f} s; an edit takes
{edit_s:.1f} s, all included. A build of a single page with MkDocs, which has nothing to verify,
takes {one_page_s:.1f} s."""


def _verification(data: Results) -> float | None:
    said = data["verify"]
    return said["ssh_keygen_per_s"] / said["ours_per_s"] if said else None


def _index(made: Measured, size: int) -> float | None:
    ours, theirs = (made.output(name, size, "index_packed") for name in ("ours", "material"))
    return ours / theirs if ours and theirs else None


def _served(made: Measured, name: str, size: int) -> float | None:
    found = made.rows("serve", name=name, size=size)
    return median(found[0]["seconds"]) if found else None


# ── the page ─────────────────────────────────────────────────────────────────────────────────


def page(data: Results, live: Results) -> str:
    """Give the whole page."""
    made = Measured(data, live)
    parts = [
        _HEAD.format(**_said(data)),
        _table(("ratio or bound", "aim", "measured", "met"), (aim.line() for aim in aims(made))),
        *_bounds(made),
        *_pictures(made),
        "## Builds\n\n" + _BUILDS,
        *_build_tables(made),
        "## Growth\n\n" + _GROWTH + (_IN_TURN if made.rows("growth") else ""),
        _table(("generator", "build", "wall", "CPU"), _growth_lines(made)),
        "## What is built",
        _table(_OUTPUT_HEADS, _output_lines(made)),
        "## From saving to seeing\n\n" + _SERVE,
        _table(("generator", "entries", "median", "each"), _serve_lines(made)),
        "## Where the time goes\n\n" + _STAGES,
        _table(*_stage_table(made)),
        "## Measuring live\n\n" + _live(live),
        "## Commands",
        _table(("command", "entries", "wall", "CPU", "largest process"), _command_lines(made)),
        "## Signatures",
        _signatures(data),
        "## What was not run",
        "\n".join(f"- {left}" for left in data["not_run"]) or "Nothing was left out.",
        _FOOT,
    ]
    return "\n\n".join(parts) + "\n"


def _said(data: Results) -> dict[str, str]:
    machine = data["machine"]
    files = machine["files"]
    return {
        "day": data["day"],
        "rounds": _rounds(data),
        "machine": f"{machine['cores']} cores of an {machine['processor']}, "
        f"{machine['memory_gib']} GiB of memory, {machine['system']}, "
        f"files {'in memory' if files == 'tmpfs' else f'on a disk ({files})'}",
        "load": _load(data["load_before"], machine["cores"]),
        "versions": ", ".join(f"{name} {number}" for name, number in data["versions"].items()),
    }


def _rounds(data: Results) -> str:
    """Say how often each size was measured, the largest perhaps less often."""
    if data["rounds"] == 1:
        return "one round"
    again = {row["size"] for row in data["rows"] if row["row"] == "build" and row["round"]}
    once = " and ".join(f"{size:,}" for size in data["sizes"] if size not in again)
    return f"{data['rounds']} rounds" + (f" (one of {once} entries)" if once else "")


def _load(before: float, cores: int) -> str:
    """Say whether the machine was quiet; a busy one tells little in seconds."""
    if before < cores / 4:
        return "Nothing else ran on it."
    return f"**Other work ran on it** (load {before:.1f} before the start): trust no second here."


_HEAD = """\
<!-- Written by benchmarks/report.py from benchmarks/*.json. Change none of them by hand. -->

# Speed and scale

How long a glossary takes to build as it grows, beside other generators on the same pages. Every
entry is made up: 600 words, a table, a CUDA block of 25 lines, five links, two signatures. Ours
reads, checks and verifies the entries and renders them; the others get them expanded, as
`glossary export` writes them, with areas alone in the navigation.

Measured on {day}, {rounds} in which the generators took turns; a ratio is the median of the
rounds’ ratios. Machine: {machine}. {load} Versions: {versions}.

## Aims"""
_BUILDS = """\
*Cold* finds neither a site nor a cache; *no change* follows it; *one edit* adds a sentence to one
entry, which its two people sign anew. Material and Hugo have one kind of build, of everything.
Median of the rounds, with the least and the most. *Largest* is the resident memory of the largest
process, *all* what all processes held at a time, shared pages counted once."""
_BUILD_HEADS = ("generator", "build", "wall", "from – to", "CPU", "largest", "all")
_GROWTH = """\
The exponent *e* of time ∝ entries^*e* from one size to the next: 1 is linear, below 1 is better."""
_IN_TURN = """
From 1,000 to 5,000 ours was built in turn, once more, since a machine’s speed changes within
minutes: the median of the rounds’ exponents."""
_OUTPUT_HEADS = ("entries", "generator", "files", "site", "search index", "compressed")
_SERVE = """\
The seconds from writing an entry’s file until its page, asked for again and again, holds the new
sentence. *Ours* shows that page before all else is built, which follows when no edit came for two
seconds. Material alone has no entry here: its server builds everything, as it does cold."""
_STAGES = """\
CPU seconds of the engine’s own functions, called one after another without any cache. *All of a
site’s files* holds linking, backlinks, Markdown, feeds and cards again, as a build calls them.
*Python-Markdown* is what MkDocs does with them next; theme and writing of HTML come on top."""
_LIVE = """\
All {experiments} experiments of this glossary on an {machine}, on {measured}, their
kernels compiled beforehand (not once more for the tools): {live_s:.1f} s, where reading
their records takes {recorded_s:.1f} s. What is timed has the GPU alone, and so has what
returned at the last measurement: that took {alone_s:.1f} s. Of what may hang, {hung} cases did,
the longest until its limit of {longest_hang_s:.0f} s, while the others and all tools were at
work. The rest, {adds_s:.1f} s, is the median of {rounds} rounds ({least_s:.1f} to
{most_s:.1f} s)."""
_FOOT = """\
## Run it yourself

```console
pip install -e . zensical sphinx furo myst-parser
apt-get install hugo
python benchmarks/scale.py --sizes 100 1000 5000 10000
```

Without `--sizes` it builds 100 and 1,000 entries, in about a quarter of an hour. The ratios hold
on another machine, the seconds do not. `benchmarks/stages.py FOLDER` times the stages of any
glossary; `benchmarks/live.py FOLDER` measures it live, on a machine with a GPU."""


def _live(live: Results) -> str:
    adds = live["all_adds_s"]
    return _LIVE.format(**live, rounds=len(adds), least_s=min(adds), most_s=max(adds))


# ── tables ───────────────────────────────────────────────────────────────────────────────────


def _table(heads: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Give a table; its first column is words, numbers stand at the right."""
    made = [" | ".join(line) for line in lines]
    if not made:
        return f"*{OPEN.capitalize()}.*"
    borders = " | ".join("---" if head in _WORDS else "---:" for head in heads)
    return "\n".join(f"| {line} |" for line in (" | ".join(heads), borders, *made))


_WORDS = frozenset({"generator", "build", "command", "stage", "ratio or bound", "met", "each"})


def _build_tables(made: Measured) -> Iterator[str]:
    for size in made.data["sizes"]:
        yield f"### {size:,} entries\n\n{_table(_BUILD_HEADS, _build_lines(made, size))}"


def _build_lines(made: Measured, size: int) -> Iterator[tuple[str, ...]]:
    for name, kind in made.builds:
        if costs := made.costs(name, size, kind):
            yield (
                NAMES[name],
                kind,
                _seconds(median(costs)),
                f"{_short(min(costs))} – {_short(max(costs))}",
                _seconds(made.cost(name, size, kind, "cpu_s")),
                f"{made.cost(name, size, kind, 'largest_mb'):,.0f} MB",
                f"{made.cost(name, size, kind, 'sum_mb'):,.0f} MB",
            )


def _growth_lines(made: Measured) -> Iterator[tuple[str, ...]]:
    sizes = made.data["sizes"]
    for name, kind in made.builds if len(sizes) > 1 else ():
        if name != "one page":
            walls, cpus = (_exponents(made, name, kind, field) for field in ("wall_s", "cpu_s"))
            yield NAMES[name], kind, walls, cpus


def _exponents(made: Measured, name: str, kind: str, field: str) -> str:
    said = []
    for small, large in pairwise(made.data["sizes"]):
        power = made.growth(name, kind, (small, large), field)
        said.append(OPEN if power is None else f"{power:.2f} ({small:,} → {large:,})")
    return "; ".join(said)


def _output_lines(made: Measured) -> Iterator[tuple[str, ...]]:
    for each in made.rows("output"):
        has_index = each["index_bytes"] > 0
        yield (
            f"{each['size']:,}",
            NAMES[each["name"]],
            f"{each['files']:,}",
            _size(each["bytes"]),
            _size(each["index_bytes"]) if has_index else "none",
            _size(each["index_packed"]) if has_index else "none",
        )


def _serve_lines(made: Measured) -> Iterator[tuple[str, ...]]:
    for each in made.rows("serve"):
        every = ", ".join(map(_short, each["seconds"]))
        yield NAMES[each["name"]], f"{each['size']:,}", _seconds(median(each["seconds"])), every


def _stage_table(made: Measured) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    found = made.rows("stages")
    heads = ("stage", *(f"{each['size']:,} entries" for each in found), "one entry")
    lines = [
        (
            name,
            *(_seconds(each["seconds"][name]) for each in found),
            f"{1000 * found[-1]['seconds'][name] / found[-1]['size']:.2f} ms",
        )
        for name in (found[0]["seconds"] if found else ())
    ]
    return heads, lines


def _command_lines(made: Measured) -> Iterator[tuple[str, ...]]:
    for each in made.rows("build", kind="command"):
        held = f"{each['largest_mb']:,.0f} MB"
        wall, cpu = _seconds(each["wall_s"]), _seconds(each["cpu_s"])
        yield f"`{each['name']}`", f"{each['size']:,}", wall, cpu, held


def _signatures(data: Results) -> str:
    said = data["verify"]
    if not said:
        return "There is no `ssh-keygen` to compare with."
    agree = "gave the same verdicts" if said["agree"] else "**disagreed**"
    return (
        f"In process {said['ours_per_s']:,.0f} Ed25519 signatures a second, by a spawned "
        f"`ssh-keygen` {said['ssh_keygen_per_s']:,.0f}. Both {agree} on a good signature, another "
        "key’s, another role’s and one over other bytes. Every build verifies every signature: no "
        "verdict is kept."
    )


def _seconds(value: float | None) -> str:
    return OPEN if value is None else f"{_short(value)} s"


def _short(value: float) -> str:
    """Give two or three significant digits."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}" if value >= 0.1 else f"{value:.2g}"


def _size(count: float) -> str:
    return f"{count / 1e6:,.1f} MB" if count >= 1e6 else f"{count / 1e3:,.1f} kB"


# ── pictures ─────────────────────────────────────────────────────────────────────────────────


def _pictures(made: Measured) -> Iterator[str]:
    """Give a picture of each size from 1,000 on with more than one generator, or of the largest."""
    sizes = made.data["sizes"]
    rows = {size: tuple(_picture_rows(made, size)) for size in sizes}
    for size in [size for size in sizes if size >= 1000 and len(rows[size]) > 1] or sizes[-1:]:
        title = f"Seconds to build {size:,} entries, cold and after one edit"
        chart = Chart(
            title=title,
            key="Generator",
            axis="Wall seconds",
            series=("cold", "one edit"),
            rows=rows[size],
        )
        said = f"<figcaption><strong>{title}.</strong> {_DOT}</figcaption>"
        svg = draw(chart, ident=f"speed-{size}")
        yield f'<figure class="mg-figure">\n{said}\n{svg}\n</figure>'


_DOT = "A dot is the median of the rounds, the band behind it their range."


def _picture_rows(made: Measured, size: int) -> Iterator[Row]:
    names = dict.fromkeys(name for name, _ in made.builds if name != "one page")
    for name in names:
        cold = made.costs(name, size, "cold")
        edit = made.costs(name, size, "one edit")
        if cold:
            second = _mark(edit) if edit else _mark(cold, ", all anew")
            yield Row(label=NAMES[name], marks=(_mark(cold), second))


def _mark(costs: Sequence[float], more: str = "") -> Mark:
    middle = median(costs)
    words = f"{_seconds(middle)}{more}"
    return Mark(low=min(costs), middle=middle, high=max(costs), words=words, quiet=bool(more))


def main() -> int:
    """Write the page from the committed results."""
    made = page(*(json.loads(file.read_text(encoding="utf-8")) for file in (RESULTS, LIVE)))
    PAGE.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
