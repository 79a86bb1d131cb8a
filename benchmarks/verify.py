"""Signatures verified per second: ours, in process, beside `ssh-keygen`, a process a signature.

Comes in: nothing; throw-away keys are made in a temporary folder. Goes out: a table, one line a
kind of key, with both rates and their ratio. Must not need a GPU, a network or a key of anybody.

    python benchmarks/verify.py
"""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from measured_glossary.trust.signing import find_tool, second_opinion
from measured_glossary.trust.sshsig import Fault, PublicKey, parse_key, parse_signature, verify

NAMESPACE = "review@measured-glossary"
MESSAGE = b'{"statement": "of the size that statements have"}\n' * 40
KINDS = {
    "ed25519": ("-t", "ed25519"),
    "ECDSA P-256": ("-t", "ecdsa", "-b", "256"),
    "ECDSA P-384": ("-t", "ecdsa", "-b", "384"),
    "RSA 3072": ("-t", "rsa", "-b", "3072"),
}
OURS_S = 1.0


def main() -> int:
    """Print the table; the ratio holds on a busy machine too, the rates do not."""
    tool = find_tool()
    if tool is None:
        print("there is no ssh-keygen here to compare with")
        return 2
    print(f"{'key':<12} {'ours/s':>9} {'ssh-keygen/s':>13} {'ratio':>7}")
    for kind in KINDS:
        ours, theirs = rates(tool, kind)
        print(f"{kind:<12} {ours:>9,.0f} {theirs:>13,.0f} {ours / theirs:>6,.0f}×")
    return 0


def rates(tool: Path, kind: str = "ed25519", seconds: float = OURS_S) -> tuple[float, float]:
    """Give how many signatures of a kind ours and `ssh-keygen` verify in a second."""
    with tempfile.TemporaryDirectory() as folder:
        key, signature = _signed(tool, Path(folder), KINDS[kind])
    ours = _per_second(lambda: _verify(key, signature), seconds)
    return ours, _per_second(lambda: _ask(tool, key, signature), seconds)


def agree(tool: Path) -> bool:
    """Say whether both give the same verdicts: on a good signature, and on three that are not."""
    with tempfile.TemporaryDirectory() as folder:
        key, good = _signed(tool, Path(folder), KINDS["ed25519"])
        other, _ = _signed(tool, Path(folder) / "other", KINDS["ed25519"])
    cases = [
        (key, NAMESPACE, MESSAGE),
        (other, NAMESPACE, MESSAGE),
        (key, "author@measured-glossary", MESSAGE),
        (key, NAMESPACE, MESSAGE + b"."),
    ]
    return [_is_good(*case, good) for case in cases] == [
        second_opinion(tool, key, namespace=space, message=message, armored=good) is None
        for key, space, message in cases
    ]


def _is_good(key: PublicKey, namespace: str, message: bytes, armored: bytes) -> bool:
    signature = parse_signature(armored)
    if isinstance(signature, Fault):
        return False
    return verify(signature, key, namespace=namespace, message=message) is None


def _signed(tool: Path, folder: Path, options: tuple[str, ...]) -> tuple[PublicKey, bytes]:
    folder.mkdir(exist_ok=True)
    path = folder / "key"
    subprocess.run([str(tool), "-q", "-N", "", "-f", str(path), *options], check=True)
    command = [str(tool), "-q", "-Y", "sign", "-n", NAMESPACE, "-f", str(path)]
    made = subprocess.run(command, input=MESSAGE, capture_output=True, check=True).stdout
    key = parse_key(path.with_suffix(".pub").read_text(encoding="utf-8").strip())
    if isinstance(key, Fault):
        raise SystemExit(f"{options}: {key.message}")
    return key, made


def _verify(key: PublicKey, armored: bytes) -> None:
    """Verify from the armor on: parsing is part of the work."""
    signature = parse_signature(armored)
    fault = signature if isinstance(signature, Fault) else None
    fault = fault or verify(signature, key, namespace=NAMESPACE, message=MESSAGE)  # type: ignore[arg-type]
    if fault:
        raise SystemExit(f"a good signature {fault.message}")


def _ask(tool: Path, key: PublicKey, armored: bytes) -> None:
    if fault := second_opinion(tool, key, namespace=NAMESPACE, message=MESSAGE, armored=armored):
        raise SystemExit(f"ssh-keygen: {fault.message}")


def _per_second(once: Callable[[], None], seconds: float) -> float:
    once()
    count, start = 0, time.perf_counter()
    while (spent := time.perf_counter() - start) < seconds:
        once()
        count += 1
    return count / spent


if __name__ == "__main__":
    raise SystemExit(main())
