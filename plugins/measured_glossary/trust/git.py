"""git's plumbing, without its configuration: objects of the repository and nothing else.

Comes in: the project's root and arguments. Goes out: what git printed, or nothing. Must not know
what the objects mean, nor change the repository.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

GIT_LIMIT_S = 20

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


def run_git(root: Path, *arguments: str) -> bytes | None:
    """Give what a git command prints in the project's folder; `None` where it fails."""
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
