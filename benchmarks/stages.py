"""Where the time of a build goes: the engine's own functions, called one after another and timed.

Comes in: the folder of a glossary. Goes out: seconds for each stage. Must not be run under a
profiler: the calls that it would count are what is measured.

    python benchmarks/stages.py FOLDER
"""

from __future__ import annotations

import argparse
import datetime
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from markdown import Markdown
from mkdocs.config import load_config
from mkdocs.config.defaults import MkDocsConfig

from measured_glossary import backlinks, catalogue, feeds, page, pipeline, search, terms, website
from measured_glossary.address import Address
from measured_glossary.expression import evaluate, names_of
from measured_glossary.lab.settings import Settings as LabSettings
from measured_glossary.metadata import Public
from measured_glossary.pipeline import Glossary
from measured_glossary.trust import signoff

ADDRESS = Address(base="https://made-up.example/")
SAMPLE = 200  # pages that Python-Markdown converts; the rest would take the same


class Clock:
    """CPU seconds of this process by stage: what else the machine does is not in them."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Time what is done inside."""
        begun = time.process_time()
        yield
        self.seconds[name] = time.process_time() - begun


def seconds(root: Path) -> dict[str, float]:
    """Give the seconds of each stage of a build of everything, one process, without any cache."""
    clock = Clock()
    today = datetime.datetime.now(datetime.UTC).date()
    settings = pipeline.Settings(lab=LabSettings(measure="recorded", cache=root / ".cache"))
    with clock.stage("read and parse"):
        started = pipeline.start(root, settings)
    drafts = [draft for draft in started.drafts if draft.entry]
    with clock.stage("sign-off"):
        for draft in drafts:
            evidence = pipeline.signing_evidence(draft, ())
            signoff.judge(evidence, started.registry, today)
    with clock.stage("expand"):
        shown = page.Evidence(studies=(), evaluate=partial(evaluate, names=names_of(())))
        for draft in drafts:
            page.expand(draft.entry, shown)  # type: ignore[arg-type] # filtered above
    _pages(clock, root, pipeline.finish(started, today))
    return clock.seconds


def _pages(clock: Clock, root: Path, glossary: Glossary) -> None:
    bodies = [(judged.id, judged.body) for judged in glossary.published()]
    with clock.stage("vocabulary"):
        known = catalogue.terms(glossary, drafts=False)
    with clock.stage("link terms"):
        for entry_id, body in bodies:
            terms.link(body, known, page=website.entry_uri(entry_id), own=entry_id)
    with clock.stage("backlinks"):
        pages = [_written(*each) for each in bodies]
        backlinks.mentions((page, backlinks.named(page.markdown, known)) for page in pages)
    with clock.stage("render Markdown"):
        for judged in glossary.published():
            page.render(judged, _context(judged))
    public = catalogue.public(glossary, ADDRESS)
    with clock.stage("search"):
        search.documents(glossary, drafts=False, has_folders=True)
    with clock.stage("feeds and data"):
        for write in feeds.files().values():
            write(public)
    _cards(clock, public)
    _site(clock, root, glossary)


def _written(entry_id: str, body: str) -> backlinks.Written:
    uri = website.entry_uri(entry_id)
    return backlinks.Written(uri=uri, title=entry_id, markdown=body, own=entry_id)


def _context(judged: pipeline.Judged) -> page.PageContext:
    site = page.Site(title="Made-up glossary", index_url="../index.md")
    return page.PageContext(
        site=site, verdict=judged.verdict, signoff=judged.signoff, others={}, cited=()
    )


def _cards(clock: Clock, public: Public) -> None:
    with clock.stage("cards"):
        for entry in public.entries:
            catalogue.card_of(entry, public.title)[1]()


def _site(clock: Clock, root: Path, glossary: Glossary) -> None:
    with clock.stage("all of a site's files"):
        made = website.outputs(glossary, root / "docs", drafts=False, address=ADDRESS)
    texts = [out.content for out in made if isinstance(out.content, str) and _is_entry(out.uri)]
    config = load_config(str(root / "mkdocs.yml"))
    sample = texts[:SAMPLE]
    with clock.stage("Python-Markdown"):
        for text in sample:
            _convert(config, text)
    clock.seconds["Python-Markdown"] *= len(texts) / max(1, len(sample))
    with tempfile.TemporaryDirectory() as folder, clock.stage("write"):
        _write(Path(folder), made)


def _convert(config: MkDocsConfig, text: str) -> None:
    """Convert a page as MkDocs does: with a new converter for each."""
    extensions, options = config.markdown_extensions, config.mdx_configs
    Markdown(extensions=extensions, extension_configs=options).convert(text)


def _is_entry(uri: str) -> bool:
    return uri.startswith("glossary/") and uri.endswith("/index.md") and uri.count("/") == 2


def _write(folder: Path, made: tuple[website.Output, ...]) -> None:
    for output in made:
        path = folder / output.uri
        path.parent.mkdir(parents=True, exist_ok=True)
        content = output.content
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def main() -> int:
    """Print the CPU seconds of each stage, and milliseconds an entry."""
    parser = argparse.ArgumentParser(description="Time the stages of a build.")
    parser.add_argument("folder", type=Path)
    root = parser.parse_args().folder.resolve()
    count = sum(1 for _ in root.glob("glossary/*/entry.md"))
    for name, spent in seconds(root).items():
        print(f"{name:<32} {spent:8.2f} s {1000 * spent / count:8.3f} ms an entry")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
