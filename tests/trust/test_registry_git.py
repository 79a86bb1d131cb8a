"""The registry of a revision: what the working tree says of itself is not asked."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from measured_glossary.trust.registry_git import registry_of

BASE, CHANGED = "project: test-base\n", "project: test-changed\n"


def git(root: Path, *arguments: str) -> str:
    """Run git as somebody plainly made up."""
    environment = {
        **{name: os.environ[name] for name in ("PATH",)},
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "Test Author",
        "GIT_AUTHOR_EMAIL": "test@example.invalid",
        "GIT_COMMITTER_NAME": "Test Author",
        "GIT_COMMITTER_EMAIL": "test@example.invalid",
    }
    command = ["git", *arguments]
    done = subprocess.run(command, cwd=root, env=environment, check=True, capture_output=True)
    return done.stdout.decode().strip()


def commit(root: Path, text: str) -> str:
    """Commit a registry and give the commit."""
    (root / "glossary").mkdir(parents=True, exist_ok=True)
    (root / "glossary/people.yml").write_text(text)
    git(root, "add", ".")
    git(root, "commit", "-q", "-m", "test")
    return git(root, "rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Give a repository whose branch `main` has one registry and whose tree has another."""
    git(tmp_path, "init", "-q", "-b", "main")
    commit(tmp_path, BASE)
    git(tmp_path, "checkout", "-q", "-b", "change")
    commit(tmp_path, CHANGED)
    return tmp_path


def text_of(root: Path, ref: str) -> str:
    """Give the registry's text in a revision."""
    source = registry_of(root, ref).value
    assert source is not None
    return source.text


def test_the_base_branch_judges_and_not_the_tree(repository: Path) -> None:
    """The revision's registry is read whatever the change and the working tree say."""
    (repository / "glossary/people.yml").write_text("project: test-uncommitted\n")
    assert text_of(repository, "main") == BASE
    assert text_of(repository, "change") == CHANGED


def test_a_commit_and_a_tag_name_a_revision(repository: Path) -> None:
    """Branches, tags and commits are all revisions."""
    git(repository, "tag", "test-tag", "main")
    assert text_of(repository, "test-tag") == BASE
    assert text_of(repository, git(repository, "rev-parse", "main")) == BASE


def test_a_project_below_the_repositorys_root_is_read(tmp_path: Path) -> None:
    """A glossary may be a folder of a larger repository."""
    git(tmp_path, "init", "-q", "-b", "main")
    (tmp_path / "site").mkdir()
    commit(tmp_path / "site", BASE)
    assert text_of(tmp_path / "site", "main") == BASE


def test_a_replaced_object_is_not_read(repository: Path) -> None:
    """`git replace` can show another file under the same name; it is not asked."""
    old = git(repository, "rev-parse", "main:glossary/people.yml")
    new = git(repository, "rev-parse", "change:glossary/people.yml")
    git(repository, "replace", old, new)
    assert git(repository, "show", "main:glossary/people.yml") == CHANGED.strip()
    assert text_of(repository, "main") == BASE


def test_the_environment_does_not_choose_the_repository(
    repository: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`GIT_DIR` and its kin do not lead to another repository's registry."""
    other = tmp_path_factory.mktemp("other")
    git(other, "init", "-q", "-b", "main")
    commit(other, "project: test-other\n")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    assert text_of(repository, "main") == BASE


REFS = ["nothing", "origin/main", "", "--help", "-h", "main:glossary", "main..change", "@{99}"]


@pytest.mark.parametrize("ref", REFS)
def test_what_is_no_revision_is_told(repository: Path, ref: str) -> None:
    """A name that is no revision, or an option in its place, is a problem with a hint."""
    refused = registry_of(repository, ref)
    assert refused.value is None
    assert [p.code for p in refused.problems] == ["registry-ref"]
    assert refused.problems[0].hint


def test_a_link_in_the_revision_is_no_registry(repository: Path) -> None:
    """A symbolic link committed in place of the registry is refused."""
    people = repository / "glossary/people.yml"
    people.unlink()
    people.symlink_to("/etc/hostname")
    git(repository, "add", ".")
    git(repository, "commit", "-q", "-m", "test")
    assert [p.code for p in registry_of(repository, "change").problems] == ["registry-ref"]


def test_a_revision_without_a_registry_is_told(tmp_path: Path) -> None:
    """A revision from before the registry has none, and none is made up."""
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "test")
    assert [p.code for p in registry_of(tmp_path, "main").problems] == ["registry-ref"]


def test_a_folder_that_is_no_repository_is_told(tmp_path: Path) -> None:
    """Without git there is no other registry to judge by."""
    assert [p.code for p in registry_of(tmp_path, "main").problems] == ["registry-ref"]
