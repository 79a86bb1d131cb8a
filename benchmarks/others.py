"""The same expanded Markdown for plain Material, Zensical, Hugo, and Sphinx with furo.

Comes in: a glossary project, judged and exported by the project's own code. Goes out: a folder that
one of them builds, areas alone in its navigation. Must not favour anybody: every generator gets the
same pages, highlights code and shows a table of contents.
"""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import generate

from measured_glossary import export, pipeline
from measured_glossary.lab.settings import Settings as LabSettings

Files = dict[str, bytes]
GENERATORS = ("material", "zensical", "hugo", "sphinx")
_TITLE = "Made-up glossary"


def expanded(project: Path) -> Files:
    """Give the pages of a project as `glossary export` writes them, by where they stand."""
    settings = pipeline.Settings(lab=LabSettings(measure="recorded", cache=project / ".cache"))
    glossary = pipeline.build(project, settings, datetime.datetime.now(datetime.UTC).date())
    pipeline.refuse_wrong_evidence(glossary)
    site = export.Site(glossary=glossary, settings=export.read_settings(project, "", {}))
    made = export.files(site) | _area_pages(glossary)
    return {name: raw for name, raw in made.items() if name.startswith("docs/")}


def _area_pages(glossary: pipeline.Glossary) -> Files:
    """Give a page for each area: all that stands in the navigation."""
    areas: dict[str, list[str]] = {}
    for judged in glossary.published():
        if judged.entry:
            front = judged.entry.front
            line = f"- [{front.term}](../glossary/{judged.id}/index.md)"
            areas.setdefault(front.area, []).append(line)
    return {
        f"docs/areas/{_slug(area)}.md": f"# {area}\n\n{chr(10).join(lines)}\n".encode()
        for area, lines in sorted(areas.items())
    }


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def adapt(pages: Mapping[str, bytes], generator: str) -> Files:
    """Give the files of a generator's project; `page_of` says where an entry's page stands."""
    return dict(_ADAPTERS[generator](pages))


def page_of(entry_id: str, generator: str) -> str:
    """Give the file of an entry's page in a generator's project."""
    top = "content" if generator == "hugo" else "docs"
    return f"{top}/glossary/{entry_id}/index.md"


def _areas(pages: Mapping[str, bytes]) -> list[tuple[str, str]]:
    """Give each area's title and where its page stands, below the sources."""
    return [
        (raw.decode().split("\n", 1)[0].removeprefix("# "), name.removeprefix("docs/"))
        for name, raw in sorted(pages.items())
        if name.startswith("docs/areas/")
    ]


# ── MkDocs with Material, and Zensical ───────────────────────────────────────────────────────


def _material(pages: Mapping[str, bytes]) -> Iterator[tuple[str, bytes]]:
    yield from pages.items()
    settings = generate.MKDOCS.replace("  - measured_glossary.markdown\n", "")
    areas = "".join(f"  - {json.dumps(title)}: {uri}\n" for title, uri in _areas(pages))
    index = "  - Glossary: glossary/index.md\n" if "docs/glossary/index.md" in pages else ""
    nav = f"nav:\n  - Home: index.md\n{index}{areas}"
    style = "extra_css: [assets/measured-glossary/glossary.css]\n"
    yield "mkdocs.yml", f"{settings}{nav}plugins: [search]\n{style}".encode()


# ── Hugo, with a theme of our own ────────────────────────────────────────────────────────────


def _hugo(pages: Mapping[str, bytes]) -> Iterator[tuple[str, bytes]]:
    for name, raw in pages.items():
        below = name.removeprefix("docs/")
        if not name.endswith(".md"):
            yield f"static/{below}", raw
        elif below in ("index.md", "glossary/index.md"):
            yield f"content/{below.replace('index.md', '_index.md')}", raw
        else:
            yield f"content/{below}", _with_title(raw)
    menu = "".join(
        f'[[menu.main]]\nname = {json.dumps(title)}\nurl = "/{uri.removesuffix(".md")}/"\n'
        for title, uri in _areas(pages)
    )
    yield "config.toml", (_HUGO + menu).encode()
    for name, text in _LAYOUTS.items():
        yield f"layouts/_default/{name}", text.encode()


def _with_title(raw: bytes) -> bytes:
    """Give a page with a title in its front matter, where Hugo looks for one."""
    if raw.startswith(b"---\n"):
        return raw
    title, _, body = raw.decode().partition("\n")
    return f"---\ntitle: {json.dumps(title.removeprefix('# '))}\n---\n{body}".encode()


_HUGO = f"""\
baseURL = "https://made-up.example/"
title = "{_TITLE}"
disableKinds = ["taxonomy", "term", "RSS"]
[markup.goldmark.renderer]
unsafe = true
[markup.highlight]
noClasses = false
lineNos = false
"""
_PAGE = '{{ define "main" }}<aside>{{ .TableOfContents }}</aside>{{ .Content }}{{ end }}\n'
_LAYOUTS = {
    "baseof.html": """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<title>{{ .Title }}</title>
<link rel="canonical" href="{{ .Permalink }}">
<link rel="stylesheet" href="/assets/measured-glossary/glossary.css">
{{ with index .Params "glossary-verdict" }}<meta name="glossary-verdict" content="{{ . }}">{{ end }}
{{ with .Params.head_tags }}{{ . | safeHTML }}{{ end }}
</head>
<body>
<nav>{{ range site.Menus.main }}<a href="{{ .URL }}">{{ .Name }}</a> {{ end }}</nav>
<main>{{ block "main" . }}{{ end }}</main>
</body>
</html>
""",
    "single.html": _PAGE,
    "list.html": _PAGE,
    "_markup/render-link.html": (
        '<a href="{{ replace .Destination "index.md" "" | safeURL }}"'
        '{{ with .Title }} title="{{ . }}"{{ end }}>{{ .Text | safeHTML }}</a>'
    ),
}


# ── Sphinx with furo ─────────────────────────────────────────────────────────────────────────


def _sphinx(pages: Mapping[str, bytes]) -> Iterator[tuple[str, bytes]]:
    for name, raw in pages.items():
        is_entry = name.startswith("docs/glossary/") and name.endswith(".md")
        yield name, raw.replace(b"---\n", b"---\norphan: true\n", 1) if is_entry else raw
    tree = "\n".join(uri.removesuffix(".md") for _, uri in _areas(pages))
    home = f"# {_TITLE}\n\n```{{toctree}}\n{tree}\n```\n"
    yield "docs/index.md", home.encode()
    yield "docs/conf.py", _CONF.encode()


_CONF = f"""\
project = "{_TITLE}"
extensions = ["myst_parser"]
html_theme = "furo"
myst_heading_anchors = 3
suppress_warnings = ["myst", "misc.highlighting_failure", "toc"]
exclude_patterns = []
"""

_ADAPTERS: Mapping[str, Callable[[Mapping[str, bytes]], Iterator[tuple[str, bytes]]]] = {
    "material": _material,
    "zensical": _material,
    "hugo": _hugo,
    "sphinx": _sphinx,
}
