"""A bundle for a reviewer outside: everything to read, a statement to sign, and how.

Comes in: an entry's files and, once the reviewer is known, the statement that is asked for. Goes
out: the bytes of a ZIP file, the same each time. Must not hold a file that is not to be signed.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Mapping

from measured_glossary.trust.folder import ENTRIES, SIGNATURES
from measured_glossary.trust.statement import Statement, file_name, namespace, subjects, to_bytes

_READ = """\
A review is asked of you
========================

Entry {entry} of the glossary {project}. Its files lie in files/, exactly as they would be signed;
begin with files/{page}. To see that none was changed on the way:

    cd files && sha256sum -c ../SHA256SUMS

"""
_SIGN = """\
You are asked, as {person}, whether you looked at: {scope}.
If you did and would put your name to it, sign the statement beside this file with the key that you
also push with (a key in an agent or on a security key works too):

    ssh-keygen -Y sign -n {namespace} -f ~/.ssh/id_ed25519 {statement}

Send back {statement}.sig. The statement is good for these bytes only. If anything in it is not so
(the date, your id, what you looked at), do not sign; ask for another bundle.

The two files go to {folder}/, and this says whether they count:

    glossary verify {entry}
"""
_JOIN = """\
If you would put your name to it, send back three things: the name as it would be printed, an id of
small letters, digits and hyphens, and your public key (the .pub file of the key you push with).
Once the registry has them, another bundle brings the statement for you to sign:

    glossary request-review {entry} --of YOUR-ID
"""


def bundle(
    entry: str, project: str, files: Mapping[str, bytes], statement: Statement | None
) -> bytes:
    """Give the ZIP file: files, digests, what to do, and the statement if there is one."""
    readme = _READ.format(entry=entry, project=project, page=f"{ENTRIES}/{entry}/entry.md")
    sums = "".join(f"{subject.sha256}  {subject.name}\n" for subject in subjects(files))
    members = {"SHA256SUMS": sums.encode("ascii")}
    members |= {f"files/{path}": raw for path, raw in files.items()}
    if statement is None:
        readme += _JOIN.format(entry=entry)
    else:
        readme += _how_to_sign(statement)
        members[file_name(statement.said, statement.person)] = to_bytes(statement)
    return _zip({**members, "README.txt": readme.encode("utf-8")})


def digest(raw: bytes) -> str:
    """Give the SHA-256 of a bundle, to be told beside it."""
    return hashlib.sha256(raw).hexdigest()


def _how_to_sign(statement: Statement) -> str:
    return _SIGN.format(
        person=statement.person,
        entry=statement.entry,
        scope=", ".join(statement.scope),
        namespace=namespace(statement.said),
        statement=file_name(statement.said, statement.person),
        folder=f"{ENTRIES}/{statement.entry}/{SIGNATURES}",
    )


def _zip(members: Mapping[str, bytes]) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, raw in sorted(members.items()):
            info = zipfile.ZipInfo(path)  # the date of 1980 that it brings: same bytes each time
            info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
            archive.writestr(info, raw)
    return made.getvalue()
