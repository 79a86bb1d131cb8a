"""The commands of sign-off, as authors, reviewers, readers and CI type them."""

from __future__ import annotations

import gzip
import json
import os
import pty
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from measured_glossary import cli
from trust.test_registry_git import git
from trust.trust_keys import SSH_KEYGEN, TestKey, keygen

ENTRY, HIDDEN = "test-term", "hidden-canary"
SIGNATURES = f"glossary/{ENTRY}/signatures"


class Place:
    """A project in a folder, and the home folders of the people who work in it."""

    def __init__(
        self,
        root: Path,
        homes: Path,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        self.root, self.homes = root, homes
        self.monkeypatch, self.capsys = monkeypatch, capsys

    def run(self, *words: str, home: str = "author", expect: int = 0) -> str:
        """Run a command as somebody; give what it printed."""
        self.monkeypatch.setenv("HOME", str(self.homes / home))
        self.monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
        status = cli.main([*words, "--root", str(self.root)])
        told = self.capsys.readouterr()
        assert status == expect, f"{words}: {status}\n{told.out}\n{told.err}"
        return told.out + told.err

    def write(self, name: str, text: str) -> None:
        """Write a file of the project."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def replace(self, name: str, old: str, new: str) -> None:
        """Edit a file of the project."""
        text = (self.root / name).read_text(encoding="utf-8")
        assert old in text
        self.write(name, text.replace(old, new))

    def files(self) -> dict[str, bytes]:
        """Give every file of the project's glossary, to see that nothing changed."""
        below = sorted(path for path in (self.root / "glossary").rglob("*") if path.is_file())
        return {path.relative_to(self.root).as_posix(): path.read_bytes() for path in below}

    def sign_both(self) -> None:
        """Have author and reviewer sign."""
        self.run("sign", ENTRY)
        self.run("review", ENTRY, "--yes", "--scope", "prose,sources", home="reviewer")


def entry_text(term: str, prose: str) -> str:
    """Give an entry without experiments."""
    return (
        f"---\nterm: {term}\nquestion: What is {term}?\nanswer: It is {term} and no more.\n"
        "area: Execution model\napplies_to: CC 7.5\nbyline:\n  written_by: test-author\n---\n\n"
        f"{prose}\n"
    )


@pytest.fixture(scope="session")
def home_keys(keys: dict[str, TestKey], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give home folders, each with one person's key in `.ssh`."""
    homes = tmp_path_factory.mktemp("homes")
    for name in ("author", "reviewer", "outsider"):
        folder = homes / name / ".ssh"
        folder.mkdir(parents=True)
        path = keys[name].path
        assert path is not None
        shutil.copy(path, folder / "id_ed25519")
        shutil.copy(path.with_suffix(".pub"), folder / "id_ed25519.pub")
    (homes / "nobody").mkdir()
    return homes


@pytest.fixture
def place(
    tmp_path: Path,
    home_keys: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Place:
    """Give a project with an entry, an author and a reviewer, of a test's id."""
    made = Place(tmp_path / "project", home_keys, monkeypatch, capsys)
    monkeypatch.delenv("GLOSSARY_REGISTRY_PIN", raising=False)
    made.write("glossary/settings.yml", "title: Test glossary\n")
    made.write("glossary/people.yml", "project: test-glossary\npeople: []\n")
    made.write(".gitattributes", "* -text\n")
    made.write(f"glossary/{ENTRY}/entry.md", entry_text("test term", "Prose of the entry."))
    for name in ("author", "reviewer"):
        made.run(*joins(home_keys, name))
    return made


def joins(homes: Path, name: str, *more: str) -> list[str]:
    """Give the command that adds somebody, whose key was made long ago."""
    key = homes / name / ".ssh/id_ed25519.pub"
    words = ["people", "add", f"test-{name}", "--name", f"Test {name.title()}", "--key", str(key)]
    return [*words, "--not-before", "2026-01-01", *more]


# ── joining ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--may", "write"], "glossary/people.yml: people-field: --may: expected 'author'"),
        (["--not-after", "soon"], "glossary/people.yml: people-field: --not-after: a date is"),
        (["--name", "Test\tThird"], "glossary/people.yml: "),
        (["--vouched-by", "test-nobody"], "glossary/people.yml: "),
    ],
)
def test_what_is_wrong_with_a_newcomer_is_told_by_option(
    place: Place, home_keys: Path, words: list[str], told: str
) -> None:
    """The text with them in it was never written: its lines would be no place to look at."""
    before = place.files()
    shown = place.run(*joins(home_keys, "outsider"), *words, expect=1)
    assert shown.startswith(told)
    assert "people.yml:" not in shown.replace("people.yml: ", "")
    assert "nothing was written" in shown or "\n    " in shown
    assert place.files() == before


def test_who_stands_there_already_is_told_where_they_stand(place: Place, home_keys: Path) -> None:
    """A second person with a name or a key that is taken: the lines are those of the file."""
    lines = (place.root / "glossary/people.yml").read_text(encoding="utf-8").split("\n")
    shown = place.run(*joins(home_keys, "author"), expect=1)
    assert "who would be added" in shown
    named = {int(found) for found in re.findall(r"people\.yml:(\d+):", shown)}
    assert named
    for line in named:
        assert any(word in lines[line - 1] for word in ("test-author", "ssh-ed25519"))


def test_a_registry_without_people_says_how_one_joins(place: Place) -> None:
    """Where nobody can sign yet, the first step is told by `status`."""
    assert "nobody is registered" not in place.run("status")
    place.write("glossary/people.yml", "project: test-glossary\npeople: []\n")
    told = place.run("status")
    assert "nobody is registered yet: glossary people add ID --name NAME --key FILE.pub" in told


def test_check_sees_a_name_that_nobody_has(place: Place) -> None:
    """A mistyped author or reviewer is a problem at its key, with who is meant."""
    place.replace(
        f"glossary/{ENTRY}/entry.md",
        "written_by: test-author",
        "written_by: tset-author\n  reviewed_by: nobody",
    )
    told = place.run("check", expect=1)
    assert f"glossary/{ENTRY}/entry.md:8:3: unknown-person: 'tset-author' is nobody" in told
    assert "did you mean 'test-author'?" in told
    assert f"glossary/{ENTRY}/entry.md:9:3: unknown-person: 'nobody' is nobody" in told
    assert "glossary people add nobody --name NAME --key FILE.pub" in told


# ── the way an entry goes ────────────────────────────────────────────────────────────────────


def test_an_entry_goes_from_draft_to_published_and_back(place: Place) -> None:
    """Refused alone, published by two, outdated by one character: each command says so."""
    assert "missing: the author's signature by test-author" in place.run("verify")
    assert f"{ENTRY}: draft" in place.run("sign", ENTRY)
    told = place.run("review", ENTRY, "--yes", "--scope", "prose", expect=1)
    assert "self-review" in told
    told = place.run("review", ENTRY, "--yes", "--scope", "prose", home="reviewer")
    assert f"{ENTRY}: published" in told
    assert "registry not pinned" in told
    assert f"git add {SIGNATURES}" in told
    assert "published" in place.run("verify", ENTRY)
    place.replace(f"glossary/{ENTRY}/entry.md", "Prose of", "prose of")
    told = place.run("verify", ENTRY, expect=1)
    assert "outdated" in told
    assert f"changed glossary/{ENTRY}/entry.md" in told


def test_an_author_who_reviews_himself_writes_nothing(place: Place) -> None:
    """The refusal comes before a signature is made, and no file is left."""
    place.run("sign", ENTRY)
    before = place.files()
    place.run("review", ENTRY, "--yes", "--scope", "prose", expect=1)
    assert place.files() == before


def test_nobodys_key_signs_nothing(place: Place) -> None:
    """Without a key at hand, or with one that nobody registered, the message says what to do."""
    for home in ("nobody", "outsider"):
        told = place.run("sign", ENTRY, home=home, expect=1)
        assert "no-signing-key" in told
        assert "glossary doctor" in told
    assert not (place.root / SIGNATURES).exists()


def test_a_reviewer_cannot_sign_as_the_author(place: Place) -> None:
    """Whose key it is decides who signs; a name on the command line does not."""
    assert "unnamed-author" in place.run("sign", ENTRY, home="reviewer", expect=1)
    told = place.run("sign", ENTRY, "--as", "test-author", home="reviewer", expect=1)
    assert "no live key of test-author" in told


def test_an_encrypted_key_that_nobody_opens_leaves_nothing(place: Place, tmp_path: Path) -> None:
    """When `ssh-keygen` makes no signature, no half of one is written."""
    key = keygen(tmp_path, "locked", "-t", "ed25519")
    assert key.path is not None
    place.run(
        *["people", "add", "test-third", "--name", "Test Third"],
        *["--key", f"{key.path}.pub", "--not-before", "2026-01-01"],
    )
    place.replace(f"glossary/{ENTRY}/entry.md", "test-author", "test-third")
    change = [SSH_KEYGEN, "-q", "-p", "-N", "test", "-P", "", "-f", str(key.path)]
    subprocess.run(change, check=True, capture_output=True)
    before = place.files()
    assert "signing-failed" in place.run("sign", ENTRY, "--key", str(key.path), expect=1)
    assert place.files() == before
    assert not list(place.root.glob(".glossary-*"))


def test_checks_give_the_last_day(place: Place) -> None:
    """`check ID --sign` records that somebody checked the very bytes that are published."""
    place.sign_both()
    assert "published" in place.run("check", ENTRY, "--sign", home="reviewer")
    data = json.loads(place.run("verify", ENTRY, "--json"))
    assert "check" in [signed["kind"] for signed in data["entries"][0]["signed"]]


def test_a_check_without_sign_changes_nothing(place: Place) -> None:
    """`check` alone looks, as before."""
    before = place.files()
    place.run("check", ENTRY)
    assert place.files() == before


def test_a_retraction_says_why(place: Place) -> None:
    """A retracted entry is no longer published, and editing it does not undo that."""
    place.sign_both()
    told = place.run("retract", ENTRY, "--reason", "The count was wrong.", home="reviewer")
    assert f"{ENTRY}: retracted" in told
    place.replace(f"glossary/{ENTRY}/entry.md", "Prose", "More prose")
    assert "retracted" in place.run("verify", ENTRY, expect=1)


@pytest.mark.parametrize("reason", ["", "two\nlines", "<script>x</script>", "hid\u202eden"])
def test_a_reason_is_one_plain_line(place: Place, reason: str) -> None:
    """A reason is printed on the page's tombstone, so it is one visible line."""
    place.sign_both()
    told = place.run("retract", ENTRY, "--reason", reason, expect=1)
    assert "statement-field" in told or "json-value" in told
    assert len(list((place.root / SIGNATURES).iterdir())) == 4


def test_a_rotated_key_signs_the_same_bytes_again(place: Place, tmp_path: Path) -> None:
    """With an expired key the entry is refused; the new key's signature keeps the first day."""
    place.sign_both()
    place.replace("glossary/people.yml", "  - id: test-author", "  - id: test-author")
    new = keygen(tmp_path, "new", "-t", "ed25519")
    people = (place.root / "glossary/people.yml").read_text()
    start = people.index("- id: test-author")
    old_day, ended = (
        "not_before: 2026-01-01",
        "not_before: 2026-01-01\n        not_after: 2026-01-02",
    )
    key = f"\n      - key: {new.line}\n        not_before: 2026-01-01"
    mine = people[start:].replace(old_day, ended + key, 1)
    place.write("glossary/people.yml", people[:start] + mine)
    assert "expired-key" in place.run("verify", expect=1)
    told = place.run("rotate", "--key", str(new.path))
    assert "1 statements signed with the new key" in told
    assert "published" in place.run("verify", ENTRY)
    statement = json.loads((place.root / SIGNATURES / "author.test-author.json").read_text())
    assert statement["predicate"]["first_signed"] <= statement["predicate"]["date"]


def test_a_revoked_keys_statements_are_not_rotated(place: Place, tmp_path: Path) -> None:
    """Nobody can tell when a revoked key signed, so its statements must be made anew."""
    place.sign_both()
    new = keygen(tmp_path, "new", "-t", "ed25519")
    line = (place.homes / "author/.ssh/id_ed25519.pub").read_text().rsplit(" ", 1)[0]
    people = (place.root / "glossary/people.yml").read_text()
    start = people.index("- id: test-author")
    key = f"not_before: 2026-01-01\n      - key: {new.line}\n        not_before: 2026-01-01"
    mine = people[start:].replace("not_before: 2026-01-01", key, 1)
    revoked = f"revoked:\n  - key: {line}\n    on: 2026-11-01\n    reason: lost\n"
    place.write("glossary/people.yml", people[:start] + mine + revoked)
    assert "revoked-key" in place.run("verify", expect=1)
    assert "0 statements" in place.run("rotate", "--key", str(new.path))


def test_nothing_to_rotate_is_no_fault(place: Place) -> None:
    """A person whose statements are all by their present key has nothing to do."""
    place.sign_both()
    assert "0 statements" in place.run("rotate")


# ── reviewing ────────────────────────────────────────────────────────────────────────────────


def test_a_review_without_answers_must_name_its_scope(place: Place) -> None:
    """`--yes` says nothing of what was looked at, and nobody at the terminal answers."""
    assert "--scope" in place.run("review", ENTRY, "--yes", home="reviewer", expect=2)
    assert "nobody is here" in place.run("review", ENTRY, home="reviewer", expect=2)
    told = place.run("review", ENTRY, "--yes", "--scope", "all", home="reviewer", expect=1)
    assert told.startswith("glossary: review-scope: 'all' is no part of an entry")


def test_a_bundle_of_no_such_scope_is_not_made(place: Place, tmp_path: Path) -> None:
    """The fault is told before anything is built or written."""
    bundle = tmp_path / "bundle.zip"
    words = ["request-review", ENTRY, "--scope", "nonsense", "--output", str(bundle)]
    assert place.run(*words, expect=1).startswith("glossary: review-scope: 'nonsense'")
    assert not bundle.exists()


def test_a_review_shows_what_changed_since_the_last(place: Place) -> None:
    """A reviewer sees the diff since the bytes they signed, found in git's history."""
    git(place.root, "init", "-q", "-b", "main")
    place.sign_both()
    git(place.root, "add", ".")
    git(place.root, "commit", "-q", "-m", "test")
    place.replace(f"glossary/{ENTRY}/entry.md", "Prose of the entry.", "Prose, corrected.")
    told = place.run("review", ENTRY, "--yes", "--scope", "prose", home="reviewer")
    assert "-Prose of the entry." in told
    assert "+Prose, corrected." in told


def test_a_first_review_says_that_all_is_new(place: Place) -> None:
    """Somebody who never signed is told to read all of it."""
    told = place.run("review", ENTRY, "--yes", "--scope", "prose", home="reviewer")
    assert "all of it is new to you" in told


def answer(place: Place, answers: str, *words: str) -> tuple[int, str]:
    """Run a command of the reviewer at a terminal, and type answers."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "measured_glossary.cli", *words, "--root", str(place.root)]
    environment = {**os.environ, "HOME": str(place.homes / "reviewer")}
    os.write(ours, answers.encode())
    done = subprocess.run(
        command, stdin=theirs, capture_output=True, env=environment, check=False, timeout=120
    )
    os.close(ours)
    os.close(theirs)
    return done.returncode, (done.stdout + done.stderr).decode()


def test_a_reviewer_at_a_terminal_is_asked_part_by_part(place: Place) -> None:
    """The scope is what was answered with yes; without a yes at the end nothing is signed."""
    status, told = answer(place, "y\nn\nn\nn\ny\nn\n", "review", ENTRY)
    assert (status, "nothing was signed" in told) == (1, True)
    assert not (place.root / SIGNATURES).exists()
    status, told = answer(place, "y\nn\nn\nn\ny\ny\n", "review", ENTRY)
    assert status == 0, told
    statement = json.loads((place.root / SIGNATURES / "review.test-reviewer.json").read_text())
    assert statement["predicate"]["scope"] == ["prose", "sources"]


def test_a_reviewer_outside_needs_only_ssh_keygen(place: Place, tmp_path: Path) -> None:
    """From the bundle alone somebody outside checks the files and signs, and that counts."""
    place.run("sign", ENTRY)
    place.run(*joins(place.homes, "outsider", "--may", "review"))
    bundle, desk = tmp_path / "bundle.zip", tmp_path / "desk"
    place.run("request-review", ENTRY, "--of", "test-outsider", "--output", str(bundle))
    zipfile.ZipFile(bundle).extractall(desk)
    check = ["sha256sum", "--quiet", "-c", "../SHA256SUMS"]
    subprocess.run(check, cwd=desk / "files", check=True)
    readme = (desk / "README.txt").read_text()
    command = next(line for line in readme.splitlines() if "-Y sign" in line).split()
    key = str(place.homes / "outsider/.ssh/id_ed25519")
    words = [key if word.startswith("~") else word for word in command]
    subprocess.run(words, cwd=desk, check=True, capture_output=True)
    for file in desk.glob("review.*"):
        shutil.copy(file, place.root / SIGNATURES)
    assert "published" in place.run("verify", ENTRY)


def test_a_bundle_for_somebody_unknown_asks_who_they_are(place: Place, tmp_path: Path) -> None:
    """Without a registered reviewer the bundle holds no statement, and says what to send back."""
    bundle = tmp_path / "bundle.zip"
    told = place.run("request-review", ENTRY, "--output", str(bundle))
    assert "glossary people add" in told
    with zipfile.ZipFile(bundle) as archive:
        names = archive.namelist()
        assert "your public key" in archive.read("README.txt").decode()
    assert names == ["README.txt", "SHA256SUMS", f"files/glossary/{ENTRY}/entry.md"]
    again = tmp_path / "new" / "again.zip"
    place.run("request-review", ENTRY, "--output", str(again))
    assert again.read_bytes() == bundle.read_bytes()


def test_a_bundle_is_a_new_file(place: Place, tmp_path: Path) -> None:
    """What stands there is somebody's work, and what cannot be written is told cleanly."""
    (tmp_path / "link").symlink_to(tmp_path / "nothing")
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("work")
    ways = {
        "link": "file-exists",
        "folder": "file-exists",
        "file": "file-exists",
        "file/x.zip": "cannot-write",
        "x" * 300: "cannot-write",
    }
    for name, code in ways.items():
        told = place.run("request-review", ENTRY, "--output", f"{tmp_path}/{name}", expect=1)
        assert f": {code}: " in told
        assert "choose another name" in told or "look at" in told
    assert (tmp_path / "file").read_text() == "work"
    assert not (tmp_path / "nothing").exists()


def test_a_registry_that_cannot_be_written_is_told_cleanly(place: Place) -> None:
    """The system's own words, and no traceback; the registry stays as it is."""
    before = (place.root / "glossary/people.yml").read_bytes()
    (place.root / f"glossary/.people.yml.{os.getpid()}.part").mkdir()
    told = place.run(*joins(place.homes, "outsider", "--may", "review"), expect=1)
    assert told.startswith("glossary/people.yml: cannot-write: cannot be written: Is a directory")
    assert (place.root / "glossary/people.yml").read_bytes() == before


# ── verifying ────────────────────────────────────────────────────────────────────────────────


def test_the_manifest_is_what_sha256sum_reads(place: Place) -> None:
    """A reader checks the signed files with nothing of ours."""
    told = place.run("manifest", ENTRY)
    sums = "".join(line + "\n" for line in told.splitlines() if "  " in line)
    subprocess.run(
        ["sha256sum", "--quiet", "-c", "-"], input=sums.encode(), cwd=place.root, check=True
    )
    data = json.loads(place.run("manifest", ENTRY, "--json"))
    assert f"manifest {data['manifest']}" in told


def test_a_second_verifier_agrees(place: Place) -> None:
    """The deploy job asks `ssh-keygen` too, and says that it did."""
    place.sign_both()
    told = place.run("verify", ENTRY, "--also-with", "ssh-keygen")
    assert f"second verifier: {SSH_KEYGEN}" in told


@pytest.mark.parametrize("stub", ["exit 0", "exit 255", "exit 1"])
def test_a_stub_for_a_second_verifier_is_noticed(place: Place, tmp_path: Path, stub: str) -> None:
    """A stand-in that accepts or refuses everything stops the verification."""
    place.sign_both()
    tool = tmp_path / "ssh-keygen"
    tool.write_text(f"#!/bin/sh\n{stub}\n")
    tool.chmod(0o755)
    words = ["verify", ENTRY, "--also-with", "ssh-keygen", "--ssh-keygen", str(tool)]
    assert "second-verifier" in place.run(*words, expect=1)


def test_a_stub_on_the_search_path_is_not_asked(place: Place, tmp_path: Path) -> None:
    """`PATH` does not choose the verifier."""
    place.sign_both()
    tool = tmp_path / "ssh-keygen"
    tool.write_text("#!/bin/sh\nexit 255\n")
    tool.chmod(0o755)
    place.monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert "published" in place.run("verify", ENTRY, "--also-with", "ssh-keygen")


def test_a_change_cannot_vouch_for_itself(place: Place) -> None:
    """A reviewer whom the change adds is nobody to the base branch's registry."""
    git(place.root, "init", "-q", "-b", "main")
    git(place.root, "add", ".")
    git(place.root, "commit", "-q", "-m", "test")
    place.run("sign", ENTRY)
    place.run(*joins(place.homes, "outsider", "--may", "review"))
    place.run("review", ENTRY, "--yes", "--scope", "prose", home="outsider")
    assert "published" in place.run("verify", ENTRY)
    told = place.run("verify", ENTRY, "--registry-from", "main", expect=1)
    assert "unknown-person" in told
    assert "judged by the registry of main" in told


def test_a_key_that_the_change_adds_does_not_count(place: Place, tmp_path: Path) -> None:
    """A second key of a known person, brought by the change itself, is unregistered."""
    git(place.root, "init", "-q", "-b", "main")
    git(place.root, "add", ".")
    git(place.root, "commit", "-q", "-m", "test")
    new = keygen(tmp_path, "new", "-t", "ed25519")
    key = f"not_before: 2026-01-01\n      - key: {new.line}\n        not_before: 2026-01-01"
    people = (place.root / "glossary/people.yml").read_text()
    start = people.index("- id: test-author")
    mine = people[start:].replace("not_before: 2026-01-01", key, 1)
    place.write("glossary/people.yml", people[:start] + mine)
    place.run("sign", ENTRY, "--key", str(new.path))
    told = place.run("verify", "--registry-from", "main", expect=1)
    assert "unregistered-key" in told


def test_a_revocation_that_the_change_drops_is_told(place: Place, keys: dict[str, TestKey]) -> None:
    """The base branch revoked a key; a tree without that line is refused beside it."""
    text = (place.root / "glossary/people.yml").read_text()
    revoked = f"revoked:\n  - key: {keys['rsa'].line}\n    on: 2026-11-01\n    reason: lost\n"
    place.write("glossary/people.yml", text + revoked)
    git(place.root, "init", "-q", "-b", "main")
    git(place.root, "add", ".")
    git(place.root, "commit", "-q", "-m", "test")
    place.write("glossary/people.yml", text)
    told = place.run("verify", "--registry-from", "main", expect=1)
    assert "revocation-dropped" in told
    lint = place.run("people", "lint", "--registry-from", "main", expect=1)
    assert "revocation-dropped" in lint


def test_a_retraction_that_the_change_drops_is_told(place: Place) -> None:
    """What the base branch took back is not published again by deleting that it was."""
    place.sign_both()
    place.run("retract", ENTRY, "--reason", "The count was wrong.", home="reviewer")
    git(place.root, "init", "-q", "-b", "main")
    git(place.root, "add", ".")
    git(place.root, "commit", "-q", "-m", "test")
    beside = ("verify", "--registry-from", "main")
    assert "retraction-dropped" not in place.run(*beside)
    for path in (place.root / SIGNATURES).glob("retract.*"):
        path.unlink()
    assert f"{ENTRY}: published" in place.run("verify", ENTRY)
    told = place.run(*beside, expect=1)
    file = f"{SIGNATURES}/retract.test-reviewer.json"
    assert f"{file}: retraction-dropped: stands in main, and no longer here" in told
    assert f"git checkout main -- {file} {file}.sig" in told
    shutil.rmtree(place.root / "glossary" / ENTRY)
    assert "retraction-dropped" not in place.run(*beside)


def test_production_refuses_a_test_project(place: Place) -> None:
    """With a pin, the demonstration's registry judges nothing, though it is the pinned one."""
    import hashlib

    raw = (place.root / "glossary/people.yml").read_bytes()
    place.monkeypatch.setenv("GLOSSARY_REGISTRY_PIN", hashlib.sha256(raw).hexdigest())
    assert "test-project" in place.run("verify", expect=1)
    place.monkeypatch.setenv("GLOSSARY_REGISTRY_PIN", "0" * 64)
    assert "registry-pin" in place.run("verify", expect=1)


LOOSENERS = {
    "PYTHONOPTIMIZE": "2",
    "GLOSSARY_SKIP_SIGNATURES": "1",
    "GLOSSARY_REGISTRY_PIN": "",
    "SOURCE_DATE_EPOCH": "0",
    "CONFUSABLE_DATA": "/nonexistent",
}


@pytest.mark.parametrize("name", LOOSENERS)
def test_no_variable_loosens_the_gate(place: Place, name: str) -> None:
    """With any of these set, an entry that nobody reviewed stays a draft."""
    place.run("sign", ENTRY)
    place.monkeypatch.setenv(name, LOOSENERS[name])
    assert "missing: a review" in place.run("verify", ENTRY, expect=1)


def test_python_without_assertions_verifies_the_same(place: Place) -> None:
    """`python -O` drops no check."""
    place.run("sign", ENTRY)
    place.replace(f"{SIGNATURES}/author.test-author.json", "author", "reviewer")
    command = [sys.executable, "-O", "-m", "measured_glossary.cli", "verify"]
    done = subprocess.run(
        [*command, "--root", str(place.root)], capture_output=True, check=False, timeout=120
    )
    assert done.returncode == 1
    assert b"refused" in done.stdout


def test_an_unknown_entry_is_told(place: Place) -> None:
    """A mistyped id gets the list of those there are."""
    for words in (["verify", "nothing"], ["sign", "nothing"], ["manifest", "nothing"]):
        assert f"there are: {ENTRY}" in place.run(*words, expect=1)


# ── people and the doctor ────────────────────────────────────────────────────────────────────


def test_a_fault_leaves_the_registry_as_it_was(place: Place) -> None:
    """A person who would not be in order is not written."""
    before = place.files()
    spoiled: list[Callable[[], list[str]]] = [
        lambda: joins(place.homes, "author"),
        lambda: joins(place.homes, "outsider", "--vouched-by", "test-nobody"),
        lambda: joins(place.homes, "outsider", "--kind", "human", "--may", "measure"),
        lambda: [*joins(place.homes, "outsider"), "--name", "Tеst Author"],
        lambda: [*joins(place.homes, "outsider"), "--name", "Test\nAuthor"],
        lambda: [*joins(place.homes, "outsider"), "--not-after", "soon"],
        lambda: [
            *joins(place.homes, "outsider"),
            "--key",
            str(place.homes / "author/.ssh/id_ed25519"),
        ],
        lambda: [*joins(place.homes, "outsider"), "--key", "nothing.pub"],
    ]
    for words in spoiled:
        place.run(*words(), expect=1)
        assert place.files() == before


def test_a_machine_joins_to_measure(place: Place) -> None:
    """A machine gets no areas and one role."""
    place.run(*joins(place.homes, "outsider", "--kind", "machine"))
    text = (place.root / "glossary/people.yml").read_text()
    assert "kind: machine\n    may: [measure]\n    keys:" in text
    assert "3 people, in order" in place.run("people", "lint")


def test_newcomers_stand_in_the_manner_of_the_lines_around(place: Place) -> None:
    """Other lines of the registry, comments too, stay as they are."""
    place.write(
        "glossary/people.yml",
        "# Who may sign.\nproject: test-glossary\npeople:   \n- id: test-old\n  name: Test Old\n"
        "  kind: human\n  may: [check]\n  areas: [all]\nwithdrawn: []  # none yet\n",
    )
    place.run(*joins(place.homes, "author"))
    text = (place.root / "glossary/people.yml").read_text()
    assert text.startswith(
        "# Who may sign.\nproject: test-glossary\npeople:   \n- id: test-author\n"
    )
    assert text.endswith("- id: test-old\n  name: Test Old\n  kind: human\n  may: [check]\n"
                         "  areas: [all]\nwithdrawn: []  # none yet\n")  # fmt: skip


def test_the_doctor_says_what_works(place: Place) -> None:
    """Everything in order is said line by line, with the person the keys belong to."""
    told = place.run("doctor")
    assert "FIX" not in told
    assert "test-author with" in told


@pytest.mark.parametrize("raw", [b"* -text\n# caf\xe9\n", b"\xff\n\t*   -text\r\n"])
def test_the_doctor_reads_attributes_of_any_encoding(place: Place, raw: bytes) -> None:
    """Git asks for none: a comment in an old one hides nothing."""
    (place.root / ".gitattributes").write_bytes(raw)
    assert "FIX" not in place.run("doctor")


def test_a_key_that_cannot_be_read_is_told_cleanly(place: Place) -> None:
    """A name that no file can have ends no command in a traceback."""
    name = "x" * 300
    told = place.run("people", "add", "test-x", "--name", "X", "--key", f"{name}.pub", expect=1)
    assert ".pub: unreadable-file: cannot be read: File name too long" in told
    assert "no-signing-key" in place.run("sign", ENTRY, "--key", name, expect=1)


DISEASES: dict[str, tuple[Callable[[Place], object], str, str]] = {
    "no keys": (lambda p: None, "nobody", "none at hand"),
    "a key nobody registered": (lambda p: None, "outsider", "no key at hand is live"),
    "line ends that may change": (lambda p: p.write(".gitattributes", ""), "author", "* -text"),
    "a broken registry": (
        lambda p: p.write("glossary/people.yml", "project: [\n"),
        "author",
        "yaml-syntax",
    ),
    "a key that ends soon": (
        lambda p: p.replace(
            "glossary/people.yml",
            "not_before: 2026-01-01",
            f"not_before: 2026-01-01\n        not_after: {soon()}",
        ),
        "author",
        "last key ends in",
    ),
}


def soon() -> str:
    """Give a day of next week."""
    import datetime

    from measured_glossary.cli_verify import today

    return (today() + datetime.timedelta(days=7)).isoformat()


@pytest.mark.parametrize("name", DISEASES)
def test_the_doctor_says_what_to_do(place: Place, name: str) -> None:
    """Each thing that does not work is told with what to do about it."""
    spoil, home, told = DISEASES[name]
    spoil(place)
    assert told in place.run("doctor", home=home, expect=1)


# ── the whole, built ─────────────────────────────────────────────────────────────────────────

CANARIES = ("titlecanary", "prosecanary", "altcanary", "codecanary", "aliascanary", "figurecanary")


def with_draft(place: Place) -> None:
    """Sign the entry, and put a draft full of canaries beside it."""
    place.sign_both()
    draft = entry_text("Titlecanary", "The prosecanary. ![altcanary](figurecanary.svg)\n\n"
                       "```cpp\nint codecanary = 1;\n```")  # fmt: skip
    draft = draft.replace("applies_to:", "aliases: [aliascanary]\napplies_to:")
    place.write(f"glossary/{HIDDEN}/entry.md", draft)
    place.write(f"glossary/{HIDDEN}/figurecanary.svg", "<svg xmlns='http://www.w3.org/2000/svg'/>")


def test_an_export_passes_the_audit_and_a_leak_does_not(place: Place, tmp_path: Path) -> None:
    """What `export` writes is audited as a site is, whatever generator comes after."""
    with_draft(place)
    (place.root / "docs").mkdir()
    place.run("export", str(tmp_path / "exported"))
    tree = tmp_path / "exported" / "docs"
    assert "1 published" in place.run("audit", str(tree))
    (tree / "feed.xml.gz").write_bytes(gzip.compress(b"<item>prosecanary</item>"))
    assert "audit-leak" in place.run("audit", str(tree), expect=1)


def test_a_site_holds_no_canary_and_a_preview_is_refused(place: Place) -> None:
    """A site that MkDocs builds has nothing of the draft in any file; its preview is refused."""
    with_draft(place)
    place.write("docs/index.md", "# Home\n")
    place.write(
        "mkdocs.yml",
        "site_name: Test\nsite_url: https://example.invalid/\ntheme: mkdocs\n"
        "plugins: [search, measured-glossary]\n"
        "markdown_extensions: [attr_list, md_in_html, tables, measured_glossary.markdown]\n",
    )
    build = [sys.executable, "-m", "mkdocs", "build", "-q", "-f", str(place.root / "mkdocs.yml")]
    subprocess.run(build, check=True, capture_output=True, timeout=120)
    site = place.root / "site"
    assert "1 published" in place.run("audit", str(site))
    for path in (path for path in site.rglob("*") if path.is_file()):
        raw = path.read_bytes()
        raw = gzip.decompress(raw) if path.suffix == ".gz" else raw
        assert not [word for word in CANARIES if word in raw.decode("utf-8", "replace").lower()]
        assert HIDDEN not in path.as_posix()
    place.run("preview")
    told = place.run("audit", str(place.root / "preview"), expect=1)
    assert "audit-preview" in told
    assert "audit-leak" in told
