"""`ssh-keygen` as the signer and as the second verifier: what it does, and what a stub cannot."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from measured_glossary.trust.signing import (
    Signer,
    agent_keys,
    find_tool,
    second_opinion,
    self_test,
    sign,
)
from measured_glossary.trust.sshsig import Fault, PublicKey, armor, parse_key
from trust.trust_keys import TestKey, keygen, sshsig, sshsig_blob

SPACE, MESSAGE = "author@measured-glossary", b"a test message\n"
TOOL = Path("/usr/bin/ssh-keygen")
AGENT = Path("/usr/bin/ssh-agent")
ADD = Path("/usr/bin/ssh-add")


def public(key: TestKey) -> PublicKey:
    """Give a key as our reader gives it."""
    read = parse_key(key.line)
    assert isinstance(read, PublicKey)
    return read


def signer(key: TestKey, tool: Path = TOOL, **environment: str) -> Signer:
    """Give a signer that nobody answers for."""
    return Signer(
        tool=tool,
        public=public(key),
        key=key.path,
        environment=environment,
        interactive=False,
    )


def script(folder: Path, text: str) -> Path:
    """Write a stand-in for `ssh-keygen`."""
    path = folder / "stub"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


# ── signing ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("kind", ["author", "second", "third", "rsa"])
def test_a_signature_is_made_and_verified_at_once(keys: dict[str, TestKey], kind: str) -> None:
    """`ssh-keygen` signs with each kind of key; what comes back is verified by both."""
    made = sign(signer(keys[kind]), SPACE, MESSAGE)
    assert isinstance(made, bytes), made
    question = {"namespace": SPACE, "message": MESSAGE}
    assert second_opinion(TOOL, public(keys[kind]), **question, armored=made) is None  # type: ignore[arg-type]


def test_an_encrypted_key_without_anybody_to_ask_is_told(tmp_path: Path) -> None:
    """A key with a passphrase and nobody at the terminal ends in a fault, not in waiting."""
    key = keygen(tmp_path, "locked", "-t", "ed25519")
    assert key.path is not None
    change = ["/usr/bin/ssh-keygen", "-q", "-p", "-N", "test", "-P", "", "-f", str(key.path)]
    subprocess.run(change, check=True, capture_output=True)
    refused = sign(signer(key), SPACE, MESSAGE)
    assert isinstance(refused, Fault)
    assert refused.code == "signing-failed"
    assert "passphrase" in refused.message


def test_a_passphrase_program_is_asked(tmp_path: Path) -> None:
    """As with git, `SSH_ASKPASS` can answer for an encrypted key."""
    key = keygen(tmp_path, "locked", "-t", "ed25519")
    change = ["/usr/bin/ssh-keygen", "-q", "-p", "-N", "test", "-P", "", "-f", str(key.path)]
    subprocess.run(change, check=True, capture_output=True)
    ask = script(tmp_path, "echo test")
    asking = Signer(
        tool=TOOL,
        public=public(key),
        key=key.path,
        environment={"SSH_ASKPASS": str(ask), "SSH_ASKPASS_REQUIRE": "force"},
    )
    assert isinstance(sign(asking, SPACE, MESSAGE), bytes)


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[str]:
    """Give the socket of an agent of our own."""
    socket = str(tmp_path / "agent")
    process = subprocess.Popen([AGENT, "-D", "-a", socket], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()  # printed once the socket is there
    yield socket
    process.terminate()
    process.wait()
    process.stdout.close()


def test_a_key_that_only_an_agent_holds_signs(tmp_path: Path, agent: str) -> None:
    """With the private key gone from the disk the agent signs, as with git."""
    key = keygen(tmp_path, "moved", "-t", "ed25519")
    assert key.path is not None
    environment = {"SSH_AUTH_SOCK": agent}
    subprocess.run([ADD, str(key.path)], env=environment, check=True, capture_output=True)
    key.path.unlink()
    held = agent_keys(ADD, environment)
    assert [line.split()[1] for line in held] == [key.line.split()[1]]
    using = Signer(
        tool=TOOL, public=public(key), key=None, environment=environment, interactive=False
    )
    assert isinstance(sign(using, SPACE, MESSAGE), bytes)


def test_no_agent_holds_no_keys(tmp_path: Path) -> None:
    """A missing agent, a dead socket and a missing tool all hold nothing."""
    assert agent_keys(ADD, {}) == ()
    assert agent_keys(ADD, {"SSH_AUTH_SOCK": str(tmp_path / "nothing")}) == ()
    assert agent_keys(tmp_path / "nothing", {}) == ()


STUB_SIGNERS = {
    "writes nothing and exits 0": "exit 0",
    "writes nothing and exits 1": "echo no >&2; exit 1",
    "writes something else": "echo signed",
    "reads nothing": "exec 0<&-; exit 0",
}


@pytest.mark.parametrize("name", STUB_SIGNERS)
def test_a_signer_that_made_nothing_good_is_told(
    keys: dict[str, TestKey], tmp_path: Path, name: str
) -> None:
    """Whatever a signer writes is verified; exit status 0 alone proves nothing."""
    stub = script(tmp_path, STUB_SIGNERS[name])
    refused = sign(signer(keys["author"], stub), SPACE, MESSAGE)
    assert isinstance(refused, Fault)
    assert refused.code == "signing-failed"


def test_a_signature_by_another_key_is_not_taken(keys: dict[str, TestKey]) -> None:
    """If the file holds another key than the one expected, its signature is not taken."""
    mistaken = Signer(
        tool=TOOL,
        public=public(keys["author"]),
        key=keys["reviewer"].path,
        environment={},
        interactive=False,
    )
    refused = sign(mistaken, SPACE, MESSAGE)
    assert isinstance(refused, Fault)
    assert "another key" in refused.message


def test_the_environment_does_not_reach_the_signer(
    keys: dict[str, TestKey], tmp_path: Path
) -> None:
    """Of the caller's variables only those that agents and passphrases need are passed on."""
    seen = tmp_path / "seen"
    stub = script(tmp_path, f"env > {seen}; exit 1")
    sign(signer(keys["author"], stub, LD_PRELOAD="x", PATH="x", TERM="dumb"), SPACE, MESSAGE)
    names = {line.partition("=")[0] for line in seen.read_text().splitlines()}
    assert "LD_PRELOAD" not in names
    assert {"TERM", "TZ", "LC_ALL"} <= names


# ── the second verifier ──────────────────────────────────────────────────────────────────────


def test_ssh_keygen_knows_the_known_answers() -> None:
    """The real tool passes the self-test."""
    assert self_test(TOOL) is None


STUBS = {
    "accepts everything": "exit 0",
    "refuses everything": "exit 255",
    "exits 1 as on misuse": "exit 1",
    "crashes": "kill -9 $$",
    "accepts once the namespace is right": 'case "$*" in *author@*) exit 0;; esac; exit 255',
    "looks at the namespace and the key": (
        'case "$*" in *author@*) grep -q Ilt "$4" || true; '
        'grep -q ItudMPoP "$4" && exit 0 || grep -q ILbnTD6D "$4" && exit 0;; esac; exit 255'
    ),
}


@pytest.mark.parametrize("name", STUBS)
def test_a_stub_is_noticed(tmp_path: Path, name: str) -> None:
    """A stand-in that does not look at the message, namespace and key fails the self-test."""
    fault = self_test(script(tmp_path, STUBS[name]))
    assert fault is not None
    assert fault.code == "second-verifier"


def test_a_missing_tool_is_told(tmp_path: Path) -> None:
    """Without the tool there is a fault with what to install."""
    fault = self_test(tmp_path / "nothing")
    assert fault is not None
    assert "install OpenSSH" in fault.hint


def test_the_second_verifier_refuses_other_bytes(keys: dict[str, TestKey]) -> None:
    """It refuses another message, another namespace and another key."""
    made = sshsig(keys["author"], SPACE, MESSAGE)
    for key, space, message in (
        ("author", SPACE, MESSAGE + b"x"),
        ("author", "review@measured-glossary", MESSAGE),
        ("reviewer", SPACE, MESSAGE),
    ):
        fault = second_opinion(
            TOOL, public(keys[key]), namespace=space, message=message, armored=made
        )
        assert fault is not None
        assert fault.code == "second-opinion"


@pytest.mark.parametrize("kind", ["sk", "sk-ecdsa"])
def test_the_second_verifier_knows_security_keys(keys: dict[str, TestKey], kind: str) -> None:
    """Both kinds of security key are verified without the key being there."""
    made = armor(sshsig_blob(keys[kind], SPACE, MESSAGE))
    question = public(keys[kind])
    assert second_opinion(TOOL, question, namespace=SPACE, message=MESSAGE, armored=made) is None


def test_the_tool_is_found_by_its_absolute_path(tmp_path: Path) -> None:
    """The search path is not asked: a stub in front of it is never used."""
    script(tmp_path, "exit 0").rename(tmp_path / "ssh-keygen")
    os_path = os.environ["PATH"]
    assert str(tmp_path) not in os_path
    assert find_tool() == TOOL
    assert find_tool(folders=[str(tmp_path)]) == tmp_path / "ssh-keygen"
    assert find_tool(folders=["relative"]) is None
