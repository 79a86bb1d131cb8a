"""An entry's folder: plain files only, read once, and every trick of the file system refused."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from measured_glossary.trust.folder import MAX_FILES, read_folder, read_signatures

Make = Callable[[Path], object]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Give a project with one entry that has a figure and a signature."""
    entry = tmp_path / "glossary/test-entry"
    (entry / "signatures").mkdir(parents=True)
    (entry / "entry.md").write_bytes(b"---\r\nx\n")
    (entry / "figures").mkdir()
    (entry / "figures/a.svg").write_bytes(b"<svg/>")
    (entry / "signatures/author.test-author.json").write_bytes(b"{}\n")
    return tmp_path


def test_files_and_signatures_are_told_apart(root: Path) -> None:
    """Signed are all files but those in `signatures/`; bytes are as they lie there."""
    folder = read_folder(root, "test-entry").value
    assert folder is not None
    assert folder.files == {
        "glossary/test-entry/entry.md": b"---\r\nx\n",
        "glossary/test-entry/figures/a.svg": b"<svg/>",
    }
    assert folder.signatures == {"author.test-author.json": b"{}\n"}
    assert read_signatures(root, "test-entry") == folder.signatures


def _link(name: str, target: str) -> Make:
    return lambda entry: (entry / name).symlink_to(target)


def _file(name: str, raw: bytes = b"x") -> Make:
    def make(entry: Path) -> None:
        (entry / name).parent.mkdir(parents=True, exist_ok=True)
        (entry / name).write_bytes(raw)

    return make


def _swap_for(name: str, make: Callable[[Path], object]) -> Make:
    def swap(entry: Path) -> None:
        (entry / name).unlink()
        make(entry / name)

    return swap


def _linked_folder(entry: Path) -> None:
    (entry / "figures").rename(entry.parent / "elsewhere")
    (entry / "figures").symlink_to("../elsewhere")


def _linked_entry(entry: Path) -> None:
    entry.rename(entry.parent / "other")
    entry.symlink_to("other")


def _linked_signatures(entry: Path) -> None:
    (entry / "signatures").rename(entry.parent / "other")
    (entry / "signatures").symlink_to("../other")


def _many(entry: Path) -> None:
    for number in range(MAX_FILES):
        (entry / f"f{number}").touch()


SIGNATURE = "signatures/author.test-author.json"
TRICKS: dict[str, tuple[Make, str]] = {
    "a symlink to a file": (_link("link.md", "entry.md"), "unreadable-file"),
    "a symlink to nothing": (_link("link.md", "nothing"), "unreadable-file"),
    "a symlink out of the project": (_link("link.md", "/etc/passwd"), "unreadable-file"),
    "a symlink in place of the entry": (
        _swap_for("entry.md", lambda p: p.symlink_to("figures/a.svg")),
        "unreadable-file",
    ),
    "a symlinked figures folder": (_linked_folder, "unreadable-file"),
    "a symlinked signatures folder": (_linked_signatures, "unreadable-file"),
    "a symlinked entry": (_linked_entry, "not-a-folder"),
    "a symlink in place of a signature": (
        _swap_for(SIGNATURE, lambda p: p.symlink_to("../entry.md")),
        "unreadable-file",
    ),
    "a hard link": (lambda e: os.link(e / "entry.md", e / "copy.md"), "hard-link"),
    "a hard link from outside": (
        lambda e: os.link(e / "entry.md", e.parent.parent / "outside.md"),
        "hard-link",
    ),
    "a hard-linked signature": (
        lambda e: os.link(e / SIGNATURE, e / "signatures/review.test-author.json"),
        "hard-link",
    ),
    "a pipe": (lambda e: os.mkfifo(e / "pipe"), "unreadable-file"),
    "a pipe in place of a signature": (
        _swap_for(SIGNATURE, lambda p: os.mkfifo(p)),
        "unreadable-file",
    ),
    "a file larger than the limit": (_file("big", bytes((4 << 20) + 1)), "oversized-file"),
    "two names that differ in case": (_file("Entry.md"), "same-name"),
    "a signatures folder in capitals": (_file("Signatures/x.json"), "same-name"),
    "a hidden file": (_file(".hidden"), "bad-file-name"),
    "a system's leftovers": (_file(".DS_Store"), "bad-file-name"),
    "a name with a space": (_file("a b.md"), "bad-file-name"),
    "a name with a line end": (_file("a\nb.md"), "bad-file-name"),
    "a name with a backslash": (_file("a\\b.md"), "bad-file-name"),
    "a name with a colon": (_file("a:b.md"), "bad-file-name"),
    "a name with a leading hyphen": (_file("-rf"), "bad-file-name"),
    "a name that ends in a dot": (_file("a."), "bad-file-name"),
    "a name with an accent": (_file("é.md"), "bad-file-name"),
    "a name with a bidi override": (_file("a\u202egnp.md"), "bad-file-name"),
    "a name with a zero-width space": (_file("a\u200b.md"), "bad-file-name"),
    "a device's name": (_file("con.md"), "bad-file-name"),
    "a device's name in capitals": (_file("NUL"), "bad-file-name"),
    "a name of 200 letters": (_file("a" * 200), "bad-file-name"),
    "folders seven deep": (_file("a/b/c/d/e/f/g"), "too-deep"),
    "more files than anybody reads": (_many, "too-many-files"),
}


@pytest.mark.parametrize("name", TRICKS)
def test_signatures_read_alone_are_plain_files_too(root: Path, name: str) -> None:
    """No trick brings in other bytes or keeps a reader waiting; a good file stays readable."""
    TRICKS[name][0](root / "glossary/test-entry")
    spoiled = ("signature" in name and "capitals" not in name) or name == "a symlinked entry"
    good = {} if spoiled else {"author.test-author.json": b"{}\n"}
    assert read_signatures(root, "test-entry") == good


def test_an_entry_without_signatures_has_none(root: Path) -> None:
    """Nobody signed yet, or there is no such entry: nothing is read, and nothing is wrong."""
    (root / "glossary/other").mkdir()
    assert read_signatures(root, "other") == read_signatures(root, "no-such-entry") == {}


@pytest.mark.parametrize("name", TRICKS)
def test_what_is_no_plain_file_refuses_the_folder(root: Path, name: str) -> None:
    """A trick of the file system is told by its code, and nothing of the folder is used."""
    make, code = TRICKS[name]
    make(root / "glossary/test-entry")
    refused = read_folder(root, "test-entry")
    assert code in {p.code for p in refused.problems} or (
        code == "unreadable-file" and "not-a-folder" in {p.code for p in refused.problems}
    ), refused.problems
    assert refused.value is None


def test_a_name_that_is_no_text_is_refused(root: Path) -> None:
    """A file name of bytes that are not UTF-8 is told, not crashed on."""
    raw = os.fsencode(root / "glossary/test-entry") + b"/\xff.md"
    with open(raw, "wb"):  # noqa: PTH123 - a path of bytes
        pass
    problems = read_folder(root, "test-entry").problems
    assert [p.code for p in problems] == ["bad-file-name"]
    assert str(problems[0]).encode("utf-8")


def test_an_entry_that_is_not_there_is_told(root: Path) -> None:
    """A missing folder and a file in its place are problems, not crashes."""
    (root / "glossary/file").write_bytes(b"x")
    for name in ("nothing", "file"):
        assert [p.code for p in read_folder(root, name).problems] == ["not-a-folder"]
