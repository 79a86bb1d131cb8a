"""A bundle for a reviewer outside: everything to read, one statement to sign, and how.

Comes in: an entry's files and the statement that is asked for. Goes out: the bytes of a ZIP file,
the same each time. Must not hold a file that the statement does not name.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Mapping

from measured_glossary.trust.folder import ENTRIES, SIGNATURES
from measured_glossary.trust.statement import Statement, file_name, namespace, to_bytes

_README = """\
A review is asked of you: {person}
===================================

Entry {entry} of the glossary {project}. Its files lie in files/, exactly as they would be signed;
begin with files/{page}.

You are asked whether you looked at: {scope}.
If you did and would put your name to it, sign the statement beside this file with the key that you
also push with (a key in an agent or on a security key works too):

    ssh-keygen -Y sign -n {namespace} -f ~/.ssh/id_ed25519 {statement}

Send back {statement}.sig, and your public key (the .pub file) if the project does not have it yet.
The statement is good for these bytes only. If anything in it is not so (the date, your id, what you
looked at), do not sign; ask for another bundle.

To see that the statement names the files that you read, and no others:

    cd files && sha256sum -c ../SHA256SUMS

The two files go to {folder}/, and
    glossary verify {entry}
says whether they count. A person who is not in the registry yet is added by a change of its own.
"""


def bundle(files: Mapping[str, bytes], statement: Statement) -> bytes:
    """Give the ZIP file: the files, their digests, the statement and what to do with it."""
    name = file_name(statement.said, statement.person)
    sums = "".join(f"{subject.sha256}  {subject.name}\n" for subject in statement.subjects)
    members = {
        "README.txt": _readme(statement, name).encode("utf-8"),
        "SHA256SUMS": sums.encode("ascii"),
        name: to_bytes(statement),
        **{f"files/{path}": raw for path, raw in files.items()},
    }
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, raw in sorted(members.items()):
            info = zipfile.ZipInfo(path)  # the date of 1980 that it brings: same bytes each time
            info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(info, raw)
    return made.getvalue()


def digest(raw: bytes) -> str:
    """Give the SHA-256 of a bundle, to be told beside it."""
    return hashlib.sha256(raw).hexdigest()


def _readme(statement: Statement, name: str) -> str:
    return _README.format(
        person=statement.person,
        entry=statement.entry,
        project=statement.project,
        page=f"{ENTRIES}/{statement.entry}/entry.md",
        scope=", ".join(statement.scope),
        namespace=namespace(statement.said),
        statement=name,
        folder=f"{ENTRIES}/{statement.entry}/{SIGNATURES}",
    )
