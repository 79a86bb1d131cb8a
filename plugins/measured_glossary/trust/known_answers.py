"""Known answers for a verifier that is not ours: one good signature, and three that are not.

Comes in: nothing. Goes out: `KNOWN_ANSWERS`. Must not know who verifies.

The keys were made for this file with `ssh-keygen`, and their private halves thrown away.
"""

from __future__ import annotations

from dataclasses import dataclass

TEST_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAILbnTD6D8MjlWwOh5t/CeNO1717UPEYwxCGVJgYuZb0E"
TEST_OTHER_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIOs2SLMY50TM/bCNDnB/qTWbaefv5msetNXGgfhfsj6"
TEST_MESSAGE = b"test message: known answer for a second verifier"
TEST_NAMESPACE = "author@measured-glossary"
TEST_SIGNATURE = b"""\
-----BEGIN SSH SIGNATURE-----
U1NIU0lHAAAAAQAAADMAAAALc3NoLWVkMjU1MTkAAAAgtudMPoPwyOVbA6Hm38J407XvXt
Q8RjDEIZUmBi5lvQQAAAAYYXV0aG9yQG1lYXN1cmVkLWdsb3NzYXJ5AAAAAAAAAAZzaGE1
MTIAAABTAAAAC3NzaC1lZDI1NTE5AAAAQPqnsE7XD7rxvpz6gdJOG4OG/d8wN/bzgONtfG
K6UDYv1JzKlBvcr+cC6/Ao5P6krS3xlN1QN8ivyXRkMqJESw4=
-----END SSH SIGNATURE-----
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownAnswer:
    """A question to a verifier and the answer it must give."""

    what: str
    key: str = TEST_KEY
    namespace: str = TEST_NAMESPACE
    message: bytes = TEST_MESSAGE
    is_good: bool = False


KNOWN_ANSWERS = (
    KnownAnswer(what="a good signature", is_good=True),
    KnownAnswer(what="another message", message=TEST_MESSAGE + b"."),
    KnownAnswer(what="another namespace", namespace="review@measured-glossary"),
    KnownAnswer(what="another key", key=TEST_OTHER_KEY),
)
