"""What a worker's answers must look like: the door between author code and this process.

Comes in: JSON that a worker wrote. Goes out: validated models, one for each mode. Must not start
a process or know what an answer is used for.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from measured_glossary.lab.protocol import SCHEMA
from measured_glossary.lab.record import Conditions, MachineData, TableData, TimingData

_Plain = bool | int | float | str | None


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, defer_build=True)


class ProblemAnswer(_Strict):
    """A problem, as `problem.to_json` writes it."""

    file: str
    line: Annotated[int, Field(ge=0)]
    column: Annotated[int, Field(ge=0)]
    code: Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
    message: str
    hint: str


class Answer(_Strict):
    """The envelope of every answer; `value` is absent where the problems forbid one."""

    schema_number: Annotated[int, Field(alias="schema", ge=SCHEMA, le=SCHEMA)]
    mode: str
    value: dict[str, Any] | None
    problems: list[ProblemAnswer]


class ProbeAnswer(_Strict):
    """A declared probe; its table has no rows."""

    table: TableData
    line: int
    cases: list[dict[str, _Plain]]
    limit_s: float | int
    tools: list[str]


class ClaimAnswer(_Strict):
    """A declared claim."""

    name: str
    text: str
    tables: list[str]
    line: int


class Described(_Strict):
    """Answer to `describe`: an experiment's declaration."""

    title: str
    line: int
    sources: list[str]
    options: list[str]
    architectures: list[str] | None
    probes: list[ProbeAnswer]
    claims: list[ClaimAnswer]


class CubinAnswer(_Strict):
    """One source compiled for one architecture; `cubin` and `sass` are files in the folder."""

    source: str
    architecture: str
    cubin: str
    sass: str
    sass_sha256: str
    log: str


class Compiled(_Strict):
    """Answer to `compile`: what lies in the request's folder now."""

    cubins: list[CubinAnswer]


class Tabled(_Strict):
    """Answer to `static`: tables with rows."""

    tables: list[TableData]


class Measured(_Strict):
    """Answer to `run`: tables with rows, when and under which conditions they were measured.

    `probes_s` is what the probes took, in seconds, without the start of the process.
    """

    tables: list[TableData]
    timings: list[TimingData]
    captured: str
    probes_s: float
    toolchain: dict[str, str]
    conditions: dict[str, Conditions]


class CaseAnswer(_Strict):
    """Answer to `case`: how it ended, the cells it left, and the seconds that the probe took."""

    row: dict[str, _Plain]
    probes_s: float


class SanitizedAnswer(_Strict):
    """Answer to `sanitized`: how the case ended, and whether the tool was in its process."""

    outcome: Annotated[str, Field(pattern=r"^(returned|cuda error \w+)$")]
    watched: bool


class AliveAnswer(_Strict):
    """Answer to `alive`: whether the GPU did what it was told."""

    alive: bool


class ResultAnswer(_Strict):
    """A claim checked; `line` is that of the assertion, or of the claim."""

    name: str
    state: Literal["held", "refuted", "not checked here"]
    detail: str
    line: int


class Checks(_Strict):
    """Answer to `check`: for each of the given measurements, one result a claim."""

    measurements: list[list[ResultAnswer]]


class Compilers(_Strict):
    """Answer to `compilers`: what this machine can compile; `missing` says what it lacks to."""

    architectures: list[str]
    missing: str
    toolchain: dict[str, str]


class Found(_Strict):
    """Answer to `machine`: the GPU, if there is one."""

    machine: MachineData | None
