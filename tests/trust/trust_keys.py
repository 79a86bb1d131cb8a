"""Keys and signatures for tests: made by `ssh-keygen` or here, whole or broken on purpose.

Comes in: a folder. Goes out: throw-away keys of plainly named test people, and signatures whose
every field a test may set. Must not know what is right.
"""

from __future__ import annotations

import base64
import hashlib
import subprocess
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

SSH_KEYGEN = "/usr/bin/ssh-keygen"
SK_ED25519 = "sk-ssh-ed25519@openssh.com"
SK_ECDSA = "sk-ecdsa-sha2-nistp256@openssh.com"
P256_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551


def string(data: bytes) -> bytes:
    """Write a string of the SSH wire format."""
    return len(data).to_bytes(4, "big") + data


def mpint(number: int) -> bytes:
    """Write a positive number of the SSH wire format."""
    return string(number.to_bytes(number.bit_length() // 8 + 1, "big"))


def armored(blob: bytes) -> bytes:
    """Write a signature's armor."""
    text = base64.b64encode(blob).decode()
    lines = [text[i : i + 70] for i in range(0, len(text), 70)]
    return "\n".join(
        ["-----BEGIN SSH SIGNATURE-----", *lines, "-----END SSH SIGNATURE-----", ""]
    ).encode()


def unarmored(signature: bytes) -> bytes:
    """Give the bytes inside a signature's armor."""
    return base64.b64decode(b"".join(signature.splitlines()[1:-1]))


def _inner(blob: bytes) -> tuple[bytes, bytes]:
    """Split a blob into what stands before the inner signature, and that signature."""
    offset = 10
    for _ in range(4):
        offset += 4 + int.from_bytes(blob[offset : offset + 4], "big")
    length = int.from_bytes(blob[offset : offset + 4], "big")
    return blob[:offset], blob[offset + 4 : offset + 4 + length]


def with_body(signature: bytes, change: Callable[[bytes], bytes]) -> bytes:
    """Change the signature's number or numbers and leave all around them right."""
    head, inner = _inner(unarmored(signature))
    name_end = 4 + int.from_bytes(inner[:4], "big")
    length = int.from_bytes(inner[name_end : name_end + 4], "big")
    body, tail = inner[name_end + 4 : name_end + 4 + length], inner[name_end + 4 + length :]
    return armored(head + string(inner[:name_end] + string(change(body)) + tail))


def mirrored(signature: bytes) -> bytes:
    """Give a P-256 signature's other good form: s replaced by the curve's order minus s."""

    def minus_s(body: bytes) -> bytes:
        second = 4 + int.from_bytes(body[:4], "big")
        return body[:second] + mpint(P256_ORDER - int.from_bytes(body[second + 4 :], "big"))

    return with_body(signature, minus_s)


@dataclass(frozen=True)
class TestKey:
    """A key with its private half, in memory and, where `ssh-keygen` made it, in a file."""

    __test__ = False

    type: str
    blob: bytes
    private: Any = field(repr=False)
    path: Path | None = None
    application: str = "ssh:"

    @property
    def line(self) -> str:
        """Give the key as a `.pub` file has it."""
        return f"{self.type} {base64.b64encode(self.blob).decode()}"

    def raw_signature(self, signed: bytes) -> bytes:
        """Sign bytes as the key's algorithm writes it in the wire format."""
        if isinstance(self.private, ed25519.Ed25519PrivateKey):
            return self.private.sign(signed)
        if isinstance(self.private, ec.EllipticCurvePrivateKey):
            digest = hashes.SHA384() if self.private.key_size == 384 else hashes.SHA256()
            r, s = decode_dss_signature(self.private.sign(signed, ec.ECDSA(digest)))
            return mpint(r) + mpint(s)
        return bytes(self.private.sign(signed, padding.PKCS1v15(), hashes.SHA512()))


def keygen(folder: Path, name: str, *options: str) -> TestKey:
    """Make a key with `ssh-keygen`, without a passphrase."""
    path = folder / name
    command = [SSH_KEYGEN, "-q", "-N", "", "-C", "test", "-f", str(path), *options]
    subprocess.run(command, check=True)
    private = serialization.load_ssh_private_key(path.read_bytes(), None)
    kind, blob, _ = path.with_suffix(".pub").read_text().split()
    return TestKey(type=kind, blob=base64.b64decode(blob), private=private, path=path)


def security_key(key: TestKey, application: str = "ssh:") -> TestKey:
    """Give a security key with the same point, as a token would hold it."""
    if key.type == "ssh-ed25519":
        kind, body = SK_ED25519, key.blob[len(string(b"ssh-ed25519")) :]
    else:
        kind, body = SK_ECDSA, key.blob[len(string(key.type.encode())) :]
    blob = string(kind.encode()) + body + string(application.encode())
    return TestKey(type=kind, blob=blob, private=key.private, application=application)


def sshsig(key: TestKey, namespace: str, message: bytes, **changes: Any) -> bytes:
    """Sign a message; every field of the envelope can be set otherwise."""
    return armored(sshsig_blob(key, namespace, message, **changes))


def sshsig_blob(
    key: TestKey,
    namespace: str,
    message: bytes,
    *,
    magic: bytes = b"SSHSIG",
    version: int = 1,
    reserved: bytes = b"",
    hash_name: str = "sha512",
    key_blob: bytes | None = None,
    algorithm: str | None = None,
    flags: int = 1,
    trailing: bytes = b"",
    inner_trailing: bytes = b"",
) -> bytes:
    """Give the signature's bytes without armor."""
    digest = hashlib.new(hash_name, message).digest()
    head = string(namespace.encode()) + string(reserved) + string(hash_name.encode())
    signed, tail = b"SSHSIG" + head + string(digest), b""
    if key.type.startswith("sk-"):
        tail = bytes([flags]) + (7).to_bytes(4, "big")
        application = hashlib.sha256(key.application.encode()).digest()
        signed = application + tail + hashlib.sha256(signed).digest()
    algorithm = algorithm or ("rsa-sha2-512" if key.type == "ssh-rsa" else key.type)
    inner = string(algorithm.encode()) + string(key.raw_signature(signed)) + tail
    outer = magic + version.to_bytes(4, "big") + string(key.blob if key_blob is None else key_blob)
    return outer + head + string(inner + inner_trailing) + trailing


def ssh_keygen_sign(key: TestKey, namespace: str, message: bytes) -> bytes:
    """Have `ssh-keygen` sign a message."""
    command = [SSH_KEYGEN, "-q", "-Y", "sign", "-n", namespace, "-f", str(key.path)]
    return subprocess.run(command, input=message, capture_output=True, check=True).stdout


def ssh_keygen_accepts(
    folder: Path, line: str, signature: bytes, *, namespace: str, message: bytes
) -> bool:
    """Ask `ssh-keygen` whether a signature is good: one name, one key, one namespace."""
    with tempfile.TemporaryDirectory(dir=folder) as place:
        allowed, file = Path(place, "allowed"), Path(place, "signature")
        allowed.write_text(f'signer namespaces="{namespace}" {line}\n')
        file.write_bytes(signature)
        command = [SSH_KEYGEN, "-Y", "verify", "-f", str(allowed), "-I", "signer"]
        command += ["-n", namespace, "-s", str(file)]
        done = subprocess.run(command, input=message, capture_output=True, check=False)
    return done.returncode == 0
