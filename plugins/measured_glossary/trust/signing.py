"""`ssh-keygen`: it makes the signatures, and it is a second verifier beside ours.

Comes in: bytes to sign or to verify, keys by name, the environment as a value. Goes out: an
armored signature, or the `Fault` that explains why there is none. Must not read a private key.

Signing hands the message over on standard input and takes the signature from standard output: with
a file argument `ssh-keygen` can exit 0 having written nothing.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from measured_glossary.trust.known_answers import KNOWN_ANSWERS, TEST_SIGNATURE, KnownAnswer
from measured_glossary.trust.sshsig import (
    Fault,
    PublicKey,
    normal_armor,
    parse_key,
    parse_signature,
    verify,
)

# Where systems install OpenSSH. `PATH` is not asked: whoever sets it could choose the verifier.
KNOWN_FOLDERS = (
    "/usr/bin",
    "/usr/local/bin",
    "/opt/homebrew/bin",
    "/run/current-system/sw/bin",
    "C:/Windows/System32/OpenSSH",
    "C:/Program Files/Git/usr/bin",
)
VERIFY_LIMIT_S = 10
SIGN_LIMIT_S = 30
_REFUSED = 255

# What a signer's tools need: the agent, a way to ask for a passphrase, and the user's folder.
_SIGNERS_VARIABLES = (
    "SSH_AUTH_SOCK",
    "SSH_ASKPASS",
    "SSH_ASKPASS_REQUIRE",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
    "TERM",
    "HOME",
    "USERPROFILE",
    "SystemRoot",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Signer:
    """How to sign: the tool, the key, and whether a human can answer its questions.

    `key` is the file of a private key, whose `.pub` lies beside it, or `None` for a key that only
    an agent or a security key holds. `environment` is the caller's, of which little is passed on.
    """

    tool: Path
    public: PublicKey
    key: Path | None
    environment: Mapping[str, str]
    interactive: bool = True


def find_tool(name: str = "ssh-keygen", folders: Sequence[str] = KNOWN_FOLDERS) -> Path | None:
    """Find an OpenSSH tool by its absolute path."""
    paths = (Path(folder) / f"{name}{end}" for folder in folders for end in ("", ".exe"))
    return next((path for path in paths if path.is_absolute() and path.is_file()), None)


def agent_keys(tool: Path, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Give the public key lines an agent holds; no agent holds none."""
    try:
        done = _run([str(tool), "-L"], b"", _signers_environment(environment), VERIFY_LIMIT_S)
    except (OSError, subprocess.TimeoutExpired):
        return ()
    lines = done.stdout.decode("utf-8", "replace").splitlines() if done.returncode == 0 else []
    return tuple(lines)


# ── signing ──────────────────────────────────────────────────────────────────────────────────


def sign(signer: Signer, namespace: str, message: bytes) -> bytes | Fault:
    """Have a message signed, and verify the result at once."""
    with tempfile.TemporaryDirectory(prefix="glossary-sign-") as folder:
        key = signer.key or _public_file(Path(folder), signer.public)
        made = _have_signed(signer, key, namespace, message)
    if isinstance(made, Fault):
        return made
    signature = parse_signature(made)
    if isinstance(signature, Fault):
        return Fault("signing-failed", f"what ssh-keygen wrote {signature.message}", _DOCTOR)
    fault = verify(signature, signer.public, namespace=namespace, message=message)
    if fault:
        return Fault("signing-failed", f"the signature just made {fault.message}", _DOCTOR)
    return made


_DOCTOR = "glossary doctor shows your keys, the agent and the registry"


def _have_signed(signer: Signer, key: Path, namespace: str, message: bytes) -> bytes | Fault:
    command = [str(signer.tool), "-q", "-Y", "sign", "-n", namespace, "-f", str(key)]
    environment = _signers_environment(signer.environment)
    if not signer.interactive:
        environment["SSH_ASKPASS_REQUIRE"] = "never"
    try:
        done = subprocess.run(
            command,
            input=message,
            stdout=subprocess.PIPE,
            # A human must see "confirm user presence"; a machine wants the reason afterwards.
            stderr=None if signer.interactive else subprocess.PIPE,
            env=environment,
            timeout=None if signer.interactive else SIGN_LIMIT_S,
            start_new_session=not signer.interactive,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Fault("signing-failed", f"ssh-keygen: {error}", _DOCTOR)
    if done.returncode or not done.stdout:
        why = (done.stderr or b"").decode("utf-8", "replace").strip()
        said = f"ssh-keygen made no signature (exit status {done.returncode}): {why}"
        return Fault("signing-failed", said.removesuffix(": "), _DOCTOR)
    return normal_armor(done.stdout)


def _public_file(folder: Path, public: PublicKey) -> Path:
    """Write the public key where `ssh-keygen` reads which key to ask the agent for."""
    path = folder / "key.pub"
    path.write_text(f"{public.line}\n", encoding="utf-8")
    return path


def _signers_environment(environment: Mapping[str, str]) -> dict[str, str]:
    kept = {name: environment[name] for name in _SIGNERS_VARIABLES if name in environment}
    return {**kept, "TZ": "UTC", "LC_ALL": "C"}


# ── verifying a second time ──────────────────────────────────────────────────────────────────


def second_opinion(
    tool: Path, public: PublicKey, *, namespace: str, message: bytes, armored: bytes
) -> Fault | None:
    """Have `ssh-keygen` verify a signature; say why it refuses, or nothing.

    It only answers for the identity it is asked about, so the list of allowed signers is made for
    this one question: one name, one key, one literal namespace.
    """
    with tempfile.TemporaryDirectory(prefix="glossary-verify-") as folder:
        allowed, signature = Path(folder) / "allowed_signers", Path(folder) / "signature"
        line = f'signer namespaces="{namespace}" {public.line}\n'
        allowed.write_text(line, encoding="ascii")
        signature.write_bytes(armored)
        command = [str(tool), "-Y", "verify", "-f", str(allowed), "-I", "signer"]
        command += ["-n", namespace, "-s", str(signature)]
        return _answer(command, message)


def _answer(command: list[str], message: bytes) -> Fault | None:
    try:
        done = _run(command, message, {"TZ": "UTC", "LC_ALL": "C"}, VERIFY_LIMIT_S)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Fault("second-verifier", f"ssh-keygen gave no answer: {error}", _TOOL)
    if done.returncode == 0:
        return None
    if done.returncode == _REFUSED:
        return Fault("second-opinion", "ssh-keygen refuses this signature", _DIFFER)
    said = done.stderr.decode("utf-8", "replace").strip()
    return Fault("second-verifier", f"ssh-keygen ended with {done.returncode}: {said}", _TOOL)


_TOOL = "install OpenSSH 8.2 or newer, or name one: --ssh-keygen /path/to/ssh-keygen"
_DIFFER = "two verifiers must agree: do not publish; report what you see"


def self_test(tool: Path) -> Fault | None:
    """Ask questions whose answers are known: a stub that accepts everything is noticed."""
    for known in KNOWN_ANSWERS:
        if fault := _ask_known(tool, known):
            return fault
    return None


def _ask_known(tool: Path, known: KnownAnswer) -> Fault | None:
    public = parse_key(known.key)
    if isinstance(public, Fault):
        return public
    fault = second_opinion(
        tool,
        public,
        namespace=known.namespace,
        message=known.message,
        armored=TEST_SIGNATURE,
    )
    if fault is not None and fault.code == "second-verifier":
        return fault
    if (fault is None) == known.is_good:
        return None
    did = "accepts" if fault is None else "refuses"
    return Fault("second-verifier", f"{tool} {did} {known.what}: it is no verifier", _TOOL)


def _run(
    command: list[str], given: bytes, environment: Mapping[str, str], limit_s: float
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        command, input=given, capture_output=True, env=environment, timeout=limit_s, check=False
    )
