"""Files and text into data, with the place of every node.

Comes in: a path, or bytes already read. Goes out: `Source` (bytes read once), `Located` (plain
data and where each part stands) and validated pydantic models. Must not know what an entry,
a record or a registry is.
"""

from __future__ import annotations

import copy
import difflib
import hashlib
import json
import os
import re
import stat
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from json.encoder import encode_basestring_ascii
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from measured_glossary.problem import Checked, Place, Problem, meant, writing

Model = TypeVar("Model", bound=BaseModel)
Loc = tuple[str | int, ...]

MAX_FILE_BYTES = 4 << 20
MAX_YAML_BYTES = 64 << 10
MAX_YAML_DEPTH = 10
MAX_JSON_DEPTH = 40

MAX_HIDDEN_REPORTED = 20

# What to do about the line ends of Windows; nothing that would throw work away.
LF_HINT = (
    "save it with LF line ends, a setting of the editor, or take it from a fresh clone; "
    "'* -text' in .gitattributes keeps git from changing them"
)

# Characters that make text read otherwise than it is stored (Unicode TR 36 and 39): bidirectional
# controls, invisible letters, separators and variants, half characters, and control characters
# other than tab and line ends; a carriage return alone ends a line for some and not for others.
_PLAIN = bytes([0x09, 0x0A, *range(0x20, 0x7F)])
_HIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufffb\U000e0000-\U000e0fff]|\r(?!\n)"
)


@dataclass(frozen=True, slots=True)
class Source:
    """A file of the project, read once: `file` is its name in messages, `text` its content.

    `text` is `raw` decoded as UTF-8 with line ends as they stand.
    """

    file: str
    raw: bytes
    text: str

    @property
    def sha256(self) -> str:
        """The SHA-256 of the raw bytes, in hexadecimal."""
        return hashlib.sha256(self.raw).hexdigest()

    def at(self, offset: int) -> Place:
        """Give the place of the character at `offset` of `text`."""
        line = self.text.count("\n", 0, offset) + 1
        return Place(self.file, line, offset - self.text.rfind("\n", 0, offset))


@dataclass(frozen=True, slots=True)
class Located:
    """Plain data (dict, list, str, …) of a file, and line and column of each part by its path."""

    data: Any
    file: str
    places: dict[Loc, tuple[int, int]] = field(default_factory=dict)

    def place(self, loc: Loc) -> Place:
        """Give the place of the part at `loc`, or of the nearest part around it."""
        while loc not in self.places and loc:
            loc = loc[:-1]
        return Place(self.file, *self.places[loc])


# ── reading ──────────────────────────────────────────────────────────────────────────────────


def read_bytes(root: Path, file: str, *, limit: int = MAX_FILE_BYTES) -> Checked[bytes]:
    """Read a regular file below `root`; links, pipes, folders and oversized files are refused."""
    if problem := path_problem(file):
        return Checked(value=None, problems=(problem,))
    try:
        path = _without_links(root, file)
    except OSError as error:
        return _refuse(file, "unreadable-file", f"cannot be read: {error.strerror}")
    return read_here(str(path), file, limit=limit)


def read_here(
    path: str, file: str, *, limit: int = MAX_FILE_BYTES, is_alone: bool = False
) -> Checked[bytes]:
    """Read a regular file whose folder is known to be no link; `file` is its name in messages.

    One that `is_alone` has no second name, under which it could be changed.
    """
    try:
        return _read_regular(path, file, limit, is_alone=is_alone)
    except FileNotFoundError:
        return _refuse(file, "missing-file", "there is no such file")
    except OSError as error:
        return _refuse(file, "unreadable-file", f"cannot be read: {error.strerror}")


def read(root: Path, file: str, *, limit: int = MAX_FILE_BYTES) -> Checked[Source]:
    """Read a text file below `root`: UTF-8, without hidden or bidirectional characters."""
    raw = read_bytes(root, file, limit=limit)
    return (
        decode(file, raw.value)
        if raw.value is not None
        else Checked(value=None, problems=raw.problems)
    )


def write(root: Path, file: str, raw: bytes) -> bool:
    """Write a file below `root`, by rename, if it has another content; say whether it did.

    Raises `Refused` where the system does not allow it, and leaves no half of a file.
    """
    path = root / file
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    with writing(file):
        if path.is_file() and path.read_bytes() == raw:
            return False
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            part.write_bytes(raw)
            part.replace(path)
        except BaseException:  # somebody interrupts, too
            part.unlink(missing_ok=True)
            raise
    return True


def decode(file: str, raw: bytes) -> Checked[Source]:
    """Decode bytes as text; a byte order mark is kept in `raw` and dropped from `text`."""
    try:
        text = raw.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        return _refuse(file, "not-utf8", f"byte {error.start} is not UTF-8", line=line)
    source = Source(file, raw, text)
    if not _may_be_hidden(raw):
        return Checked(value=source)
    hidden = islice(_HIDDEN.finditer(text), MAX_HIDDEN_REPORTED)
    problems = tuple(_hidden_problem(source.at(found.start()), found[0]) for found in hidden)
    return Checked(value=None if problems else source, problems=problems)


def _may_be_hidden(raw: bytes) -> bool:
    """Say whether UTF-8 may hold a hidden character; few bytes are left to look at one by one."""
    left = raw.translate(None, _PLAIN)
    return bool(left) and (b"\r" in left or _HIDDEN.search(left.decode("utf-8")) is not None)


def path_problem(file: str, place: Place | None = None) -> Problem | None:
    """Say what is wrong with a relative path named in a file, if anything."""
    parts = PurePosixPath(file).parts
    plain = "/".join(parts) == file and not set(file) & set("\\:") and file.isprintable()
    if file and plain and not file.startswith("/") and ".." not in parts:
        return None
    return Problem(
        place=place or Place(file if file and file.isprintable() else "."),
        code="bad-path",
        message=f"{file!r} is not a plain path inside the project",
        hint="write it relative to the project's root, with '/' and without '..'",
    )


def _without_links(root: Path, file: str) -> Path:
    path = root
    for part in PurePosixPath(file).parts:
        path = path / part
        if path.is_symlink():
            raise OSError(0, f"{path.relative_to(root).as_posix()} is a symbolic link")
    return path


# O_NONBLOCK: opening a pipe must not wait for a writer. Windows has none of these but the last.
_FLAGS = os.O_RDONLY | sum(
    getattr(os, name, 0) for name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY")
)


def _read_regular(path: str, file: str, limit: int, *, is_alone: bool) -> Checked[bytes]:
    opened = os.open(path, _FLAGS)
    try:
        status = os.fstat(opened)
        if not stat.S_ISREG(status.st_mode):
            return _refuse(file, "unreadable-file", "is not a regular file")
        if is_alone and status.st_nlink > 1:
            said = f"is one of {status.st_nlink} names of the same file"
            return _refuse(file, "hard-link", said, hint="copy the file in place of the link")
        if status.st_size > limit:
            return _refuse(file, "oversized-file", f"is larger than {limit} bytes")
        return Checked(value=_read_all(opened, status.st_size))
    finally:
        os.close(opened)


def _read_all(opened: int, size: int) -> bytes:
    """Read as many bytes as the file had when it was opened; mostly one reading gives them all."""
    raw = os.read(opened, size)
    while len(raw) < size and (more := os.read(opened, size - len(raw))):
        raw += more
    return raw


def _refuse(file: str, code: str, message: str, *, line: int = 0, hint: str = "") -> Checked[Any]:
    problem = Problem(place=Place(file, line), code=code, message=message, hint=hint)
    return Checked(value=None, problems=(problem,))


def _hidden_problem(place: Place, char: str) -> Problem:
    name = unicodedata.name(char, "control character")
    return Problem(
        place=place,
        code="hidden-character",
        message=f"U+{ord(char):04X} ({name}) makes text read otherwise than it is stored",
        hint="delete the character",
    )


# ── strict YAML: every scalar a string, no duplicate keys, no anchors, aliases or tags ────────


class _BadYaml(Exception):  # noqa: N818 - never leaves this module
    def __init__(self, code: str, message: str, mark: yaml.Mark | None, hint: str = "") -> None:
        super().__init__(message)
        self.code, self.message, self.mark, self.hint = code, message, mark, hint


def parse_yaml(source: Source, text: str | None = None, *, first_line: int = 1) -> Checked[Located]:
    """Parse the strict YAML subset; `text` is a part of `source` that starts at `first_line`."""
    text = source.text if text is None else text
    try:
        if len(text.encode()) > MAX_YAML_BYTES:
            raise _BadYaml("yaml-too-large", f"more than {MAX_YAML_BYTES} bytes of YAML", None)
        return _Builder(source.file, first_line - 1).build(text)
    except _BadYaml as bad:
        error, message, mark = bad, bad.message, bad.mark
        code, hint = error.code, error.hint
    except yaml.YAMLError as bad_syntax:
        mark = getattr(bad_syntax, "problem_mark", None)
        message = getattr(bad_syntax, "problem", None) or str(bad_syntax)
        code, hint = "yaml-syntax", _QUOTE_IT
        if mark and "\t" in "".join(text.split("\n")[mark.line :][:1])[: mark.column + 1]:
            message, hint = "a tab stands where YAML takes blanks only", "indent with blanks"
    line, column = _inside(text, mark) if mark else (0, 0)
    place = Place(source.file, line + first_line, column + 1)
    return Checked(
        value=None, problems=(Problem(place=place, code=code, message=message, hint=hint),)
    )


_QUOTE_IT = "quote a text that has ': ' or '#' in it, or that begins with a sign"


def _inside(text: str, mark: yaml.Mark) -> tuple[int, int]:
    """Give line and column of a mark; the parser's mark of the end may lie behind the last line."""
    last = text.count("\n")
    if mark.line <= last:
        return mark.line, mark.column
    return last, len(text) - text.rfind("\n") - 1


class _Builder:
    """Walks YAML events once; keeps data, places and the duplicate keys found on the way."""

    def __init__(self, file: str, line_offset: int) -> None:
        self.file, self.line_offset = file, line_offset
        self.places: dict[Loc, tuple[int, int]] = {}
        self.problems: list[Problem] = []

    def build(self, text: str) -> Checked[Located]:
        # The C parser is ten times faster; its events are the same.
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        events = self._checked(yaml.parse(text, Loader=loader))
        first = next(events, None)
        if first is None:
            data: Any = {}
            self.places[()] = self.line_offset + 1, 1
        else:
            data = self._node(first, events, ())
        for event in events:
            raise _BadYaml("yaml-documents", "a second YAML document", event.start_mark)
        return Checked(value=Located(data, self.file, self.places), problems=tuple(self.problems))

    def _checked(self, events: Iterator[Any]) -> Iterator[Any]:
        for event in events:
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
                raise _BadYaml(
                    "yaml-anchor",
                    "anchors and aliases are not used here",
                    event.start_mark,
                    "write the value out",
                )
            if getattr(event, "tag", None):
                raise _BadYaml(
                    "yaml-tag",
                    f"the tag {event.tag!r} is not used here",
                    event.start_mark,
                    "every value is read as text: leave the tag out",
                )
            if isinstance(event, yaml.NodeEvent | yaml.CollectionEndEvent):
                yield event

    def _node(self, event: Any, events: Iterator[Any], loc: Loc) -> Any:
        mark = event.start_mark
        if len(loc) > MAX_YAML_DEPTH:
            raise _BadYaml("yaml-depth", f"nested deeper than {MAX_YAML_DEPTH} levels", mark)
        self.places.setdefault(loc, self._at(mark))
        if isinstance(event, yaml.ScalarEvent):
            return self._text(event)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(events, loc)
        return self._mapping(events, loc)

    def _sequence(self, events: Iterator[Any], loc: Loc) -> list[Any]:
        items: list[Any] = []
        while not isinstance(event := next(events), yaml.SequenceEndEvent):
            items.append(self._node(event, events, (*loc, len(items))))
        return items

    def _mapping(self, events: Iterator[Any], loc: Loc) -> dict[str, Any]:
        items: dict[str, Any] = {}
        while not isinstance(event := next(events), yaml.MappingEndEvent):
            if not isinstance(event, yaml.ScalarEvent):
                raise _BadYaml("yaml-key", "a key must be a plain text", event.start_mark)
            key, mark = self._text(event), event.start_mark
            if key in items:
                self.problems.append(
                    Problem(
                        place=self._place(mark),
                        code="yaml-duplicate-key",
                        message=f"{key!r} stands here a second time",
                        hint="keep one of the two",
                    )
                )
            else:
                self.places[(*loc, key)] = self._at(mark)
            items[key] = self._node(next(events), events, (*loc, key))
        return items

    def _text(self, event: Any) -> str:
        """Give a scalar's text; an escape in quotes can hide what the file does not show."""
        text: str = event.value
        if hidden := _HIDDEN.search(text):
            self.problems.append(_hidden_problem(self._place(event.start_mark), hidden[0]))
        return text

    def _place(self, mark: Any) -> Place:
        return Place(self.file, *self._at(mark))

    def _at(self, mark: Any) -> tuple[int, int]:
        return mark.line + 1 + self.line_offset, mark.column + 1


# ── strict JSON ──────────────────────────────────────────────────────────────────────────────


def parse_json(source: Source) -> Checked[Located]:
    """Parse JSON; duplicate keys, NaN, infinities and deep nesting are refused."""
    try:
        data = _STRICT.decode(source.text)
        if _may_hide(source.text):
            _check_values(data, MAX_JSON_DEPTH)
    except json.JSONDecodeError as error:
        place = Place(source.file, error.lineno, error.colno)
        return _json_problem(place, "json-syntax", error.msg)
    except (ValueError, RecursionError) as error:
        return _json_problem(Place(source.file), "json-value", str(error) or "nested too deeply")
    return Checked(value=Located(data, source.file, {(): (0, 0)}))


def canonical_json(data: Any) -> bytes:
    """Write JSON in its one form: sorted keys, ASCII, two spaces, LF at the end, no NaN."""
    return (_written(data, "\n") + "\n").encode("ascii")


_plain = json.JSONEncoder(allow_nan=False).encode


def _written(data: Any, line: str) -> str:
    """Write a value as `json.dumps` does, several times faster; `line` begins a line at its depth.

    The C code behind `json` does not indent.
    """
    if isinstance(data, str):
        return encode_basestring_ascii(data)
    inner = f"{line}  "
    if isinstance(data, dict):
        quoted = encode_basestring_ascii
        parts = [
            f"{quoted(key)}: {quoted(part) if isinstance(part, str) else _written(part, inner)}"
            for key, part in sorted(data.items())
        ]
        return f"{{{inner}{f',{inner}'.join(parts)}{line}}}" if parts else "{}"
    if isinstance(data, list | tuple):
        parts = [_written(value, inner) for value in data]
        return f"[{inner}{f',{inner}'.join(parts)}{line}]" if parts else "[]"
    return _plain(data)


def _json_problem(place: Place, code: str, message: str) -> Checked[Any]:
    return Checked(value=None, problems=(Problem(place=place, code=code, message=message),))


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {key!r} stands twice in one object")
        found[key] = value
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number a record can hold")


def _finite(digits: str) -> float:
    number = float(digits)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"{digits} is larger than a number can be here")
    return number


_STRICT = json.JSONDecoder(
    object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite
)


def _may_hide(text: str) -> bool:
    """Say whether decoded JSON may hold what its bytes do not show, or be nested too deeply."""
    return "\\" in text or text.count("{") + text.count("[") > MAX_JSON_DEPTH


def _check_values(data: Any, left: int) -> None:
    if isinstance(data, str) and (hidden := _HIDDEN.search(data)):
        raise ValueError(f"a text holds U+{ord(hidden[0]):04X}, which nobody sees")
    if not isinstance(data, dict | list):
        return
    if left < 0:
        raise ValueError(f"nested deeper than {MAX_JSON_DEPTH} levels")
    for child in [*data, *data.values()] if isinstance(data, dict) else data:
        _check_values(child, left - 1)


# ── validation ───────────────────────────────────────────────────────────────────────────────


def validate(model: type[Model], located: Located, *, code: str) -> Checked[Model]:
    """Validate data against a pydantic model; every fault becomes a `Problem` with its place.

    `code` names the problems (`entry-field`, `record-field`, …).
    """
    try:
        return Checked(value=model.model_validate(located.data))
    except ValidationError as error:
        faults = error.errors()
    problems = [_field_problem(model, located, fault, code) for fault in faults]
    if mistyped := _mistyped(model, located.data, faults):
        # Read on as if the keys were right: what lacks them now is no fault of its own.
        kept = [p for f, p in zip(faults, problems, strict=True) if tuple(f["loc"]) in mistyped]
        problems = [*kept, *validate(model, _renamed(located, mistyped), code=code).problems]
    return Checked(value=None, problems=tuple(problems))


def mended(model: type[BaseModel], located: Located) -> Located:
    """Give the data with its mistyped keys read as they are meant, each part at its place."""
    try:
        model.model_validate(located.data)
    except ValidationError as error:
        if mistyped := _mistyped(model, located.data, error.errors()):
            return mended(model, _renamed(located, mistyped))
    return located


def _field_problem(model: type[BaseModel], located: Located, fault: Any, code: str) -> Problem:
    loc: Loc = tuple(fault["loc"])
    name = ".".join(str(part) for part in loc) or "the whole"
    kind, hint = fault["type"], ""
    if kind == "missing":
        message, hint = f"{name!r} is missing", f"add a line '{loc[-1]}: …'"
    elif kind == "extra_forbidden":
        message, hint = f"{name!r} is not a key used here", _near(str(loc[-1]), _keys(model, loc))
    else:
        message = f"{name}: {_expected(fault)}, found {_found(fault['input'])}"
    return Problem(place=located.place(loc), code=code, message=message, hint=hint)


def _near(key: str, keys: Collection[str]) -> str:
    there = f"; the keys are {', '.join(sorted(keys))}" if keys else ""
    return meant(key, keys, f"remove it{there}")


def _mistyped(model: type[BaseModel], data: Any, faults: Sequence[Any]) -> dict[Loc, str]:
    """Give the unknown keys that look like a known one which is absent, and that one."""
    found: dict[Loc, str] = {}
    for loc in (tuple(fault["loc"]) for fault in faults if fault["type"] == "extra_forbidden"):
        beside = _at(data, loc[:-1])
        taken = {name for other, name in found.items() if other[:-1] == loc[:-1]}
        absent = _keys(model, loc) - taken - set(beside if isinstance(beside, dict) else ())
        close = difflib.get_close_matches(str(loc[-1]), absent, n=1)
        if close and isinstance(beside, dict):
            found[loc] = close[0]
    return found


def _keys(model: type[BaseModel], loc: Loc) -> set[str]:
    """Give the keys that may stand beside the one at `loc`, as far as the schema tells."""
    schema = node = model.model_json_schema()
    for part in loc[:-1]:
        node = _resolved(schema, node)
        inner = node.get("properties", {}).get(part) or node.get("additionalProperties")
        inner = node.get("items") if isinstance(part, int) else inner
        node = inner if isinstance(inner, dict) else {}
    return set(_resolved(schema, node).get("properties", ()))


def _resolved(schema: dict[str, Any], node: dict[str, Any]) -> dict[str, Any]:
    for option in (node, *node.get("anyOf", ())):
        if "$ref" in option:
            found: dict[str, Any] = schema["$defs"][option["$ref"].rpartition("/")[2]]
            return found
    return node


def _at(data: Any, loc: Loc) -> Any:
    for part in loc:
        inside = (isinstance(data, dict) and part in data) or (
            isinstance(data, list) and isinstance(part, int)
        )
        data = data[part] if inside else None
    return data


def _renamed(located: Located, mistyped: Mapping[Loc, str]) -> Located:
    """Give the same data with keys renamed; each part keeps its place."""
    data = copy.deepcopy(located.data)
    for loc, name in mistyped.items():
        beside = _at(data, loc[:-1])
        beside[name] = beside.pop(loc[-1])
    places = dict(located.places)
    for loc, name in mistyped.items():
        places |= {
            (*loc[:-1], name, *part[len(loc) :]): place
            for part, place in located.places.items()
            if part[: len(loc)] == loc
        }
    return Located(data, located.file, places)


_EXPECTED = {
    "string_type": "a text",
    "tuple_type": "a list, as in '[one, two]'",
    "list_type": "a list, as in '[one, two]'",
    "dict_type": "keys, each with its value",
    "model_type": "keys, each with its value",
    "string_too_long": "at most {max_length} signs",
    "string_too_short": "at least {min_length} signs",
    "string_pattern_mismatch": "a text of the form '{pattern}'",
    "too_short": "at least {min_length} of them",
    "too_long": "at most {max_length} of them",
    "literal_error": "{expected}",
    "bool_type": "true or false",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
}


def _expected(fault: Any) -> str:
    """Say what was expected in the words of somebody who writes YAML, not Python."""
    if fault["type"] in _EXPECTED:
        return "expected " + _EXPECTED[fault["type"]].format(**fault.get("ctx", {}))
    message: str = fault["msg"].removeprefix("Value error, ")
    return re.sub(r"^Input should be", "expected", message)


def _found(value: Any) -> str:
    """Print what was found as it would be written, briefly."""
    if value is None or value in ((), [], {}):
        return "nothing"
    text = repr(value) if isinstance(value, str) else _flow(value)
    return text if len(text) <= 60 else text[:57] + "…"


def _flow(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_flow, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key}: {_flow(inner)}' for key, inner in value.items())}}}"
    return str(value).lower() if isinstance(value, bool) else str(value)
