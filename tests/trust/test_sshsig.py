"""The signature itself: what is accepted of each kind of key, and what is refused and why."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import pytest

from measured_glossary.problem import Place
from measured_glossary.trust.sshsig import (
    Fault,
    PublicKey,
    armor,
    normal_armor,
    parse_key,
    parse_key_blob,
    parse_signature,
    verify,
)
from trust.trust_keys import (
    TestKey,
    armored,
    mirrored,
    mpint,
    security_key,
    ssh_keygen_sign,
    sshsig,
    sshsig_blob,
    string,
    unarmored,
    with_body,
)

SPACE, MESSAGE = "review@measured-glossary", b"a test message\n"
L = 2**252 + 27742317777372353535851937790883648493
P = 2**255 - 19
Keys = dict[str, TestKey]
KINDS = ("author", "second", "third", "rsa", "sk", "sk-ecdsa")
SIGNABLE = ("author", "second", "third", "rsa")


def good_key(line: str) -> PublicKey:
    """Give a key that must be readable."""
    key = parse_key(line)
    assert isinstance(key, PublicKey), key
    return key


def code(key: TestKey, signature: bytes, *, space: str = SPACE, message: bytes = MESSAGE) -> str:
    """Verify; give the code of the refusal, or `good`."""
    parsed = parse_signature(signature)
    if isinstance(parsed, Fault):
        return parsed.code
    fault = verify(parsed, good_key(key.line), namespace=space, message=message)
    return fault.code if fault else "good"


# ── good signatures ──────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("kind", SIGNABLE)
def test_what_ssh_keygen_signs_is_accepted(keys: Keys, kind: str) -> None:
    """A signature by `ssh-keygen` with each accepted kind of key is good."""
    assert code(keys[kind], ssh_keygen_sign(keys[kind], SPACE, MESSAGE)) == "good"


@pytest.mark.parametrize("kind", KINDS)
def test_what_the_tests_sign_is_accepted(keys: Keys, kind: str) -> None:
    """A signature made by the tests is good too, so the refusals below have one cause each."""
    assert code(keys[kind], sshsig(keys[kind], SPACE, MESSAGE)) == "good"


def test_the_tests_sign_as_ssh_keygen_does(keys: Keys) -> None:
    """With ed25519, which is deterministic, both make the same file."""
    key = keys["author"]
    assert sshsig(key, SPACE, MESSAGE) == ssh_keygen_sign(key, SPACE, MESSAGE)


@pytest.mark.parametrize("kind", SIGNABLE)
def test_armor_is_what_ssh_keygen_writes(keys: Keys, kind: str) -> None:
    """Armor written here equals that of `ssh-keygen`, whatever the length of the signature."""
    signature = ssh_keygen_sign(keys[kind], SPACE, MESSAGE)
    assert armor(unarmored(signature)) == signature
    assert normal_armor(signature.replace(b"\n", b"\r\n")) == signature


def test_an_empty_message_can_be_signed(keys: Keys) -> None:
    """Nothing is special about a message of no bytes."""
    signature = sshsig(keys["author"], SPACE, b"")
    assert code(keys["author"], signature, message=b"") == "good"


@pytest.mark.parametrize("flags", [0x01, 0x05, 0x09, 0x1D])
def test_a_touched_security_key_is_accepted(keys: Keys, flags: int) -> None:
    """The user's presence is needed; verification and backup flags may be set beside it."""
    assert code(keys["sk"], sshsig(keys["sk"], SPACE, MESSAGE, flags=flags)) == "good"


def test_rsa_with_sha_256_is_accepted(keys: Keys) -> None:
    """Some agents sign RSA with SHA-256; the format allows both SHA-2 algorithms."""
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import padding

    key = keys["rsa"]

    class Sha256Key(TestKey):
        def raw_signature(self, signed: bytes) -> bytes:
            return bytes(self.private.sign(signed, padding.PKCS1v15(), hashes.SHA256()))

    other = Sha256Key(type=key.type, blob=key.blob, private=key.private)
    assert code(key, sshsig(other, SPACE, MESSAGE, algorithm="rsa-sha2-256")) == "good"


# ── refused signatures ───────────────────────────────────────────────────────────────────────


def _plus_order(body: bytes) -> bytes:
    s = int.from_bytes(body[32:], "little") + L
    return body[:32] + s.to_bytes(32, "little")


def _pad_first_number(body: bytes) -> bytes:
    length = int.from_bytes(body[:4], "big")
    return string(b"\0" + body[4 : 4 + length]) + body[4 + length :]


def _swap_numbers(body: bytes) -> bytes:
    first = 4 + int.from_bytes(body[:4], "big")
    return body[first:] + body[:first]


BLOBS: dict[str, tuple[dict[str, Any], str]] = {
    "another magic": ({"magic": b"SSHSIH"}, "signature-malformed"),
    "version 0": ({"version": 0}, "signature-version"),
    "version 2": ({"version": 2}, "signature-version"),
    "a used reserved field": ({"reserved": b"x"}, "signature-reserved"),
    "SHA-256 for the message": ({"hash_name": "sha256"}, "signature-hash"),
    "SHA-1 for the message": ({"hash_name": "sha1"}, "signature-hash"),
    "a byte after the end": ({"trailing": b"\0"}, "signature-malformed"),
    "a byte after the inner signature": ({"inner_trailing": b"\0"}, "signature-malformed"),
    "another algorithm's name": ({"algorithm": "ssh-rsa"}, "signature-algorithm"),
    "a security key's algorithm": (
        {"algorithm": "sk-ssh-ed25519@openssh.com"},
        "signature-malformed",
    ),
    "an empty algorithm": ({"algorithm": "\0"}, "signature-malformed"),
    "no key": ({"key_blob": b""}, "signature-key"),
}


@pytest.mark.parametrize("name", BLOBS)
def test_an_envelope_out_of_order_is_refused(keys: Keys, name: str) -> None:
    """Every field of the envelope has one allowed value, and each refusal its code."""
    changes, expected = BLOBS[name]
    assert code(keys["author"], sshsig(keys["author"], SPACE, MESSAGE, **changes)) == expected


BODIES: dict[str, tuple[str, Callable[[bytes], bytes], str]] = {
    "ed25519 with s plus the order": ("author", _plus_order, "signature-malformed"),
    "ed25519 with a byte too many": ("author", lambda b: b + b"\0", "signature-malformed"),
    "ed25519 with a byte too few": ("author", lambda b: b[:-1], "signature-malformed"),
    "ed25519 with zeros": ("author", lambda b: bytes(64), "signature-bad"),
    "ECDSA with a padded number": ("second", _pad_first_number, "signature-malformed"),
    "ECDSA with r and s zero": (
        "second",
        lambda b: string(b"") + string(b""),
        "signature-malformed",
    ),
    "ECDSA with a negative number": (
        "second",
        lambda b: string(b"\xff" * 32) + mpint(1),
        "signature-malformed",
    ),
    "ECDSA with r = s = 1": ("second", lambda b: mpint(1) + mpint(1), "signature-bad"),
    "ECDSA with a number too many": ("second", lambda b: b + mpint(1), "signature-malformed"),
    "ECDSA with r and s swapped": ("third", _swap_numbers, "signature-bad"),
    "RSA with a zero in front": ("rsa", lambda b: b"\0" + b, "signature-malformed"),
    "RSA with a byte too few": ("rsa", lambda b: b[1:], "signature-malformed"),
    "RSA with zeros": ("rsa", lambda b: bytes(len(b)), "signature-bad"),
    "RSA with ones": ("rsa", lambda b: b"\xff" * len(b), "signature-bad"),
}


@pytest.mark.parametrize("name", BODIES)
def test_a_signature_not_in_normal_form_is_refused(keys: Keys, name: str) -> None:
    """The numbers of a signature have one form; another form of a good one is no second one."""
    kind, change, expected = BODIES[name]
    assert code(keys[kind], with_body(sshsig(keys[kind], SPACE, MESSAGE), change)) == expected


def test_the_mirror_of_an_ecdsa_signature_is_the_same_persons(keys: Keys) -> None:
    """ECDSA has two good forms of each signature; both are by the one key, so it counts once."""
    signature = sshsig(keys["second"], SPACE, MESSAGE)
    copy = mirrored(signature)
    assert copy != signature
    assert code(keys["second"], copy) == "good"


FLAGS = {
    "no flag at all": (0x00, "signature-presence"),
    "verified but not present": (0x04, "signature-presence"),
    "a reserved flag": (0x03, "signature-malformed"),
    "another reserved flag": (0x21, "signature-malformed"),
    "attested data": (0x41, "signature-malformed"),
    "extension data": (0x81, "signature-malformed"),
}


@pytest.mark.parametrize("kind", ["sk", "sk-ecdsa"])
@pytest.mark.parametrize("name", FLAGS)
def test_a_security_key_must_have_been_touched(keys: Keys, name: str, kind: str) -> None:
    """A security key's signature without the user's presence, or with odd flags, is refused."""
    flags, expected = FLAGS[name]
    assert code(keys[kind], sshsig(keys[kind], SPACE, MESSAGE, flags=flags)) == expected


@pytest.mark.parametrize("kind", KINDS)
def test_another_message_namespace_or_key_is_refused(keys: Keys, kind: str) -> None:
    """A good signature fits one message, one namespace and one key."""
    signature = sshsig(keys[kind], SPACE, MESSAGE)
    assert code(keys[kind], signature, message=MESSAGE + b"\n") == "signature-bad"
    assert code(keys[kind], signature, space="author@measured-glossary") == "signature-namespace"
    assert code(keys["reviewer"], signature) == "signature-key"


def test_the_application_of_a_security_key_is_signed(keys: Keys) -> None:
    """A signature by the same point for another application does not fit."""
    other = security_key(keys["outsider"], "ssh:other")
    forged = sshsig(other, SPACE, MESSAGE, key_blob=keys["sk"].blob)
    assert code(keys["sk"], forged) == "signature-bad"


ARMORS: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "nothing": (lambda s: b"", "signature-armor"),
    "only the first mark": (lambda s: s.splitlines(True)[0], "signature-armor"),
    "only the two marks": (
        lambda s: s.splitlines(True)[0] + s.splitlines(True)[-1],
        "signature-malformed",
    ),
    "no last line end": (lambda s: s[:-1], "signature-armor"),
    "CRLF line ends": (lambda s: s.replace(b"\n", b"\r\n"), "signature-armor"),
    "a blank before": (lambda s: b" " + s, "signature-armor"),
    "a line before": (lambda s: b"Comment: x\n" + s, "signature-armor"),
    "a line after": (lambda s: s + b"x\n", "signature-armor"),
    "a header inside": (lambda s: s.replace(b"-\nU", b"-\nVersion: 1\nU", 1), "signature-armor"),
    "an empty line inside": (lambda s: s.replace(b"-\nU", b"-\n\nU", 1), "signature-armor"),
    "a blank inside": (lambda s: s.replace(b"-\nU", b"-\n U", 1), "signature-armor"),
    "a NUL inside": (lambda s: s.replace(b"-\nU", b"-\n\0U", 1), "signature-armor"),
    "shorter lines": (lambda s: s.replace(b"\nU1NI", b"\nU1N\nI", 1), "signature-armor"),
    "padding that holds bits": (
        lambda s: s.splitlines(True)[0] + b"U1NIU0lHAB==\n" + s.splitlines(True)[-1],
        "signature-armor",
    ),
    "letters of another alphabet": (lambda s: s.replace(b"A", b"\xc3\xa1"), "signature-armor"),
    "URL-safe base64": (lambda s: s.replace(b"\nU1NI", b"\n-_NI"), "signature-armor"),
    "two blocks": (lambda s: s + s, "signature-armor"),
    "a PGP block": (lambda s: s.replace(b"SSH", b"PGP"), "signature-armor"),
    "small letters": (lambda s: s.replace(b"BEGIN", b"begin"), "signature-armor"),
    "8 KiB and one byte": (lambda s: s + b"x" * (8193 - len(s)), "signature-oversized"),
    "16 MiB": (lambda s: s + b"x" * (16 << 20), "signature-oversized"),
}


@pytest.mark.parametrize("name", ARMORS)
def test_armor_has_one_form(keys: Keys, name: str) -> None:
    """A signature file is exactly what `ssh-keygen` writes, byte for byte."""
    change, expected = ARMORS[name]
    assert code(keys["author"], change(sshsig(keys["author"], SPACE, MESSAGE))) == expected


@pytest.mark.parametrize("kind", ["author", "second", "sk"])
def test_every_truncation_is_refused(keys: Keys, kind: str) -> None:
    """However many bytes of a signature are left, it is refused and nothing else happens."""
    blob = sshsig_blob(keys[kind], SPACE, MESSAGE)
    found = {code(keys[kind], armored(blob[:end])) for end in range(len(blob))}
    assert found == {"signature-malformed"}


# ── keys ─────────────────────────────────────────────────────────────────────────────────────


def line_of(kind: str, *parts: bytes) -> str:
    """Give a key line of a type and the fields after it."""
    blob = string(kind.encode()) + b"".join(parts)
    return f"{kind} {base64.b64encode(blob).decode()}"


def ed25519_line(y: int) -> str:
    """Give an ed25519 key whose encoded y is `y`."""
    return line_of("ssh-ed25519", string(y.to_bytes(32, "little")))


Y8 = 0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7
N3072 = (1 << 3071) | 1
BAD_KEYS: dict[str, tuple[Callable[[Keys], str], str]] = {
    "an empty line": (lambda k: "", "key-malformed"),
    "a type alone": (lambda k: "ssh-ed25519", "key-malformed"),
    "a key without its type": (lambda k: k["author"].line.split()[1], "key-malformed"),
    "options before the key": (
        lambda k: f'namespaces="*" {k["author"].line}',
        "key-malformed",
    ),
    "two blanks": (lambda k: k["author"].line.replace(" ", "  "), "key-malformed"),
    "a line end": (lambda k: k["author"].line + "\n", "key-malformed"),
    "two keys": (lambda k: f"{k['author'].line}\n{k['second'].line}", "key-malformed"),
    "another type in front": (
        lambda k: k["author"].line.replace("ssh-ed25519", "ssh-rsa"),
        "key-malformed",
    ),
    "base64 that is none": (lambda k: k["author"].line[:-1], "key-malformed"),
    "base64 with loose bits": (
        lambda k: line_of("ssh-ed25519", string(bytes(31)) + b"x").replace("=", ""),
        "key-malformed",
    ),
    "a byte too many": (
        lambda k: line_of("ssh-ed25519", string(k["author"].blob[-32:]), b"x"),
        "key-malformed",
    ),
    "a point too short": (lambda k: line_of("ssh-ed25519", string(bytes(31))), "key-malformed"),
    "y as large as the field": (lambda k: ed25519_line(P), "key-malformed"),
    "y larger than the field": (lambda k: ed25519_line(P + 1), "key-malformed"),
    "the neutral element": (lambda k: ed25519_line(1), "key-weak"),
    "a point of order 2": (lambda k: ed25519_line(P - 1), "key-weak"),
    "a point of order 4": (lambda k: ed25519_line(0), "key-weak"),
    "a point of order 4, x odd": (lambda k: ed25519_line(1 << 255), "key-weak"),
    "a point of order 8": (lambda k: ed25519_line(Y8), "key-weak"),
    "the other y of order 8": (lambda k: ed25519_line(P - Y8), "key-weak"),
    "RSA with 2,048 bits": (lambda k: k["weak"].line, "key-weak"),
    "RSA with 1,024 bits": (
        lambda k: line_of("ssh-rsa", mpint(65537), mpint((1 << 1023) | 1)),
        "key-weak",
    ),
    "RSA with 16,385 bits": (
        lambda k: line_of("ssh-rsa", mpint(65537), mpint((1 << 16384) | 1)),
        "key-weak",
    ),
    "RSA with exponent 1": (lambda k: line_of("ssh-rsa", mpint(1), mpint(N3072)), "key-weak"),
    "RSA with exponent 3": (lambda k: line_of("ssh-rsa", mpint(3), mpint(N3072)), "key-weak"),
    "RSA with an even exponent": (
        lambda k: line_of("ssh-rsa", mpint(65538), mpint(N3072)),
        "key-weak",
    ),
    "RSA with an even modulus": (
        lambda k: line_of("ssh-rsa", mpint(65537), mpint(N3072 + 1)),
        "key-weak",
    ),
    "RSA with a padded modulus": (
        lambda k: line_of("ssh-rsa", mpint(65537), string(b"\0\0" + N3072.to_bytes(384, "big"))),
        "key-malformed",
    ),
    "RSA with a negative modulus": (
        lambda k: line_of("ssh-rsa", mpint(65537), string(N3072.to_bytes(384, "big"))),
        "key-malformed",
    ),
    "a point off the curve": (
        lambda k: line_of(
            "ecdsa-sha2-nistp256", string(b"nistp256"), string(b"\x04" + b"\x01" * 64)
        ),
        "key-malformed",
    ),
    "a compressed point": (
        lambda k: line_of(
            "ecdsa-sha2-nistp256",
            string(b"nistp256"),
            string(b"\x02" + k["second"].blob[-64:-32]),
        ),
        "key-malformed",
    ),
    "a curve that is not the type's": (
        lambda k: line_of(
            "ecdsa-sha2-nistp256", string(b"nistp384"), string(k["second"].blob[-65:])
        ),
        "key-malformed",
    ),
    "the point at infinity": (
        lambda k: line_of("ecdsa-sha2-nistp256", string(b"nistp256"), string(b"\0")),
        "key-malformed",
    ),
    "P-521": (lambda k: k["p521"].line, "key-type"),
    "DSA": (lambda k: line_of("ssh-dss", mpint(7), mpint(7), mpint(7), mpint(7)), "key-type"),
    "a certificate": (
        lambda k: line_of("ssh-ed25519-cert-v01@openssh.com", string(bytes(32))),
        "key-type",
    ),
    "a WebAuthn key": (
        lambda k: line_of("webauthn-sk-ecdsa-sha2-nistp256@openssh.com", string(b"")),
        "key-type",
    ),
    "a security key for a web site": (
        lambda k: security_key(k["outsider"], "https://example.org").line,
        "key-malformed",
    ),
    "a security key without application": (
        lambda k: security_key(k["outsider"], "").line,
        "key-malformed",
    ),
}


@pytest.mark.parametrize("name", BAD_KEYS)
def test_a_key_that_cannot_stand_for_a_person_is_refused(keys: Keys, name: str) -> None:
    """Malformed, weak and foreign keys are refused when they are read, each with its code."""
    make, expected = BAD_KEYS[name]
    refused = parse_key(make(keys))
    assert isinstance(refused, Fault)
    assert refused.code == expected
    assert refused.message


@pytest.mark.parametrize("kind", KINDS)
def test_a_key_is_read_with_and_without_comment(keys: Keys, kind: str) -> None:
    """A comment says nothing; the line is given back without it."""
    plain, commented = good_key(keys[kind].line), good_key(f"{keys[kind].line} test comment")
    assert plain == commented
    assert commented.line == keys[kind].line
    assert parse_key_blob(plain.blob) == plain


def test_one_point_is_one_key_under_two_types(keys: Keys) -> None:
    """The material of a security key equals that of the plain key with the same point."""
    for plain, security in (("outsider", "sk"), ("second", "sk-ecdsa")):
        one, other = good_key(keys[plain].line), good_key(keys[security].line)
        assert one.material == other.material
        assert one.fingerprint != other.fingerprint


def test_a_fingerprint_is_the_one_ssh_keygen_prints(keys: Keys) -> None:
    """People compare fingerprints with what `ssh-keygen -l` shows them."""
    import subprocess

    path = keys["rsa"].path
    assert path is not None
    command = ["/usr/bin/ssh-keygen", "-l", "-f", str(path)]
    shown = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    assert good_key(keys["rsa"].line).fingerprint == shown.split()[1]


def test_the_points_of_small_order_are_all_listed() -> None:
    """Every y whose point has an order that divides eight is one that the reader refuses."""
    d = -121665 * pow(121666, -1, P) % P

    def double(x2: int, y: int) -> tuple[int, int]:
        """Give x² and y of twice a point from x² and y: only those are needed here."""
        xy2 = x2 * y * y % P
        k = d * xy2 % P
        new_y = (y * y + x2) * pow(1 - k, -1, P) % P
        new_x2 = 4 * xy2 * pow(1 + k, -2, P) % P
        return new_x2, new_y

    for y in (0, 1, P - 1, Y8, P - Y8):
        x2 = (y * y - 1) * pow(d * y * y + 1, -1, P) % P
        for _ in range(3):
            x2, y = double(x2, y)
        assert (x2, y) == (0, 1)


def test_a_fault_becomes_a_problem_at_a_place() -> None:
    """A fault knows no place until it is given one."""
    fault = Fault("key-type", "is odd", "use another")
    assert str(fault.at(Place("glossary/people.yml", 3, 5))) == (
        "glossary/people.yml:3:5: key-type: is odd\n    use another"
    )
