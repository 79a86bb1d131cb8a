"""A statement and its signature are written together, whatever happens in between."""

from __future__ import annotations

from pathlib import Path

import pytest

from measured_glossary.problem import Refused
from measured_glossary.trust.acts import write_together

FOLDER = "glossary/warp/signatures"
FILES = {"author.a.json": b"new", "author.a.json.sig": b"signature of new"}
BEFORE: tuple[dict[str, bytes], ...] = (
    {},
    {"author.a.json": b"old", "author.a.json.sig": b"of old"},
)


def found(root: Path) -> dict[str, bytes]:
    """Give every file below a folder."""
    files = sorted(path for path in root.rglob("*") if path.is_file())
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in files}


@pytest.mark.parametrize("before", BEFORE)
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, MemoryError])
def test_an_interrupt_leaves_all_or_none(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    before: dict[str, bytes],
    when: str,
    which: int,
    error: type[BaseException],
) -> None:
    """Before or after either of the two renames: no statement without its own signature."""
    write_together(tmp_path, FOLDER, before)
    as_before, rename, renamed = found(tmp_path), Path.replace, list[str]()

    def replace(path: Path, target: Path) -> Path:
        renamed.append(target.name)
        is_now = len(renamed) == which + 1
        if is_now and when == "before":
            raise error
        done = rename(path, target)
        if is_now:
            raise error
        return done

    monkeypatch.setattr(Path, "replace", replace)
    with pytest.raises(error):
        write_together(tmp_path, FOLDER, FILES)
    assert len(renamed) == which + 1
    assert found(tmp_path) == as_before
    assert [path.name for path in tmp_path.iterdir()] == ["glossary"]


@pytest.mark.parametrize("name", FILES)
def test_what_stands_in_the_way_is_told_cleanly(tmp_path: Path, name: str) -> None:
    """The system's own words; nothing new is there, and what stood there stays."""
    (tmp_path / FOLDER / name).mkdir(parents=True)
    with pytest.raises(Refused) as refused:
        write_together(tmp_path, FOLDER, FILES)
    (problem,) = refused.value.problems
    told = str(problem)
    assert told.startswith(f"{FOLDER}: cannot-write: cannot be written: Is a directory")
    assert found(tmp_path) == {}
    assert (tmp_path / FOLDER / name).is_dir()
