"""The second fence: canaries of a draft in every kind of file, and pages that lie."""

from __future__ import annotations

import base64
import gzip
import hashlib
import html
import io
import json
import os
import re
import shutil
import struct
import time
import unicodedata
import urllib.parse
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from measured_glossary.audit import (
    _ELEMENT,
    _USUAL,
    Expectation,
    PublicEntry,
    _marks,
    _outside_code,
    audit,
)
from measured_glossary.scan import scan
from measured_glossary.trace import hits, literals, look_for, spotted, texts, traces
from test_growth import steps_of

MANIFEST = "ab" * 32


def packed(raw: bytes, *, times: int) -> bytes:
    """Pack bytes again and again."""
    for _ in range(times):
        raw = gzip.compress(raw, mtime=0)
    return raw


def png(text: str) -> bytes:
    """Make a tiny picture with a text chunk, and the same text in a packed one."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        crc = struct.pack(">I", zlib.crc32(kind + body))
        return struct.pack(">I", len(body)) + kind + body + crc

    comment = b"Comment\0\0" + zlib.compress(f"{text} packedcanary".encode())
    return b"".join(
        [
            b"\x89PNG\r\n\x1a\n",
            chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)),
            chunk(b"tEXt", b"Title\0" + text.encode()),
            chunk(b"zTXt", comment),
            chunk(b"IDAT", zlib.compress(b"\0\0")),
            chunk(b"IEND", b""),
        ]
    )


DRAFT = """\
---
term: Titlecanary barrier
question: What does questioncanary do in CUDA?
answer: It is answercanary and a plain sentence of ordinary words that stands nowhere else.
aliases: [aliascanary]
claims: [claim_of_canary]
---

Every proseword here is ordinary but the order of these words is the draft's alone.
The proseword *canary-prose* stands here, and a picture ![altcanary of a tile](figurecanary.png).
"""
KERNEL = "__global__ void kernelcanary(float* out) { out[0] = canary_value_one; }\n"
PUBLIC = """\
Every reader of these pages knows the words that are ordinary here: a plain sentence, a picture of
a tile, the order in which it stands, the draft alone and nowhere else.
"""

PAGE = """\
<html><head>
<meta name="glossary-entry" content="open-entry">
<meta name="glossary-verdict" content="published">
<meta name="glossary-manifest" content="{manifest}">
</head><body><p>{text}</p>
<dl class="mg-byline"><dt>Written by</dt><dd>Test Author</dd><dd>Test Reviewer</dd></dl>
</body></html>
"""


@pytest.fixture
def expected() -> Expectation:
    """Give what a tree may hold: one published entry, and a draft of which nothing may be seen."""
    names = ("Test Author", "Test Reviewer")
    return Expectation(
        public={
            "open-entry": PublicEntry(verdict="published", manifest=MANIFEST, names=names),
        },
        hidden={
            "draft-entry": {
                "glossary/draft-entry/entry.md": DRAFT.encode(),
                "glossary/draft-entry/figurecanary.png": png("metacanary"),
                "code/draft-lab/kernelfile.cu": KERNEL.encode(),
            }
        },
        known={"docs/index.md": PUBLIC.encode(), "page.html": PAGE.encode()},
    )


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Give a tree that may be deployed."""
    write(tmp_path, "index.html", PUBLIC)
    write(tmp_path, "glossary/index.html", "<p>Every entry</p>")
    page = PAGE.format(manifest=MANIFEST, text=PUBLIC)
    write(tmp_path, "glossary/open-entry/index.html", page)
    return tmp_path


def write(site: Path, name: str, content: str | bytes) -> None:
    """Put a file into a tree."""
    path = site / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)


def codes(site: Path, expected: Expectation) -> set[str]:
    """Give the codes of an audit."""
    return {problem.code for problem in audit(site, expected)}


def test_a_clean_tree_passes(site: Path, expected: Expectation) -> None:
    """A tree with the published page and ordinary words has no problems."""
    assert audit(site, expected) == ()


# ── canaries ─────────────────────────────────────────────────────────────────────────────────

CANARIES = {
    "a word of the title": "titlecanary",
    "a word of the question": "questioncanary",
    "a word of the answer": "answercanary",
    "an alias": "aliascanary",
    "a claim's name": "claim_of_canary",
    "a word of the prose": "canary",
    "a word of the alternative text": "altcanary",
    "a kernel's name": "kernelcanary",
    "an identifier in code": "canary_value_one",
    "a figure's file name": "figurecanary",
    "a code file's name": "kernelfile",
    "a picture's metadata": "metacanary",
    "a picture's packed metadata": "packedcanary",
    "a phrase of ordinary words": "plain sentence of ordinary words that stands nowhere",
    "another phrase of ordinary words": "ordinary but the order of these words",
    "the address of its page": "https://example.org/glossary/draft-entry/",
    "a relative address of its page": '<a href="../draft-entry/">x</a>',
    "the address of its experiment": "https://example.org/experiments/draft-lab/",
}

Put = Callable[[Path, str], None]


def _json(site: Path, text: str) -> None:
    docs = [{"location": "a/", "text": f"<p>{text}</p>", "title": "x"}]
    write(site, "search/search_index.json", json.dumps({"docs": docs}, ensure_ascii=True))


def _escaped_json(site: Path, text: str) -> None:
    escaped = "".join(f"\\u{ord(char):04x}" for char in text)
    write(site, "data.json", f'{{"a": ["{escaped}"]}}')


def _script(site: Path, text: str) -> None:
    write(site, "assets/index.js", f"var index = {json.dumps(text)};")


def _escaped_script(site: Path, text: str) -> None:
    escaped = "".join(f"\\x{ord(char):02x}" for char in text)
    write(site, "assets/index.js", f"var index = '{escaped}';")


def _zip(site: Path, text: str) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("inner.txt", text)
    write(site, "download.zip", stream.getvalue())


def _inline(site: Path, text: str) -> None:
    data = base64.b64encode(f"<svg><title>{html.escape(text)}</title></svg>".encode()).decode()
    write(site, "style.css", f"a{{background:url(data:image/svg+xml;base64,{data})}}")


def _between_tags(site: Path, text: str) -> None:
    words = text.split(" ")
    write(site, "page.html", "<p>" + "</b> <b>".join(words) + "</p>")


def _entities(site: Path, text: str) -> None:
    write(site, "page.html", "".join(f"&#{ord(char)};" for char in text))


WAYS: dict[str, Put] = {
    "a page": lambda site, text: write(site, "page/index.html", f"<p>{text}</p>"),
    "a page in capitals": lambda site, text: write(site, "page.html", text.upper()),
    "a page's tags": _between_tags,
    "a page's entities": _entities,
    "an attribute": lambda site, text: write(
        site, "page.html", f"<a data-tip='{html.escape(text)}'>x</a>"
    ),
    "a comment": lambda site, text: write(site, "page.html", f"<!-- {text} -->"),
    "a script in a page": lambda site, text: write(
        site, "page.html", f"<script>const a = {json.dumps(text)}</script>"
    ),
    "the search index": _json,
    "escaped JSON": _escaped_json,
    "a script": _script,
    "an escaped script": _escaped_script,
    "a feed": lambda site, text: write(
        site, "feed.xml", f"<item><description>{html.escape(text)}</description></item>"
    ),
    "the sitemap": lambda site, text: write(site, "sitemap.xml", f"<loc>{text}</loc>"),
    "the packed sitemap": lambda site, text: write(
        site, "sitemap.xml.gz", gzip.compress(text.encode(), mtime=0)
    ),
    "a packed file of another name": lambda site, text: write(
        site, "blob", gzip.compress(text.encode(), mtime=0)
    ),
    "an archive": _zip,
    "an inline picture": _inline,
    "a picture's text": lambda site, text: write(site, "assets/card.png", png(text)),
    "exported Markdown": lambda site, text: write(site, "page.md", f"# {text}\n"),
    "a data file": lambda site, text: write(site, "data.csv", f"a,b\n1,{text}\n"),
    "a file without a suffix": lambda site, text: write(site, "CNAME", text),
    "a copied kernel": lambda site, text: write(site, "code/x.cu", f"// {text}\n"),
}
# An address in capitals is another address; and one that is cut by markup is none.
NOT_FOR_ADDRESSES = {"a page in capitals", "a page's tags"}


@pytest.mark.parametrize("canary", CANARIES)
def test_a_canary_is_found_wherever_it_stands(
    site: Path, expected: Expectation, canary: str
) -> None:
    """Every trace of a draft is found in every kind of file, packed and escaped ones too."""
    text = CANARIES[canary]
    for way, put in WAYS.items():
        if "/" in text and (way in NOT_FOR_ADDRESSES or "href" in text):
            continue
        before = {path for path in site.rglob("*") if path.is_file()}
        put(site, text)
        found = codes(site, expected)
        assert "audit-leak" in found, f"{canary} in {way}"
        for path in {path for path in site.rglob("*") if path.is_file()} - before:
            path.unlink()


HIDDEN_IN: dict[str, str | bytes] = {
    "a tag with a sign in its value": 'titlecan<i title="a>b">ary',
    "a tag with a sign in another value": "titlecan<i a='x' title = '>>'>ary",
    "a tag with an escaped sign in its value": 'titlecan<i title="a&gt;b">ary',
    "a tag with an escaped quote in its value": 'titlecan<i title="a&quot;>b">ary',
    "a comment with a sign in it": "titlecan<!-- > -->ary",
    "a comment with a tag in it": "titlecan<!-- x\n<b> -->ary",
    "a comment with a quote in it": "titlecan<!-- it's <b> --!>ary",
    "soft hyphens": "ti&shy;tle&shy;can\u00adary",
    "signs without width": "ti\u200btle\u2060can\ufeffary",
    "signs without width, and many others": "".join(map(chr, range(0x4E00, 0x4E80)))
    + " ti\u200btle\u2060can\ufeffary",
    "full-width letters": "".join(chr(ord(letter) + 0xFEE0) for letter in "titleCANARY"),
    "letters with accents of their own": "ti\u0301tlecanary",
    "a program's long escapes": "'\\u{74}\\u{000069}tlecanary'",
    "a program's octal escapes": r"'\164\151tlecanary'",
    "a style sheet's escapes": r"'\74 \000069tle\63 anary'",
    "a picture's wide text": png("x") + "titlecanary".encode("utf-16-le") + b"\0x",
    "a picture's other wide text": png("x") + b"x" + "titlecanary".encode("utf-16-be") + b"x",
}


@pytest.mark.parametrize("way", HIDDEN_IN)
def test_a_word_is_found_however_it_is_broken(site: Path, expected: Expectation, way: str) -> None:
    """What a reader sees as one word is one."""
    content, known = HIDDEN_IN[way], {**expected.known, "known.png": png("x")}
    write(site, "x.png" if isinstance(content, bytes) else "x.html", content)
    assert codes(site, replace(expected, known=known)) == {"audit-leak"}


def test_an_escape_of_no_sign_is_none() -> None:
    """What stands for no character ends no audit."""
    assert " tlecanary" in " ".join(texts("x.js", rb"'\u{ffffff}tlecanary \999999 x'"))


@pytest.mark.parametrize("part", ["<!-- ", "<a ", '<a b="', "='", "<!x ", "\\1", "</", "<!-->"])
def test_markup_that_never_ends_costs_the_same(part: str) -> None:
    """Twice the text is twice the work, however broken it is."""

    def seconds(times: int) -> float:
        before = time.process_time()
        list(texts("x.html", b'<p a="&lt;">' + part.encode() * times))
        return time.process_time() - before

    assert seconds(40_000) < 20 * seconds(4_000) + 0.5


@pytest.mark.parametrize("name", ["titlecanary.html", "a/figurecanary.webp", "tags/aliascanary"])
def test_a_canary_in_a_path_is_found(site: Path, expected: Expectation, name: str) -> None:
    """A file's name gives a draft away as well as its content does."""
    write(site, name, "x")
    assert "audit-leak" in codes(site, expected)


def test_a_relative_address_of_a_draft_is_found(site: Path, expected: Expectation) -> None:
    """A link between entries needs no full address."""
    write(site, "page.html", '<a href="../draft-entry/">x</a>')
    assert codes(site, expected) == {"audit-leak"}


def test_a_copied_picture_is_found_under_any_name(site: Path, expected: Expectation) -> None:
    """The bytes of a draft's picture are recognised whatever the file is called."""
    write(
        site,
        "assets/a.bin",
        expected.hidden["draft-entry"]["glossary/draft-entry/figurecanary.png"],
    )
    assert "audit-copied-file" in codes(site, expected)


def test_a_copied_record_is_found_and_its_words_are_not_a_drafts(
    site: Path, expected: Expectation
) -> None:
    """A record of a draft's experiment must not be copied; a machine's name may be printed."""
    record = b'{"machine": {"name": "Testchip Ultra 9000 accelerator"}}'
    hidden = {**expected.hidden["draft-entry"], "measurements/draft-lab/m.json": record}
    more = replace(expected, hidden={"draft-entry": hidden})
    write(site, "page.html", "<p>Testchip Ultra 9000 accelerator</p>")
    assert codes(site, more) == set()
    write(site, "data/x.json", record)
    assert "audit-copied-file" in codes(site, more)


def test_a_digest_of_a_drafts_file_is_found(site: Path, expected: Expectation) -> None:
    """A data export that lists digests of a draft's files tells of it."""
    digest = hashlib.sha256(DRAFT.encode()).hexdigest()
    write(site, "data.json", json.dumps({"sha256": digest}))
    assert codes(site, expected) == {"audit-leak"}


def test_what_is_public_anyway_is_no_leak(site: Path, expected: Expectation) -> None:
    """Words and phrases that hand-written pages hold may occur, whatever a draft says."""
    known = {**expected.known, "docs/lesson.md": DRAFT.encode()}
    write(site, "lesson.html", "<p>titlecanary, and it is answercanary</p>")
    assert codes(site, replace(expected, known=known)) == set()
    assert codes(site, expected) == {"audit-leak"}


def test_ordinary_words_in_another_order_are_no_leak(site: Path, expected: Expectation) -> None:
    """A draft does not own the words of the language."""
    write(site, "page.html", "<p>The order of words, a sentence here, every plain reader.</p>")
    assert codes(site, expected) == set()


def test_the_order_of_other_entries_is_nobodys(site: Path, expected: Expectation) -> None:
    """An index may name two entries in a row that a draft names as related in a row."""
    names = "first-open-barrier, second-open-barrier"
    known = {**expected.known, "docs/names.md": b"first second open barrier"}
    for related in (f"[{names}]", f"\n  - {names}", f"\n- {names.replace(', ', chr(10) + '- ')}"):
        text = DRAFT.replace("aliases:", f"related: {related}\naliases:").encode()
        hidden = {"draft-entry": {"glossary/draft-entry/entry.md": text}}
        write(site, "list.html", f"<p>{names}</p>")
        assert codes(site, replace(expected, known=known, hidden=hidden)) == set()
        write(site, "list.html", f"<p>{names} aliascanary</p>")
        assert codes(site, replace(expected, known=known, hidden=hidden)) == {"audit-leak"}


def test_files_side_by_side_are_audited_as_one_by_one(site: Path, expected: Expectation) -> None:
    """What is found does not depend on how many files are looked at at once."""
    for number in range(40):
        write(site, f"page/{number}.html", "<p>titlecanary</p>" if number % 3 else PUBLIC)
    shown: list[tuple[int, int]] = []
    together = audit(site, expected, jobs=2, progress=lambda _, done, of: shown.append((done, of)))
    assert together == audit(site, expected)
    assert shown == [(done, 43) for done in range(1, 44)]


def test_a_draft_more_costs_the_same(site: Path, expected: Expectation) -> None:
    """A site and its drafts that are twice as many are twice the work, not four times."""

    def steps(size: int) -> int:
        for number in range(size):
            write(site, f"page/{number}.html", f"<p>{PUBLIC}</p>")
        text = DRAFT.replace("canary", "{0}canary")
        hidden = {f"draft-{n}": {f"glossary/draft-{n}/entry.md": text.format(f"n{n:03}").encode()}
                  for n in range(size)}  # fmt: skip
        more = replace(expected, hidden=hidden)
        return steps_of(lambda each: audit(site, each), more)

    steps(16)
    small, middle, large = map(steps, (16, 32, 64))
    assert (large - middle) / 32 <= 1.01 * (middle - small) / 16


# ── pages ────────────────────────────────────────────────────────────────────────────────────

Spoil = Callable[[Path], None]
OPEN = "glossary/open-entry/index.html"


def _edit(old: str, new: str) -> Spoil:
    def spoil(site: Path) -> None:
        path = site / OPEN
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    return spoil


def _symlink(site: Path) -> None:
    (site / "link.html").symlink_to("index.html")


def _linked_folder(site: Path) -> None:
    (site / "link").symlink_to("glossary")


META = '<meta name="glossary-verdict" content="published">'
LIES: dict[str, tuple[Spoil, str]] = {
    "a page of an entry that is not published": (
        lambda s: write(s, "glossary/draft-entry/index.html", "<p>x</p>"),
        "audit-unpublished",
    ),
    "a page of an entry that does not exist": (
        lambda s: write(s, "glossary/nothing/index.html", "<p>x</p>"),
        "audit-unpublished",
    ),
    "a page without a folder of its own": (
        lambda s: write(s, "glossary/nothing.html", "<p>x</p>"),
        "audit-unpublished",
    ),
    "a page where entries stand, in capitals": (
        lambda s: write(s, "Glossary/nothing/index.html", "<p>x</p>"),
        "audit-unpublished",
    ),
    "a raw file of an unpublished entry": (
        lambda s: write(s, "glossary/nothing/entry.md", "x"),
        "audit-unpublished",
    ),
    "an entry's page somewhere else": (
        lambda s: write(s, "copy.html", PAGE.format(manifest=MANIFEST, text="x")),
        "audit-unpublished",
    ),
    "no page of a published entry": (lambda s: (s / OPEN).unlink(), "audit-missing-page"),
    "a page without its verdict": (_edit(META, ""), "audit-verdict"),
    "a page with two verdicts": (_edit(META, META + META), "audit-verdict"),
    "a page that says it is a draft": (
        _edit('content="published"', 'content="draft"'),
        "audit-verdict",
    ),
    "a page of another manifest": (_edit(MANIFEST, "cd" * 32), "audit-verdict"),
    "a page without its manifest": (_edit("glossary-manifest", "x"), "audit-verdict"),
    "a page of another entry": (
        _edit('content="open-entry"', 'content="other"'),
        "audit-verdict",
    ),
    "a page without a byline": (_edit('class="mg-byline"', ""), "audit-byline"),
    "a page with a second byline": (
        _edit("<body>", '<body><dl class="x mg-byline">Mallory</dl>'),
        "audit-byline",
    ),
    "a byline without the reviewer": (_edit("Test Reviewer", "Nobody"), "audit-byline"),
    "a reviewer named beside the byline": (
        _edit("<dd>Test Reviewer</dd></dl>", "</dl><p>Test Reviewer</p>"),
        "audit-byline",
    ),
    "a byline with another author": (_edit("Test Author", "Test Other"), "audit-byline"),
    "a preview": (
        _edit("<head>", '<head><meta name="glossary-preview" content="x">'),
        "audit-preview",
    ),
    "a preview of another page": (
        lambda s: write(s, "index.html", '<meta name="glossary-preview" content="">'),
        "audit-preview",
    ),
    "a symbolic link": (_symlink, "audit-link"),
    "a linked folder": (_linked_folder, "audit-link"),
    "a file nobody can look into": (
        lambda s: write(s, "x.br", b"\x8b\x03\x80abc\xff\x00\x03"),
        "audit-opaque-file",
    ),
    "a page in UTF-16": (
        lambda s: write(s, "x.html", "<p>titlecanary</p>".encode("utf-16")),
        "audit-opaque-file",
    ),
    "a damaged packed file": (lambda s: write(s, "x.xml.gz", b"\x1f\x8bx"), "audit-opaque-file"),
    "a PDF of unknown origin": (
        lambda s: write(s, "x.pdf", b"%PDF-1.7\n\x80\x00\xff"),
        "audit-opaque-file",
    ),
    "files packed again and again": (
        lambda s: write(
            s, "x.gz", gzip.compress(gzip.compress(gzip.compress(gzip.compress(b"x"))))
        ),
        "audit-opaque-file",
    ),
}


SHOWN = '<meta name="glossary-verdict" content="published"> <dl class="mg-byline">'
HARMLESS: dict[str, tuple[str, str]] = {
    "a fence of Markdown": ("setup/x.md", f"Write:\n\n```html\n{SHOWN}\n```\n\nand build.\n"),
    "a code span of Markdown": ("setup/x.md", f"Write `{SHOWN}` there.\n"),
    "escaped code": ("setup/x.html", f"<pre><code>{html.escape(SHOWN)}</code></pre>"),
    "an attribute": ("setup/x.html", f"<a title='{SHOWN}'>x</a>"),
    "a comment": ("setup/x.html", f"<!-- {SHOWN} -->"),
    "a program": ("setup/x.html", f"<script>const shown = '{SHOWN}';</script>"),
}
REAL: dict[str, tuple[str, str]] = {
    "raw HTML of Markdown": ("setup/x.md", f"Text\n\n{SHOWN}\n\n```\ncode\n```\n"),
    "front matter": ("setup/x.md", '---\nglossary-verdict: "published"\n---\ntext\n'),
    "raw HTML behind a comment in code": ("setup/x.md", f"Text `<!--`\n\n{SHOWN}\n"),
    "a fence that some renderers do not close": ("setup/x.md", f"```html\ncode\n\n{SHOWN}\n"),
    "a name spelt otherwise": ("x.html", SHOWN.replace("glossary", "gloss&#97;ry")),
    "a tag in capitals": ("x.html", SHOWN.upper().replace("GLOSSARY-VERDICT", "glossary-verdict")),
    "a tag behind an odd quote": ("x.html", f"<p don't>{SHOWN}<p won't>"),
    "a tag behind a quote in a value": ("x.html", f'<p a=b=">{SHOWN}<p c=">'),
    "a tag behind an empty comment": ("x.html", f"<!-->{SHOWN}<!-- -->"),
    "a tag behind a program": ("x.html", f"<script>'<!--'</script>{SHOWN}"),
}


FORGED = f'''<meta name="glossary-entry" content="open-entry">
<meta name="glossary-verdict" content="published">
<meta name="glossary-manifest" content="{MANIFEST}">
<dl class="mg-byline"><dd>Test Author</dd><dd>Test Reviewer</dd></dl>
'''
_UNSIGNED = """
open-entry/extra.html open-entry/EXTRA.HTML open-entry/more/index.html open-entry/more/index.md
open-entry/index.xhtml open-entry/index.php open-entry/index.html.de open-entry/extra.html.gz
open-entry/extra open-entry/.html open-entry/extra.shtml open-entry/extra.xml open-entry/more.md
open-entry/signatures/index.html open-entry/more.markdown open-entry/allowed_signers
open-entry open-entry.xhtml open-entry.PHP OPEN-ENTRY.SHTML index.php feed.html
"""


@pytest.mark.parametrize("name", _UNSIGNED.split())
def test_a_published_entry_has_one_page(site: Path, expected: Expectation, name: str) -> None:
    """What else may be shown as a page below the glossary was signed by nobody."""
    path = site / "glossary" / name
    if name == "open-entry":
        shutil.rmtree(path)
    raw = FORGED.encode()
    write(site, f"glossary/{name}", gzip.compress(raw, mtime=0) if name.endswith("gz") else raw)
    assert "audit-unpublished" in codes(site, expected)


@pytest.mark.parametrize("name", ["x.xhtml", "x", "x.PHP", "x.html.gz", "x.html.en", "x.markdown"])
def test_an_entrys_page_stands_where_entries_do(
    site: Path, expected: Expectation, name: str
) -> None:
    """A page that says it is an entry's is refused elsewhere, whatever shows it as a page."""
    raw = FORGED.encode()
    write(site, name, gzip.compress(raw, mtime=0) if name.endswith("gz") else raw)
    assert codes(site, expected) == {"audit-unpublished"}


def test_what_is_made_below_the_glossary_may_stand_there(site: Path, expected: Expectation) -> None:
    """The index, feeds and data, and beside an entry's page what it shows and what verifies it."""
    for name in ("index.md", "feed.xml", "index.xml", "glossary.json", "index.html.gz"):
        write(site, f"glossary/{name}", gzip.compress(b"x", mtime=0) if ".gz" in name else "x")
    for name in ("manifest.sha256", "signatures/author.a.json", "signatures/author.a.json.sig"):
        write(site, f"glossary/open-entry/{name}", "x")
    write(site, "glossary/open-entry/allowed_signers", 'a namespaces="n" ssh-ed25519 AAAA')
    write(site, "glossary/open-entry/figure.svg", "<svg/>")
    write(site, "glossary/open-entry/shown.html.png", "x")
    write(site, f"{OPEN}.gz", gzip.compress((site / OPEN).read_bytes(), mtime=0))
    assert audit(site, expected) == ()
    write(site, f"{OPEN}.gz", gzip.compress(b"<p>another</p>", mtime=0))
    assert codes(site, expected) == {"audit-verdict", "audit-byline"}


@pytest.mark.parametrize("name", HARMLESS)
def test_a_mark_that_is_shown_as_code_is_none(site: Path, expected: Expectation, name: str) -> None:
    """A hand-written page may show what an entry's head looks like."""
    write(site, *HARMLESS[name])
    assert codes(site, expected) == set()


@pytest.mark.parametrize("name", REAL)
def test_a_mark_that_a_browser_reads_is_one(site: Path, expected: Expectation, name: str) -> None:
    """However it is written, a page that says it is an entry's is taken for one."""
    write(site, *REAL[name])
    assert codes(site, expected) == {"audit-unpublished"}


def test_a_byline_in_code_is_none(site: Path, expected: Expectation) -> None:
    """Exported Markdown that only shows a byline has none."""
    matter = f"""---
glossary-entry: "open-entry"
glossary-verdict: "published"
glossary-manifest: "{MANIFEST}"
---
"""
    byline = '<dl class="mg-byline"><dd>Test Author</dd><dd>Test Reviewer</dd></dl>\n'
    write(site, "glossary/open-entry/index.md", f"{matter}{byline}\n`{SHOWN}`\n")
    assert audit(site, expected) == ()
    write(site, "glossary/open-entry/index.md", f"{matter}```\n{byline}```\n")
    assert codes(site, expected) == {"audit-byline"}


BITS = [
    *("\n", "\n\n", "```\n", "~~~\n", "`", "``", "    ", "> ", "- ", "<!--", "-->", "text "),
    *('<dl class="mg-byline">', "</dl>", "Test Author", '<meta name="glossary-entry" content="a">'),
    *("<script>", "</script>", "<div>", "</div>", '=== "Tab"\n\n    '),
]


@settings(max_examples=400)
@given(st.lists(st.sampled_from(BITS), max_size=24).map("".join))
@example(f"`<!--` {SHOWN}\n\n`{SHOWN}` --> `x`\n")
@example(f"{SHOWN}\n\n```\ncode</dl>\n```\n")
@example(f"```\n{SHOWN}\n\n{SHOWN}\n```\n\n{SHOWN}</dl>\n")
@example(f'<meta name="glossary-entry" content="a">\n\n`<script>` {SHOWN}\n')
def test_reading_a_part_of_markdown_finds_what_all_of_it_holds(page: str) -> None:
    """What stands behind the paragraph of the last mark need not be read to know what is code."""
    whole = scan(page)
    assume(not whole.faults)
    assert _outside_code(page) == list(_marks(whole.without("fence", "code")))


@pytest.mark.parametrize("name", LIES)
def test_a_page_that_lies_is_refused(site: Path, expected: Expectation, name: str) -> None:
    """What stands where entries do is exactly what verification says, or the tree is refused."""
    spoil, code = LIES[name]
    spoil(site)
    assert code in codes(site, expected)


def test_a_known_file_need_not_be_looked_into(site: Path, expected: Expectation) -> None:
    """A file that people put below `docs/` is known, whatever its format."""
    raw = b"%PDF-1.7\n\x80\x00\xff"
    write(site, "paper.pdf", raw)
    known = {**expected.known, "docs/paper.pdf": raw}
    assert codes(site, replace(expected, known=known)) == set()


def test_exported_markdown_says_its_verdict_in_front_matter(
    site: Path, expected: Expectation
) -> None:
    """A plain export is audited by the same rules, with the verdict in the front matter."""
    (site / OPEN).unlink()
    matter = "\n".join(
        [
            "---",
            "title: open",
            'glossary-entry: "open-entry"',
            'glossary-verdict: "published"',
            f'glossary-manifest: "{MANIFEST}"',
            "---",
            "",
        ]
    )
    byline = '<dl class="mg-byline"><dd>Test Author</dd><dd>Test Reviewer</dd></dl>\n'
    write(site, "glossary/open-entry/index.md", matter + byline)
    assert audit(site, expected) == ()
    write(site, "glossary/open-entry/index.md", matter.replace("published", "retracted") + byline)
    assert codes(site, expected) == {"audit-verdict"}


def test_a_tombstone_stands_for_a_retracted_entry(site: Path, expected: Expectation) -> None:
    """A retracted entry has a page that says so; nothing else of it may be seen."""
    tomb = replace(
        expected,
        public={
            **expected.public,
            "draft-entry": PublicEntry(verdict="retracted", manifest=MANIFEST),
        },
        known={**expected.known, "tombstone": b"draft-entry it was wrong"},
    )
    page = (
        '<meta name="glossary-entry" content="draft-entry">'
        '<meta name="glossary-verdict" content="retracted"><p>it was wrong</p>'
    )
    write(site, "glossary/draft-entry/index.html", page)
    assert audit(site, tomb) == ()
    write(site, "glossary/draft-entry/index.html", page + "answercanary")
    assert codes(site, tomb) == {"audit-leak"}


def test_an_empty_or_missing_tree_is_no_site(tmp_path: Path, expected: Expectation) -> None:
    """A folder with nothing in it did not pass; it was not built."""
    assert codes(tmp_path, expected) == {"audit-no-site"}
    assert codes(tmp_path / "nothing", expected) == {"audit-no-site"}
    assert codes(tmp_path / ("x" * 300), expected) == {"audit-no-site"}


def test_what_cannot_be_read_was_not_audited(tmp_path: Path, expected: Expectation) -> None:
    """A path longer than the system takes is a problem, a folder's too; neither is passed over."""
    folder, name = os.open(tmp_path, os.O_RDONLY), "x" * 250
    for _ in range(17):
        os.mkdir(name, dir_fd=folder)
        above, folder = folder, os.open(name, os.O_RDONLY, dir_fd=folder)
        os.close(above)
    os.close(folder)
    assert codes(tmp_path, expected) - {"audit-missing-page"} == {"unreadable-file"}


# ── traces ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("text", [DRAFT, KERNEL, PUBLIC])
def test_every_trace_of_a_text_is_found_in_it(text: str) -> None:
    """Looking for a text's own traces finds all of them, in either writing."""
    searched = traces(text)
    assert searched
    for other in (text, text.upper(), f"before {text} after", text.replace(" ", "\n")):
        assert hits(other, look_for(searched)) == searched


@given(st.text(st.characters(exclude_categories=()), max_size=60))
@example("\u0130x straße ŉ ΑΣ µs x² __a__b _c_ \ud800 K")
@example("".join(map(chr, range(0x4E00, 0x4E80))) + " word_one é")
def test_words_are_those_of_the_whole_alphabet(text: str) -> None:
    """Words and identifiers are those that a pattern finds, in whatever alphabet."""
    parts = unicodedata.normalize("NFKD", text)
    seen = (part for part in parts if unicodedata.category(part) not in {"Cf", "Me", "Mn"})
    folded = "".join(seen).casefold()
    words = re.findall(r"[^\W_]+", folded)
    names = {name.strip("_") for name in re.findall(r"\w+_\w+", folded)}
    assert hits(text, look_for([*words, *names])) == {*words, *names}
    assert hits(text, look_for(["wordthatisnowhere"])) == set()


def test_digests_and_addresses_are_found_inside_words() -> None:
    """An address or digest is found in a longer one, and no part of it is."""
    digest = hashlib.sha256(b"x").hexdigest()
    wanted = literals([digest, "glossary/a.b/", "../warp/", "glossary/warp.html"])
    assert spotted(f"x{digest}f", wanted) == {digest}
    assert spotted(digest[:-1] + " " + digest[1:], wanted) == set()
    assert spotted("https://x.test/glossary/a.b/c", wanted) == {"glossary/a.b/"}
    assert spotted("sub-../warp/#x glossary/warp.htmlx", wanted) == {
        "../warp/",
        "glossary/warp.html",
    }
    assert spotted("warp/ ./warp/ glossary/warp glossary/a/b/", wanted) == set()


def test_tables_and_short_words_leave_no_traces() -> None:
    """Numbers and letters alone are nobody's."""
    assert traces("32 0 0 64 170,720 if (i < n) { x = a[i]; }") == frozenset()


def test_a_quoted_address_is_read_unescaped() -> None:
    """Percent signs in an address hide nothing."""
    read = " ".join(texts("x.html", urllib.parse.quote("a canary word").encode()))
    assert "canary word" in read


PARTS = ["<", "</", ">", "a", "SPAN", "script", "</style>", "<!--", "-->", " ", "\n", "=", '"', "'",
         ' class="b"', " class=b", ' a-b="c d"', "/", "&lt;", "é", '<a b="c"d>', '<a b="c" >', "-",
         "9", '<a b="c>d">']  # fmt: skip
PLAIN = re.compile(_ELEMENT.pattern.replace(f"{_USUAL}|", ""), _ELEMENT.flags)


@given(st.lists(st.sampled_from(PARTS), max_size=20).map("".join))
def test_a_tag_written_as_usual_is_read_as_any_other(page: str) -> None:
    """What is quick to read ends where the whole rule says that it ends."""
    assert PLAIN.pattern != _ELEMENT.pattern
    found = [[(each.span(), each.groups()) for each in regex.finditer(page)]
             for regex in (_ELEMENT, PLAIN)]  # fmt: skip
    assert found[0] == found[1]
