"""Signatures verified in a process of their own while a build reads what was signed.

Comes in: the project's root and its entries' ids. Goes out: the marks of signatures that are good;
any other is verified where it is asked for. Must not judge: whose key it is, what it may sign and
when is the sign-off's part.

A mark names all that a verification looks at. It is good for this build: nothing is kept.
"""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile

from measured_glossary.aside import end_with_parent
from measured_glossary.trust.folder import read_signatures
from measured_glossary.trust.sshsig import Fault, mark, parse_key_blob, parse_signature, verify

MANY = 100  # entries; for fewer, starting a process takes longer than it saves
_MARK_BYTES, _READ_BYTES = 32, 1 << 20

_key_of = cache(parse_key_blob)


class Ahead:
    """The marks found so far, by a process that begins with the last entry.

    `in` reads what came since when it does not know a mark: most come before they are asked for.
    Whoever asks begins with the first entry. Where the two meet all is verified, and the process
    ends; in another order it ends too early, which costs time and nothing else.
    """

    def __init__(self, root: Path, entries: Sequence[str]) -> None:
        self._file = TemporaryFile(buffering=0)  # noqa: SIM115 - `close` does
        self._read, self._marks = 0, set[bytes]()
        forked = multiprocessing.get_context("fork")
        arguments = (root, tuple(reversed(entries)), self._file.fileno())
        self.process = forked.Process(target=_verify, args=arguments, daemon=True)
        try:
            self.process.start()
        except OSError:
            self._file.close()
            raise

    def __contains__(self, mark: object) -> bool:
        if mark in self._marks:
            return True
        self._look()
        if is_met := mark in self._marks:
            self.process.kill()
        return is_met

    def _look(self) -> None:
        raw = os.pread(self._file.fileno(), _READ_BYTES, self._read)
        whole = len(raw) - len(raw) % _MARK_BYTES
        self._marks.update(raw[at : at + _MARK_BYTES] for at in range(0, whole, _MARK_BYTES))
        self._read += whole

    def close(self) -> None:
        """Stop the process, done or not."""
        self.process.kill()
        self.process.join()
        self._file.close()


def verified_ahead(root: Path, entries: Sequence[str], jobs: int) -> Ahead | None:
    """Begin to verify entries' signatures, where there are many and a core is free for it."""
    if jobs < 2 or len(entries) < MANY:
        return None
    if "fork" in multiprocessing.get_all_start_methods():
        with suppress(OSError):  # no process or no file to be had: a build is slower, not wrong
            return Ahead(root, entries)
    return None


def _verify(root: Path, entries: Sequence[str], file: int) -> None:
    # Nobody waits for this process: what it leaves out is verified by whoever asks.
    end_with_parent()
    with suppress(Exception, KeyboardInterrupt):
        for entry in entries:
            os.write(file, b"".join(good_marks(read_signatures(root, entry))))


def good_marks(signatures: Mapping[str, bytes]) -> Iterator[bytes]:
    """Give the marks of an entry's good signatures, whoever made them and whatever they say.

    `signatures` are the files of its `signatures/` folder, by name.
    """
    for name, armored in signatures.items():
        message = signatures.get(name.removesuffix(".sig"))
        if name.endswith(".sig") and message is not None:
            yield from _mark_of_good(armored, message)


def _mark_of_good(armored: bytes, message: bytes) -> Iterator[bytes]:
    signature = parse_signature(armored)
    key = signature if isinstance(signature, Fault) else _key_of(signature.key_blob)
    if isinstance(signature, Fault) or isinstance(key, Fault):
        return
    if not verify(signature, key, namespace=signature.namespace, message=message):
        yield mark(armored, key.blob, signature.namespace, message)
