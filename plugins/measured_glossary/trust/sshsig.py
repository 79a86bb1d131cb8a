"""SSH public keys and signatures, parsed strictly and verified in this process.

Comes in: a public key line, an armored signature, a message. Goes out: `PublicKey`, `Signature`,
or the `Fault` that refuses them. Must not know people, files or dates.

The formats are OpenSSH's PROTOCOL.sshsig, PROTOCOL.u2f and RFC 4253, 5656 and 8709. Where those
leave a choice, only what `ssh-keygen` itself writes is taken, so that a signature has one form.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import struct
from collections.abc import Callable
from dataclasses import dataclass, field

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256, SHA384, SHA512

from measured_glossary.problem import Place, Problem

MAX_SIGNATURE_BYTES = 8 << 10
MIN_RSA_BITS, MAX_RSA_BITS = 3072, 16384

Native = Ed25519PublicKey | ec.EllipticCurvePublicKey | rsa.RSAPublicKey
Material = tuple[str, bytes]

_BEGIN, _END = b"-----BEGIN SSH SIGNATURE-----\n", b"-----END SSH SIGNATURE-----\n"
_MAGIC = b"SSHSIG"
_ARMOR_COLUMNS = 70
_KEY_LINE = re.compile(r"([a-z0-9@.-]+) ([A-Za-z0-9+/]+={0,2})(?: ([ -~]*))?")

# Curve 25519 (RFC 8032, 5.1): the field's prime, the group's order, and the y of its points of
# order 8. Under a key of small order one signature fits many messages, for anybody.
_P = 2**255 - 19
_L = 2**252 + 27742317777372353535851937790883648493
_Y8 = 0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7
_SMALL_ORDER_Y = frozenset({0, 1, _P - 1, _Y8, _P - _Y8})

# Authenticator data flags (WebAuthn, 6.1): the user touched the key; and those which would put
# more bytes under the signature than PROTOCOL.u2f lists, or are reserved.
_USER_PRESENT, _NOT_OURS = 0x01, 0x02 | 0x20 | 0x40 | 0x80


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a key or a signature is refused: a problem that does not know its place yet."""

    code: str
    message: str
    hint: str = ""

    def at(self, place: Place) -> Problem:
        """Give the problem at a place."""
        return Problem(place=place, code=self.code, message=self.message, hint=self.hint)


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicKey:
    """A public key; `material` is the point or modulus alone, equal under every key type."""

    type: str
    blob: bytes
    material: Material
    application: str | None
    native: Native = field(compare=False, repr=False)

    @property
    def fingerprint(self) -> str:
        """Give the fingerprint as `ssh-keygen -l` prints it."""
        digest = base64.b64encode(hashlib.sha256(self.blob).digest()).decode("ascii")
        return f"SHA256:{digest.rstrip('=')}"

    @property
    def line(self) -> str:
        """Give the key as in a `.pub` file, without a comment."""
        return f"{self.type} {base64.b64encode(self.blob).decode('ascii')}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Signature:
    """An SSHSIG envelope taken apart; nothing in it is verified yet."""

    key_blob: bytes
    namespace: str
    algorithm: str
    body: bytes
    flags: int | None
    counter: int | None


class _Bad(Exception):  # noqa: N818 - never leaves this module
    def __init__(self, code: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.fault = Fault(code, message, hint)


# ── keys ─────────────────────────────────────────────────────────────────────────────────────


def parse_key(line: str) -> PublicKey | Fault:
    """Read one line of a `.pub` file: type, key, and perhaps a comment."""
    try:
        found = _KEY_LINE.fullmatch(line)
        if not found:
            raise _Bad("key-malformed", "is not a public key line", "copy the line of a .pub file")
        key = _key(_unbase64(found[2], "key-malformed"))
        if key.type != found[1]:
            raise _Bad("key-malformed", f"says {found[1]} and holds a key of type {key.type}")
        return key
    except _Bad as bad:
        return bad.fault


def parse_key_blob(blob: bytes) -> PublicKey | Fault:
    """Read a public key in its wire form."""
    try:
        return _key(blob)
    except _Bad as bad:
        return bad.fault


def _key(blob: bytes) -> PublicKey:
    wire = _Wire(blob, "key-malformed")
    name = wire.text()
    if name not in _KEYS:
        raise _Bad("key-type", f"keys of type {name!r} are not accepted", _ACCEPTED)
    material, native = _KEYS[name](wire)
    application = wire.text() if name.startswith("sk-") else None
    if application is not None and not application.startswith("ssh:"):
        raise _Bad("key-malformed", f"is a security key for {application!r}, not for ssh")
    wire.end()
    return PublicKey(
        type=name, blob=blob, material=material, application=application, native=native
    )


def _ed25519_key(wire: _Wire) -> tuple[Material, Native]:
    point = wire.string()
    y = int.from_bytes(point, "little") & (2**255 - 1)
    if len(point) != 32 or y >= _P:
        raise _Bad("key-malformed", "is no point of curve 25519 in its normal form")
    if y in _SMALL_ORDER_Y:
        raise _Bad("key-weak", "is a point of small order, under which anybody can sign")
    return ("ed25519", point), Ed25519PublicKey.from_public_bytes(point)


def _ecdsa_key(name: str, curve: ec.EllipticCurve) -> Callable[[_Wire], tuple[Material, Native]]:
    def read(wire: _Wire) -> tuple[Material, Native]:
        inner, point = wire.text(), wire.string()
        length = 1 + 2 * ((curve.key_size + 7) // 8)
        if inner != name or len(point) != length or point[:1] != b"\x04":
            raise _Bad("key-malformed", f"is no point of {name} in its normal form")
        try:
            return (name, point), ec.EllipticCurvePublicKey.from_encoded_point(curve, point)
        except ValueError:
            raise _Bad("key-malformed", f"is no point of {name}") from None

    return read


def _rsa_key(wire: _Wire) -> tuple[Material, Native]:
    exponent, modulus = wire.mpint(), wire.mpint()
    bits = modulus.bit_length()
    if not MIN_RSA_BITS <= bits <= MAX_RSA_BITS:
        raise _Bad("key-weak", f"is an RSA key of {bits} bits, not {MIN_RSA_BITS} or more")
    if exponent < 65537 or exponent.bit_length() > 64 or not exponent & modulus & 1:
        raise _Bad("key-weak", "is an RSA key with an unusual exponent or an even modulus")
    native = rsa.RSAPublicNumbers(exponent, modulus).public_key()
    return ("rsa", modulus.to_bytes((bits + 7) // 8, "big")), native


_KEYS: dict[str, Callable[[_Wire], tuple[Material, Native]]] = {
    "ssh-ed25519": _ed25519_key,
    "sk-ssh-ed25519@openssh.com": _ed25519_key,
    "ecdsa-sha2-nistp256": _ecdsa_key("nistp256", ec.SECP256R1()),
    "ecdsa-sha2-nistp384": _ecdsa_key("nistp384", ec.SECP384R1()),
    "sk-ecdsa-sha2-nistp256@openssh.com": _ecdsa_key("nistp256", ec.SECP256R1()),
    "ssh-rsa": _rsa_key,
}
_ACCEPTED = (
    "use ed25519, ECDSA on P-256 or P-384, RSA of 3072 bits or more, or a security key: "
    "ssh-keygen -t ed25519"
)


# ── signatures ───────────────────────────────────────────────────────────────────────────────


def parse_signature(armored: bytes) -> Signature | Fault:
    """Read one armored signature in the one form `ssh-keygen` writes."""
    try:
        return _signature(_unarmor(armored))
    except _Bad as bad:
        return bad.fault


def armor(blob: bytes) -> bytes:
    """Write a signature's armor: base64 in lines of 70 columns between two marks."""
    text = base64.b64encode(blob)
    lines = [text[i : i + _ARMOR_COLUMNS] for i in range(0, len(text), _ARMOR_COLUMNS)]
    return _BEGIN + b"".join(line + b"\n" for line in lines) + _END


def normal_armor(armored: bytes) -> bytes:
    """Bring a signature just made into normal form: some systems write CRLF line ends."""
    body = armored.replace(b"\r\n", b"\n").removeprefix(_BEGIN).rstrip(b"\n")
    text = body.removesuffix(_END.rstrip(b"\n")).replace(b"\n", b"")
    try:
        return armor(base64.b64decode(text, validate=True))
    except binascii.Error:
        return armored


def verify(signature: Signature, key: PublicKey, *, namespace: str, message: bytes) -> Fault | None:
    """Say why this is no signature of `message` by `key` for `namespace`, or nothing."""
    try:
        if signature.namespace != namespace:
            said = f"was made for {signature.namespace!r}, not for {namespace!r}"
            raise _Bad("signature-namespace", said, "sign with the glossary command of that role")
        if signature.key_blob != key.blob:
            raise _Bad("signature-key", f"was made by another key than {key.fingerprint}")
        _check(signature, key, _signed_bytes(signature, key, message))
    except _Bad as bad:
        return bad.fault
    return None


def mark(armored: bytes, key: bytes, namespace: str, message: bytes) -> bytes:
    """Name a verification by all that goes into it: `key` is a public key in its wire form."""
    parts = (armored, key, namespace.encode(), message)
    lengths = struct.pack(">4Q", *map(len, parts))
    return hashlib.sha256(b"".join((lengths, *parts))).digest()


def _unarmor(armored: bytes) -> bytes:
    if len(armored) > MAX_SIGNATURE_BYTES:
        raise _Bad("signature-oversized", f"is larger than {MAX_SIGNATURE_BYTES} bytes")
    if not (armored.startswith(_BEGIN) and armored.endswith(_END)):
        raise _Bad("signature-armor", "is not one SSH signature and nothing else", _SIGN_AGAIN)
    text = armored[len(_BEGIN) : -len(_END)].replace(b"\n", b"").decode("latin-1")
    blob = _unbase64(text, "signature-armor")
    if armor(blob) != armored:
        raise _Bad("signature-armor", "is not in the form ssh-keygen writes", _SIGN_AGAIN)
    return blob


_SIGN_AGAIN = "let the glossary command write it: glossary sign, review, check or retract"


def _signature(blob: bytes) -> Signature:
    wire = _Wire(blob, "signature-malformed")
    if wire.take(len(_MAGIC)) != _MAGIC:
        raise _Bad("signature-malformed", "does not begin with SSHSIG")
    if (version := wire.uint32()) != 1:
        raise _Bad("signature-version", f"is of version {version}, not 1")
    key_blob, namespace = wire.string(), wire.text()
    if wire.string():
        raise _Bad("signature-reserved", "uses the field reserved for later versions")
    if (hash_name := wire.text()) != "sha512":
        raise _Bad("signature-hash", f"hashes the message with {hash_name!r}, not sha512")
    inner = _Wire(wire.string(), "signature-malformed")
    wire.end()
    return _inner(inner, key_blob, namespace)


def _inner(wire: _Wire, key_blob: bytes, namespace: str) -> Signature:
    algorithm, body = wire.text(), wire.string()
    is_security_key = algorithm.startswith("sk-")
    flags = wire.take(1)[0] if is_security_key else None
    counter = wire.uint32() if is_security_key else None
    wire.end()
    return Signature(
        key_blob=key_blob,
        namespace=namespace,
        algorithm=algorithm,
        body=body,
        flags=flags,
        counter=counter,
    )


def _signed_bytes(signature: Signature, key: PublicKey, message: bytes) -> bytes:
    """Give the bytes the key signed: the envelope, and around it what a security key adds."""
    digest = hashlib.sha512(message).digest()
    parts = (signature.namespace.encode(), b"", b"sha512", digest)
    envelope = _MAGIC + b"".join(len(part).to_bytes(4, "big") + part for part in parts)
    if key.application is None:
        return envelope
    flags, counter = signature.flags, signature.counter
    if flags is None or counter is None or flags & _NOT_OURS:
        raise _Bad("signature-malformed", "carries flags no security key for ssh sets")
    if not flags & _USER_PRESENT:
        raise _Bad("signature-presence", "was made without anybody touching the security key")
    application = hashlib.sha256(key.application.encode()).digest()
    tail = bytes([flags]) + counter.to_bytes(4, "big")
    return application + tail + hashlib.sha256(envelope).digest()


def _check(signature: Signature, key: PublicKey, signed: bytes) -> None:
    accepted = _RSA_HASHES if key.type == "ssh-rsa" else {key.type: SHA512()}
    if signature.algorithm not in accepted:
        said = f"is by {signature.algorithm!r}, which a key of type {key.type} does not make"
        raise _Bad("signature-algorithm", said)
    try:
        if isinstance(key.native, Ed25519PublicKey):
            key.native.verify(_ed25519_body(signature.body), signed)
        elif isinstance(key.native, rsa.RSAPublicKey):
            body = _rsa_body(signature.body, key.native)
            key.native.verify(body, signed, padding.PKCS1v15(), accepted[signature.algorithm])
        else:
            hashed = ec.ECDSA(SHA384() if key.native.key_size == 384 else SHA256())
            key.native.verify(_ecdsa_body(signature.body), signed, hashed)
    except InvalidSignature:
        raise _Bad("signature-bad", "does not fit what was signed", _SIGN_AGAIN) from None


_RSA_HASHES: dict[str, SHA256 | SHA512] = {"rsa-sha2-256": SHA256(), "rsa-sha2-512": SHA512()}


def _ed25519_body(body: bytes) -> bytes:
    if len(body) != 64 or int.from_bytes(body[32:], "little") >= _L:
        raise _Bad("signature-malformed", "is not in the normal form of ed25519")
    return body


def _rsa_body(body: bytes, key: rsa.RSAPublicKey) -> bytes:
    if len(body) != (key.key_size + 7) // 8:
        raise _Bad("signature-malformed", "is not as long as the RSA modulus")
    return body


def _ecdsa_body(body: bytes) -> bytes:
    wire = _Wire(body, "signature-malformed")
    r, s = wire.mpint(), wire.mpint()
    wire.end()
    return encode_dss_signature(r, s)


# ── the wire format (RFC 4251, 5) ────────────────────────────────────────────────────────────


class _Wire:
    """Reads the fields of one byte string from its beginning to its end."""

    def __init__(self, data: bytes, code: str) -> None:
        self.data, self.code, self.offset = data, code, 0

    def take(self, count: int) -> bytes:
        taken = self.data[self.offset : self.offset + count]
        if len(taken) != count:
            raise _Bad(self.code, "ends too early")
        self.offset += count
        return taken

    def uint32(self) -> int:
        return int.from_bytes(self.take(4), "big")

    def string(self) -> bytes:
        return self.take(self.uint32())

    def text(self) -> str:
        try:
            text = self.string().decode("ascii")
        except UnicodeDecodeError:
            raise _Bad(self.code, "has a name that is not ASCII") from None
        if not text or not text.isprintable():
            raise _Bad(self.code, f"has {text!r} for a name")
        return text

    def mpint(self) -> int:
        data = self.string()
        if not data or data[0] & 0x80 or (data[0] == 0 and not data[1:2] >= b"\x80"):
            raise _Bad(self.code, "has a number that is zero, negative or padded")
        return int.from_bytes(data, "big")

    def end(self) -> None:
        if self.offset != len(self.data):
            raise _Bad(self.code, f"has {len(self.data) - self.offset} bytes too many")


def _unbase64(text: str, code: str) -> bytes:
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise _Bad(code, "is not base64") from None
    if base64.b64encode(data).decode("ascii") != text:
        raise _Bad(code, "is not base64 in its normal form")
    return data
