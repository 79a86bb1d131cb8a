"""The registry of a git revision, read with git's plumbing and not from the working tree.

Comes in: the project's root and a revision. Goes out: the registry's `Source`. Must not know what
a registry says.

A change cannot vouch for itself: a pull request is judged by the registry of the branch it asks to
be merged into.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from measured_glossary.problem import Checked, Place, Problem
from measured_glossary.source import Source, decode
from measured_glossary.trust.registry import PEOPLE_FILE

GIT_LIMIT_S = 20
_REGULAR_MODES = ("100644", "100755")

# No configuration but the repository's own, and no object in place of another.
_ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_LITERAL_PATHSPECS": "1",
    "PATH": "/usr/bin:/bin:/usr/local/bin:/opt/homebrew/bin",
    "LC_ALL": "C",
}


def registry_of(root: Path, ref: str) -> Checked[Source]:
    """Read the registry as it stands in a revision: a branch, a tag or a commit."""
    file = f"{ref}:{PEOPLE_FILE}"
    commit = _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}")
    if commit is None:
        said = f"git knows no revision {ref!r} here"
        return _refuse(file, said, "git fetch origin, and name the branch: origin/main")
    listed = _git(root, "ls-tree", "-z", commit.decode("ascii").strip(), f"./{PEOPLE_FILE}")
    mode, kind, blob = _entry(listed or b"")
    if kind != "blob" or mode not in _REGULAR_MODES:
        return _refuse(file, "the revision has no such file", "name a revision that has one")
    raw = _git(root, "cat-file", "blob", blob)
    return decode(file, raw) if raw is not None else _refuse(file, "git cannot read it", "git fsck")


def _entry(listed: bytes) -> tuple[str, str, str]:
    """Take apart the one line of `git ls-tree`: mode, type and object."""
    words = listed.partition(b"\t")[0].decode("ascii", "replace").split(" ")
    mode, kind, blob = words if len(words) == 3 else ("", "", "")
    return mode, kind, blob


def _git(root: Path, *arguments: str) -> bytes | None:
    # A checkout owned by somebody else is usual in CI; the commands used here run no hooks.
    command = ["git", "-c", f"safe.directory={root.resolve().as_posix()}", *arguments]
    try:
        done = subprocess.run(
            command,
            cwd=root,
            env=_ENVIRONMENT,
            capture_output=True,
            timeout=GIT_LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def _refuse(file: str, message: str, hint: str) -> Checked[Source]:
    problem = Problem(place=Place(file), code="registry-ref", message=message, hint=hint)
    return Checked(value=None, problems=(problem,))
