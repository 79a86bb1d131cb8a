"""The registry of a git revision, read with git's plumbing and not from the working tree.

Comes in: the project's root and a revision. Goes out: the registry's `Source`, and what else of the
revision a change must not take back. Must not know what a registry says.

A change cannot vouch for itself: a pull request is judged by the registry of the branch it asks to
be merged into.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from measured_glossary.problem import Checked, Place, Problem
from measured_glossary.source import Source, decode
from measured_glossary.trust.folder import ENTRIES, SIGNATURES
from measured_glossary.trust.git import run_git
from measured_glossary.trust.registry import PEOPLE_FILE

MAX_REVISIONS = 100
_RETRACTION = re.compile(rf"{ENTRIES}/[^/]+/{SIGNATURES}/retract\.[^/]+\.json")
_REGULAR_MODES = ("100644", "100755")


def registry_of(root: Path, ref: str) -> Checked[Source]:
    """Read the registry as it stands in a revision: a branch, a tag or a commit."""
    file = f"{ref}:{PEOPLE_FILE}"
    commit = _commit(root, ref)
    if not commit:
        said = f"git knows no revision {ref!r} here"
        return _refuse(file, said, "git fetch origin, and name the branch: origin/main")
    listed = run_git(root, "ls-tree", "-z", commit, f"./{PEOPLE_FILE}")
    mode, kind, blob = _entry(listed or b"")
    if kind != "blob" or mode not in _REGULAR_MODES:
        return _refuse(file, "the revision has no such file", "name a revision that has one")
    raw = run_git(root, "cat-file", "blob", blob)
    return decode(file, raw) if raw is not None else _refuse(file, "git cannot read it", "git fsck")


def dropped_retractions(root: Path, ref: str) -> tuple[Problem, ...]:
    """Say which retractions of a revision are gone: only new signatures end one, not its deletion.

    An entry whose folder is gone has no page either.
    """
    below = ("ls-tree", "-r", "-z", "--name-only", _commit(root, ref), f"./{ENTRIES}/")
    names = (run_git(root, *below) or b"").decode("utf-8", "replace").split("\0")
    gone = [
        name
        for name in filter(_RETRACTION.fullmatch, names)
        if (root / name).parents[1].is_dir() and not (root / name).is_file()
    ]
    return tuple(
        Problem(
            place=Place(name),
            code="retraction-dropped",
            message=f"stands in {ref}, and no longer here",
            hint=f"put it back: git checkout {ref} -- {name} {name}.sig; once author and reviewer "
            "have signed corrected bytes, it counts no more",
        )
        for name in gone
    )


def _commit(root: Path, ref: str) -> str:
    """Give the commit of a revision; nothing where git knows none of that name."""
    asked = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    return (run_git(root, *asked) or b"").decode("ascii").strip()


def _entry(listed: bytes) -> tuple[str, str, str]:
    """Take apart the one line of `git ls-tree`: mode, type and object."""
    words = listed.partition(b"\t")[0].decode("ascii", "replace").split(" ")
    mode, kind, blob = words if len(words) == 3 else ("", "", "")
    return mode, kind, blob


def _refuse(file: str, message: str, hint: str) -> Checked[Source]:
    problem = Problem(place=Place(file), code="registry-ref", message=message, hint=hint)
    return Checked(value=None, problems=(problem,))


def earlier_bytes(root: Path, file: str, sha256: str) -> bytes | None:
    """Find a file's content of a digest among the revisions that changed it, newest first.

    A statement holds digests and no text; a reviewer wants to see what changed since.
    """
    listed = run_git(root, "log", f"-{MAX_REVISIONS}", "--format=%H", "--", f"./{file}") or b""
    for commit in listed.decode("ascii").split():
        raw = run_git(root, "cat-file", "blob", f"{commit}:./{file}")
        if raw is not None and hashlib.sha256(raw).hexdigest() == sha256:
            return raw
    return None
