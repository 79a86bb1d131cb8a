"""The machine code of a cubin, as something one can count in.

Comes in: a cubin's bytes and what `nvdisasm -json` printed for them. Goes out: `Sass`, one
`Kernel` for each entry. Must not know how the cubin was made, nor start a process.
"""

from __future__ import annotations

import hashlib
import json
import re
import struct
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Kernel:
    """One kernel: its name as written in the source, what it occupies, its instructions.

    `local_bytes` is the stack of one thread, spills and called functions included;
    `shared_bytes` is what is declared with a size, without the driver's own share.
    """

    name: str
    symbol: str
    registers: int
    local_bytes: int
    shared_bytes: int
    instructions: tuple[str, ...]

    @property
    def opcodes(self) -> Counter[str]:
        """How often each opcode occurs; the padding (`NOP`) is left out."""
        names = map(opcode, self.instructions)
        return Counter(name for name in names if name != "NOP")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sass:
    """The machine code of one cubin."""

    code: tuple[Kernel, ...]

    @property
    def kernels(self) -> tuple[str, ...]:
        """The kernels' names, sorted."""
        return tuple(kernel.name for kernel in self.code)

    def count(self, kernel: str, prefix: str) -> int:
        """Count the instructions whose opcode is `prefix` or `prefix.…`.

        Architectures name one instruction differently: `BAR.SYNC` is `BAR.SYNC.DEFER_BLOCKING`
        from sm_80 on, and both are counted.
        """
        opcodes = self.opcodes(kernel)
        return sum(n for name, n in opcodes.items() if f"{name}.".startswith(f"{prefix}."))

    def opcodes(self, kernel: str) -> Counter[str]:
        """Give how often each opcode occurs in a kernel, padding left out."""
        return self._kernel(kernel).opcodes

    def lines(self, kernel: str) -> tuple[str, ...]:
        """Give the instructions as printed: predicate, opcode, operands."""
        return self._kernel(kernel).instructions

    def registers(self, kernel: str) -> int:
        """Give the registers a thread occupies."""
        return self._kernel(kernel).registers

    def local_bytes(self, kernel: str) -> int:
        """Give the bytes of local memory a thread occupies, called functions included."""
        return self._kernel(kernel).local_bytes

    def shared_bytes(self, kernel: str) -> int:
        """Give the bytes of shared memory declared with a size."""
        return self._kernel(kernel).shared_bytes

    def digest(self, kernel: str) -> str:
        """Give the SHA-256 of the printed instructions."""
        return hashlib.sha256("\n".join(self.lines(kernel)).encode()).hexdigest()

    def to_data(self) -> dict[str, Any]:
        """Give plain data that JSON can hold."""
        return {"code": [asdict(kernel) for kernel in self.code]}

    @classmethod
    def from_data(cls, data: Any) -> Sass:
        """Read what `to_data` gave; `ValueError` where it is something else."""
        try:
            code = [Kernel(**{**k, "instructions": tuple(k["instructions"])}) for k in data["code"]]
        except (TypeError, KeyError) as error:
            raise ValueError(f"this is not machine code: {error!r}") from error
        return cls(code=tuple(code))

    def _kernel(self, name: str) -> Kernel:
        for kernel in self.code:
            if name in (kernel.name, kernel.symbol):
                return kernel
        raise LookupError(f"no kernel {name!r}; there are {', '.join(self.kernels)}")


def opcode(line: str) -> str:
    """Give the opcode of a printed instruction: `@!P0 BRA 0x90` → `BRA`."""
    return line.split()[1 if line.startswith("@") else 0]


def read_sass(cubin: bytes, printed: str) -> Sass:
    """Join a cubin with what `nvdisasm -json` printed for it.

    `ValueError` where either is not what it should be.
    """
    try:
        listings = _by_function(printed)
        used = _resources(cubin)
        kernels = [
            Kernel(
                name=name,
                symbol=symbol,
                instructions=tuple(filter(None, map(_line, listings[symbol]))),
                **used[symbol],
            )
            for name, symbol in symbols(cubin).items()
        ]
    except (AttributeError, IndexError, KeyError, TypeError, struct.error) as error:
        raise ValueError(f"the disassembly does not match the cubin: {error!r}") from error
    return Sass(code=tuple(sorted(kernels, key=lambda kernel: kernel.name)))


def _by_function(printed: str) -> dict[str, list[dict[str, Any]]]:
    """Give each function's instructions, with those of what is placed behind it in its section.

    Before 13.5 nvdisasm lists the latter by themselves, under the names of local symbols.
    """
    found: dict[str, list[dict[str, Any]]] = {}
    whole: list[dict[str, Any]] = []
    for listing in json.loads(printed)[1]:
        if listing.get("start", 0) == 0:
            whole = found[listing["function-name"]] = []
        whole += listing["sass-instructions"]
    return found


def symbols(cubin: bytes) -> dict[str, str]:
    """Give the kernels of a cubin: the name as written in the source → the linker's name."""
    prefix = ".nv.info."
    own = (section.name for section in _sections(cubin) if section.name.startswith(prefix))
    found = sorted(name.removeprefix(prefix) for name in own)
    names = Counter(map(plain_name, found))  # overloads share theirs, and keep the linker's
    return {n if names[n := plain_name(symbol)] == 1 else symbol: symbol for symbol in found}


def _line(instruction: dict[str, Any]) -> str:
    """Print an instruction; a gap between instructions, which has no opcode, is nothing."""
    parts = (instruction.get(key, "") for key in ("predicate", "opcode", "operands"))
    return " ".join(part for part in parts if part)


# ── names ────────────────────────────────────────────────────────────────────────────────────

# Itanium C++ ABI, "Builtin types"; enough for the template arguments kernels are called with.
_TYPES = {
    **{"b": "bool", "c": "char", "a": "signed char", "h": "unsigned char", "s": "short"},
    **{"t": "unsigned short", "i": "int", "j": "unsigned int", "l": "long", "m": "unsigned long"},
    **{"x": "long long", "y": "unsigned long long", "f": "float", "d": "double"},
}
_LITERAL = re.compile(r"L([abchijlmstxy])(n?)(\d+)E")


def plain_name(symbol: str) -> str:
    """Give a kernel's name as written: `_ZN2ns4tileILi64EfEEvPT0_` → `ns::tile<64, float>`.

    Names that need more of the ABI than identifiers, numbers and builtin types stay as they are.
    """
    try:
        return "::".join(_parts(symbol)) if symbol.startswith("_Z") else symbol
    except ValueError:
        return symbol


def _parts(symbol: str) -> list[str]:
    nested, rest = symbol.startswith("_ZN"), symbol[2:]
    rest, parts = rest[1:] if nested else rest, list[str]()
    while rest and rest[0].isdigit():
        name, rest = _identifier(rest)
        arguments, rest = _arguments(rest) if rest.startswith("I") else ("", rest)
        parts.append(name + arguments)
        if not nested:
            return parts
    if not parts or not rest.startswith("E"):
        raise ValueError(symbol)
    return parts


def _identifier(text: str) -> tuple[str, str]:
    digits = re.match(r"\d+", text)
    start = digits.end() if digits else 0
    end = start + int(text[:start])
    name = text[start:end]
    return ("(anonymous namespace)" if name.startswith("_GLOBAL__N_") else name), text[end:]


def _arguments(text: str) -> tuple[str, str]:
    found, rest = list[str](), text[1:]
    while not rest.startswith("E"):
        literal = _LITERAL.match(rest)
        if literal:
            found.append(_literal(*literal.groups()))
        elif rest[:1] in _TYPES:
            found.append(_TYPES[rest[0]])
        else:
            raise ValueError(text)
        rest = rest[literal.end() if literal else 1 :]
    return f"<{', '.join(found)}>", rest[1:]


def _literal(kind: str, minus: str, digits: str) -> str:
    return ("false", "true")[digits == "1"] if kind == "b" else "-" * bool(minus) + digits


# ── the cubin, an ELF file ───────────────────────────────────────────────────────────────────

_REGISTERS, _STACK_BYTES = 0x2F, 0x12  # EIATTR_REGCOUNT, EIATTR_MIN_STACK_SIZE
_SIZED = 0x04  # EIFMT_SVAL: the value follows, its length in the header
_SYSTEM_SHARED_BYTES = 1024  # what the driver takes of each block from sm_80 on


@dataclass(frozen=True, slots=True)
class _Section:
    name: str
    size: int
    info: int
    content: bytes


def _sections(cubin: bytes) -> list[_Section]:
    if cubin[:6] != b"\x7fELF\x02\x01":
        raise ValueError("not a cubin: no 64-bit little-endian ELF file")
    try:
        start, size, count, names = struct.unpack_from("<Q10xHHH", cubin, 0x28)
        heads = [struct.unpack_from("<IIQQQQIIQQ", cubin, start + i * size) for i in range(count)]
        return [_section(cubin, heads[names][4], head) for head in heads]
    except (struct.error, IndexError) as error:
        raise ValueError(f"a damaged cubin: {error}") from error


def _section(cubin: bytes, names: int, head: tuple[int, ...]) -> _Section:
    name, at, size, info = head[0], head[4], head[5], head[7]
    return _Section(
        name=cubin[names + name : cubin.index(b"\0", names + name)].decode(),
        size=size,
        info=info,
        content=cubin[at : at + size],
    )


def _resources(cubin: bytes) -> dict[str, dict[str, int]]:
    """Give registers, local and shared bytes by symbol."""
    sections = {section.name: section for section in _sections(cubin)}
    facts = dict(_facts(sections[".nv.info"].content))
    reserved = _SYSTEM_SHARED_BYTES if ".nv.shared.reserved.0" in sections else 0
    used = {}
    for symbol in symbols(cubin).values():
        index = sections[f".text.{symbol}"].info & 0xFFFFFF  # the upper byte holds other things
        shared = sections.get(f".nv.shared.{symbol}")
        used[symbol] = {
            "registers": facts[_REGISTERS, index],
            "local_bytes": facts[_STACK_BYTES, index],
            "shared_bytes": shared.size - reserved if shared else 0,
        }
    return used


def _facts(info: bytes) -> Iterator[tuple[tuple[int, int], int]]:
    """Yield ((attribute, symbol), value) of a `.nv.info` section."""
    at = 0
    while at < len(info):
        form, attribute, size = struct.unpack_from("<BBH", info, at)
        at += 4
        if form == _SIZED:
            if attribute in (_REGISTERS, _STACK_BYTES):
                symbol, value = struct.unpack_from("<II", info, at)
                yield (attribute, symbol), value
            at += size
