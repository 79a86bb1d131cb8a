"""The published site as a project that a generator without our plugin builds.

Comes in: a `Glossary`, the site's settings and a folder. Goes out: files in it: `docs/` is plain
Markdown for any generator, the rest is what Zensical and MkDocs read. Must not write a draft, nor
into a folder that holds anything else.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from measured_glossary import metadata, website, zensical
from measured_glossary.address import Address
from measured_glossary.backlinks import Written, hand_written
from measured_glossary.body import escape_identifiers
from measured_glossary.metadata import Head, Public
from measured_glossary.path import PATHS
from measured_glossary.pipeline import Glossary
from measured_glossary.problem import Place, Problem, Refused
from measured_glossary.published import Published
from measured_glossary.source import read
from measured_glossary.trust.folder import ENTRIES
from measured_glossary.zensical import DOCS, Settings

_ELSEWHERE = (f"{website.ASSETS}/search.js",)  # another generator has a search of its own
_MATTER = "---\n"
_FRONT = re.compile(r"---[ \t]*\n(.*?\n)(?:---|\.\.\.)[ \t]*\n", re.DOTALL)
_SOURCES = (ENTRIES, "code", "measurements", PATHS)
_TITLE = re.compile(r'^title: (".*")$', re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """What is exported: the glossary, and the settings of the site that shows it."""

    glossary: Glossary
    settings: Settings

    @property
    def docs(self) -> Path:
        """The folder of the hand-written pages."""
        return self.glossary.root / self.settings.docs_dir

    @property
    def address(self) -> Address | None:
        """Where the site will stand, if its settings say so; pages have no Markdown beside them."""
        url, has_folders = self.settings.site_url, self.settings.has_folders
        return Address(base=url, has_folders=has_folders, has_sources=False) if url else None


def read_settings(root: Path, title: str, environ: Mapping[str, str]) -> Settings:
    """Read the site's settings; a glossary without a site gets those of a plain one."""
    if not (root / zensical.CONFIG).is_file():
        return Settings(data={"site_name": title})
    source = read(root, zensical.CONFIG)
    settings = zensical.read_settings(source.value, environ) if source.value else None
    if settings is None or settings.value is None:
        raise Refused(settings.problems if settings else source.problems)
    return settings.value


def write(site: Site, folder: Path) -> tuple[str, ...]:
    """Write every file below a new or empty folder, all of them or none; give their names."""
    sources = (site.docs, *(site.glossary.root / name for name in _SOURCES))
    if any(folder.resolve().is_relative_to(source.resolve()) for source in sources):
        raise Refused([_problem(folder, "folder-not-empty", _AMONG, "name a folder elsewhere")])
    made = files(site)
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise Refused([_problem(folder, "folder-not-empty", _NOT_EMPTY, "name a new folder")])
        _write_all(made, folder.resolve())
    except OSError as error:
        message = f"cannot be written: {error.strerror}"
        raise Refused([_problem(folder, "cannot-write", message, "name another folder")]) from None
    return tuple(sorted(made))


# ── what is written ──────────────────────────────────────────────────────────────────────────


def files(site: Site) -> dict[str, bytes]:
    """Give every file of the exported project, by where it stands."""
    whole = website.website(site.glossary, site.docs, drafts=False, address=site.address)
    made = {name: raw for name, raw in _files_below(site.docs) if not _is_page(name)}
    made |= {out.uri: _bytes(out.content) for out in whole.outputs if not _is_page(out.uri)}
    made |= {page.uri: _bytes(page.markdown) for page in _pages(site, whole)}
    return {**{f"{DOCS}/{name}": made[name] for name in sorted(made)}, **dict(_frame(site))}


def _bytes(content: str | bytes) -> bytes:
    return content.encode("utf-8") if isinstance(content, str) else content


def _frame(site: Site) -> Iterator[tuple[str, bytes]]:
    """Give the settings and the templates."""
    custom, extends = site.settings.custom_dir, "base.html"
    for name, raw in _files_below(site.glossary.root / custom) if custom else ():
        yield zensical.template_name(name), raw
        extends = zensical.SITES_OWN if name == zensical.MAIN else extends
    main = zensical.template(extends=extends)
    yield f"{zensical.OVERRIDES}/{zensical.MAIN}", main.encode("utf-8")
    scripts = [script for script in website.SCRIPTS if script not in _ELSEWHERE]
    settings = zensical.project(
        site.settings, styles=website.STYLESHEETS, scripts=scripts, apart=website.RESERVED
    )
    yield zensical.CONFIG, settings.encode("utf-8")


def _pages(site: Site, whole: website.Website) -> Iterator[Written]:
    """Give every page, each with what its head says."""
    public, entries = whole.public, whole.published
    by_uri = {website.entry_uri(entry_id): entry for entry_id, entry in entries.items()}
    for page in (*_generated(whole.outputs), *_written(site, whole)):
        tags = _tags(page, public, by_uri.get(page.uri), site) if public else ""
        yield replace(page, markdown=with_head(page.markdown, tags))


def _generated(outputs: Sequence[website.Output]) -> Iterator[Written]:
    for output in outputs:
        if _is_page(output.uri) and isinstance(content := output.content, str):
            title = json.loads(found[1]) if (found := _TITLE.search(content)) else ""
            yield Written(uri=output.uri, title=title, markdown=content)


def _written(site: Site, whole: website.Website) -> Iterator[Written]:
    """Give the hand-written pages with their figures and their terms, as the site shows them."""
    for source, page in hand_written(site.docs):
        matter, body = _split(source.text)
        linked = website.link_terms(whole, page.uri, body)
        shown = escape_identifiers(linked) if site.settings.keeps_names else linked
        yield Written(uri=page.uri, title=page.title, markdown=matter + shown)


def _split(text: str) -> tuple[str, str]:
    """Give a page's front matter between plain borders, and its body; MkDocs takes odd ones too."""
    text = text.replace("\r\n", "\n")
    found = _FRONT.match(text)
    return (f"{_MATTER}{found[1]}{_MATTER}", text[found.end() :]) if found else ("", text)


def _is_page(uri: str) -> bool:
    return uri.endswith(".md")


# ── a page's head ────────────────────────────────────────────────────────────────────────────


def _tags(page: Written, public: Public, entry: Published | None, site: Site) -> str:
    """Give the tags of a page's head; of a page that is no longer published nothing is said."""
    if "\nglossary-entry:" in page.markdown and entry is None:
        return ""
    title = site.settings.titles().get(page.uri, page.title)
    head = Head(
        uri=page.uri,
        title=site.settings.site_name if page.uri == "index.md" else title,
        description=entry.answer if entry else str(site.settings.data.get("site_description", "")),
        entry=entry,
        has_canonical=True,
    )
    return metadata.tags(head, public)


def with_head(markdown: str, tags: str) -> str:
    """Give a page with the tags of its head in its front matter, where a template finds them."""
    if not tags:
        return markdown
    quoted = tags.replace("'", "''")
    line = f"{zensical.HEAD}: '{quoted}'\n"
    if markdown.startswith(_MATTER):
        return _MATTER + line + markdown.removeprefix(_MATTER)
    return f"{_MATTER}{line}{_MATTER}\n{markdown}"


# ── the disk ─────────────────────────────────────────────────────────────────────────────────


def _files_below(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Give the plain files of a folder, without what is hidden."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if path.is_file() and not any(part.startswith(".") for part in name.parts):
            yield name.as_posix(), path.read_bytes()


_NOT_EMPTY = "exists and is not an empty folder"
_AMONG = "stands among what is exported, and would be a part of the next build"


def _problem(folder: Path, code: str, message: str, hint: str) -> Problem:
    return Problem(place=Place(folder.resolve().name or "/"), code=code, message=message, hint=hint)


def _write_all(made: Mapping[str, bytes], folder: Path) -> None:
    """Write beside the folder first; it gets its name when all is there."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".export-") as scratch:
        whole = Path(scratch) / "all"
        for name, content in made.items():
            path = whole / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        if folder.exists():
            folder.rmdir()
        whole.rename(folder)
