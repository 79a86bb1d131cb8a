"""How an entry is cited: as a line of text, for BibTeX, and as a citation file (CFF).

Comes in: a `Published`, the glossary's title and the page's address. Goes out: text. Must not know
the page it stands on.
"""

from __future__ import annotations

import json
import re

from measured_glossary.published import Published

_MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_TEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}


def plain(entry: Published, title: str, url: str) -> str:
    """Give one line: authors, day, question, glossary, reviewers, address, digest."""
    return (
        f"{_names(entry)} ({entry.published_on}): {entry.question} In: {title}. "
        f"Reviewed by {_reviewers(entry)}.{f' {url}.' if url else ''} "
        f"Manifest SHA-256 {entry.manifest}."
    )


def bibtex(entry: Published, title: str, url: str) -> str:
    """Give a BibTeX item; its key holds the digest, so two versions are two items."""
    day = entry.published_on
    fields = {
        "author": "{" + " and ".join(f"{{{_tex(said.name)}}}" for said in entry.authors) + "}",
        "title": f"{{{{{_tex(entry.question)}}}}}",
        "howpublished": f"{{{_tex(title)}}}",
        "year": f"{{{day.year}}}",
        "month": _MONTHS[day.month - 1],
        "url": f"{{{url}}}" if url else "",
        "note": f"{{Reviewed by {_tex(_reviewers(entry))}. Manifest SHA-256 {entry.manifest}}}",
    }
    lines = [f"  {name:<12} = {value}," for name, value in fields.items() if value]
    return "\n".join([f"@misc{{{entry.id}-{entry.manifest[:8]},", *lines, "}"])


def cff(entry: Published, title: str, url: str) -> str:
    """Give a citation file, format 1.2.0; a JSON string is a YAML string whatever it holds."""
    lines = [
        "cff-version: 1.2.0",
        f"message: {_yaml(f'Cite this entry of {title} as below.')}",
        f"title: {_yaml(entry.question)}",
        "authors:",
        *(f"  - name: {_yaml(said.name)}" for said in entry.authors),
        f"date-released: {entry.published_on}",
        f"version: {_yaml(entry.manifest[:12])}",
        *([f"url: {_yaml(url)}"] if url else []),
        "identifiers:",
        "  - type: other",
        f"    value: {_yaml(f'sha256:{entry.manifest}')}",
        "    description: Digest of the manifest that author and reviewer signed.",
    ]
    return "\n".join(lines)


def _names(entry: Published) -> str:
    return " and ".join(said.name for said in entry.authors)


def _reviewers(entry: Published) -> str:
    return " and ".join(f"{said.name} on {said.on}" for said in entry.reviews)


def _tex(text: str) -> str:
    return re.sub(r"[\\~^{}$&#_%]", lambda sign: _TEX.get(sign[0], f"\\{sign[0]}"), text)


def _yaml(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
