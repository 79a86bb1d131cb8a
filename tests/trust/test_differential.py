"""Our verifier against `ssh-keygen` over one corpus: ours may only be the stricter one.

Ten thousand seeded mutations of good signatures go through ours. `ssh-keygen`, which takes 24 ms
a call, is asked about every one that ours accepts and about a sample of each way of mutating that
ours refuses; where it accepts what ours refuses, the code of our refusal must be one that is
explained below.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from trust.test_sshsig import ARMORS, BLOBS, BODIES, FLAGS, KINDS, MESSAGE, SPACE, code
from trust.trust_keys import (
    TestKey,
    armored,
    mirrored,
    ssh_keygen_accepts,
    ssh_keygen_sign,
    sshsig,
    unarmored,
    with_body,
)

SEED, MUTATIONS, SAMPLE_OF_EACH_WAY = 20261129, 10_200, 14

# What ours refuses and OpenSSH 9.2 accepts, by the code of our refusal. All are second forms of
# a signature, or weaker ones; none is accepted by ours and refused by `ssh-keygen`.
STRICTER = {
    "signature-armor": "OpenSSH skips blanks, and does not look behind the end mark",
    "signature-oversized": "OpenSSH reads larger files, and the rest of one is behind the end mark",
    "signature-version": "OpenSSH takes version 0 too",
    "signature-hash": "OpenSSH takes SHA-256 too; what we write has SHA-512",
    "signature-malformed": "OpenSSH takes ed25519 with s + order, padded numbers, any flags",
    "signature-presence": "OpenSSH verifies a security key's signature without a touch",
    "key-weak": "OpenSSH takes RSA below 3,072 bits",
    "key-type": "OpenSSH takes P-521",
}


@dataclass(frozen=True)
class Case:
    """A question put to both verifiers, and the way it was made."""

    kind: str
    way: str
    signature: bytes
    message: bytes = MESSAGE


Mutate = Callable[[random.Random, bytes], bytes]


def _flip(rng: random.Random, blob: bytes) -> bytes:
    at = rng.randrange(len(blob))
    return blob[:at] + bytes([blob[at] ^ (1 << rng.randrange(8))]) + blob[at + 1 :]


def _set_byte(rng: random.Random, blob: bytes) -> bytes:
    at = rng.randrange(len(blob))
    return blob[:at] + bytes([rng.choice((0, 1, 0x7F, 0x80, 0xFF))]) + blob[at + 1 :]


def _insert(rng: random.Random, blob: bytes) -> bytes:
    at = rng.randrange(len(blob) + 1)
    return blob[:at] + rng.randbytes(rng.randint(1, 4)) + blob[at:]


def _delete(rng: random.Random, blob: bytes) -> bytes:
    at = rng.randrange(len(blob))
    return blob[:at] + blob[at + rng.randint(1, 4) :]


def _repeat(rng: random.Random, blob: bytes) -> bytes:
    at, length = rng.randrange(len(blob)), rng.randint(1, 32)
    return blob[: at + length] + blob[at:]


def _swap(rng: random.Random, blob: bytes) -> bytes:
    one, other = sorted(rng.sample(range(len(blob)), 2))
    return blob[:one] + blob[other:] + blob[one:other]


def _last_bytes(rng: random.Random, blob: bytes) -> bytes:
    """Change the number that is the signature, and leave the envelope in order."""
    length = rng.randint(1, 24)
    return blob[:-length] + rng.randbytes(length)


def _lengths(rng: random.Random, blob: bytes) -> bytes:
    at = blob.find(b"\0\0\0", rng.randrange(len(blob) - 8))
    at = 10 if at < 0 else at
    number = rng.choice((0, 1, 0x7FFFFFFF, 0xFFFFFFFF, blob[at + 3] + 1))
    return blob[:at] + number.to_bytes(4, "big") + blob[at + 4 :]


IN_THE_BLOB: dict[str, Mutate] = {
    "a bit flipped": _flip,
    "a byte set": _set_byte,
    "bytes inserted": _insert,
    "bytes deleted": _delete,
    "bytes repeated": _repeat,
    "two parts swapped": _swap,
    "the last bytes replaced": _last_bytes,
    "a length replaced": _lengths,
}
IN_THE_ARMOR: dict[str, Mutate] = {
    f"armor: {way}": mutate
    for way, mutate in IN_THE_BLOB.items()
    if way not in {"a length replaced", "the last bytes replaced"}
}


def mutations(keys: dict[str, TestKey]) -> Iterator[Case]:
    """Give seeded mutations: of the signature's bytes, of its armor, and of the message."""
    rng = random.Random(SEED)  # noqa: S311 - the same corpus each time
    good = {kind: sshsig(keys[kind], SPACE, MESSAGE) for kind in KINDS}
    for number in range(MUTATIONS):
        kind = KINDS[number % len(KINDS)]
        case = _mutation(rng, kind, good[kind], number)
        if (case.signature, case.message) != (good[kind], MESSAGE):
            yield case


def _mutation(rng: random.Random, kind: str, good: bytes, number: int) -> Case:
    if number % 10 == 0:
        return Case(kind, "the message", good, _flip(rng, MESSAGE))
    if number % 4 == 0:
        way = rng.choice(sorted(IN_THE_ARMOR))
        return Case(kind, way, IN_THE_ARMOR[way](rng, good))
    way = rng.choice(sorted(IN_THE_BLOB))
    return Case(kind, way, armored(IN_THE_BLOB[way](rng, unarmored(good))))


def known_cases(keys: dict[str, TestKey]) -> Iterator[Case]:
    """Give the cases of the tables beside this test, good ones too."""
    made = {kind: sshsig(keys[kind], SPACE, MESSAGE) for kind in KINDS}
    for kind in KINDS:
        yield Case(kind, "made by the tests", made[kind])
        if keys[kind].path:
            yield Case(kind, "made by ssh-keygen", ssh_keygen_sign(keys[kind], SPACE, MESSAGE))
        yield Case(kind, "another namespace", sshsig(keys[kind], "file", MESSAGE))
    second = sshsig(keys["second"], SPACE, MESSAGE)
    yield Case("second", "the mirrored s", mirrored(second))
    for way, (changes, _) in BLOBS.items():
        yield Case("author", way, sshsig(keys["author"], SPACE, MESSAGE, **changes))
    for way, (kind, change, _) in BODIES.items():
        yield Case(kind, way, with_body(made[kind], change))
    for way, (armor_change, _) in ARMORS.items():
        if way != "16 MiB":  # as oversized as 8 KiB and one byte, and slow to hand over
            yield Case("author", way, armor_change(made["author"]))
    for way, (flags, _) in FLAGS.items():
        for kind in ("sk", "sk-ecdsa"):
            yield Case(kind, way, sshsig(keys[kind], SPACE, MESSAGE, flags=flags))
    for kind in ("weak", "p521"):
        yield Case(kind, "a key we do not take", ssh_keygen_sign(keys[kind], SPACE, MESSAGE))


Asked = list[tuple[Case, str, bool]]


def ask_both(keys: dict[str, TestKey], cases: Iterable[tuple[Case, str]], folder: Path) -> Asked:
    """Put cases to `ssh-keygen` too; give each with our code and its answer."""

    def ask(item: tuple[Case, str]) -> tuple[Case, str, bool]:
        case, ours = item
        theirs = ssh_keygen_accepts(
            folder, keys[case.kind].line, case.signature, namespace=SPACE, message=case.message
        )
        return case, ours, theirs

    with ThreadPoolExecutor(max_workers=4) as pool:
        return list(pool.map(ask, cases))


def ours_on(keys: dict[str, TestKey], case: Case) -> str:
    """Give our verifier's code, where the key can be read at all."""
    from measured_glossary.trust.sshsig import Fault, parse_key

    key = parse_key(keys[case.kind].line)
    if isinstance(key, Fault):
        return key.code
    return code(keys[case.kind], case.signature, message=case.message)


@pytest.fixture(scope="module")
def mutated(keys: dict[str, TestKey]) -> list[tuple[Case, str]]:
    """Give every mutation with our verifier's code."""
    return [(case, ours_on(keys, case)) for case in mutations(keys)]


def disagreements(asked: Asked) -> list[tuple[str, str, str]]:
    """Give the cases in which one accepts and the other does not."""
    return [(c.kind, c.way, ours) for c, ours, theirs in asked if (ours == "good") != theirs]


def unexplained(asked: Asked) -> list[tuple[str, str, str]]:
    """Give the disagreements whose code of ours is not one that is explained."""
    return [found for found in disagreements(asked) if found[2] not in STRICTER]


def test_ours_accepts_nothing_that_was_mutated(mutated: list[tuple[Case, str]]) -> None:
    """Of ten thousand mutations ours accepts none."""
    assert len(mutated) >= 10_000
    assert [case for case, ours in mutated if ours == "good"] == []


def test_what_ours_accepts_ssh_keygen_accepts(
    keys: dict[str, TestKey], mutated: list[tuple[Case, str]], tmp_path: Path
) -> None:
    """Every case that ours accepts, mutated or not, is put to `ssh-keygen`, which agrees."""
    known = [(case, ours_on(keys, case)) for case in known_cases(keys)]
    accepted = [(case, ours) for case, ours in (*known, *mutated) if ours == "good"]
    asked = ask_both(keys, accepted, tmp_path)
    assert len(asked) > len(KINDS)
    assert disagreements(asked) == []


def test_a_sample_of_what_ours_refuses_is_explained(
    keys: dict[str, TestKey], mutated: list[tuple[Case, str]], tmp_path: Path
) -> None:
    """Of each way of mutating a sample is put to `ssh-keygen`; ours is at most the stricter."""
    by_way = defaultdict(list)
    for case, ours in mutated:
        if ours != "good":
            by_way[case.way].append((case, ours))
    rng = random.Random(SEED)  # noqa: S311 - the same sample each time
    sample = [
        item
        for way in sorted(by_way)
        for item in rng.sample(by_way[way], min(SAMPLE_OF_EACH_WAY, len(by_way[way])))
    ]
    assert len(sample) >= 200
    assert unexplained(ask_both(keys, sample, tmp_path)) == []


def test_every_known_case_agrees_or_is_explained(keys: dict[str, TestKey], tmp_path: Path) -> None:
    """On the tables' cases both agree, or ours refuses for one of the explained reasons."""
    known = [(case, ours_on(keys, case)) for case in known_cases(keys)]
    asked = ask_both(keys, known, tmp_path)
    assert unexplained(asked) == []
    seen = {ours for *_, ours in disagreements(asked)}
    assert seen == set(STRICTER), "an explanation that nothing needs is a wrong one"
