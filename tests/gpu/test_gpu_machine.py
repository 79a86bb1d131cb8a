"""What is told of this machine, and what never is."""

from __future__ import annotations

import json
import platform
import re
from typing import Any

import pytest

from measured_glossary.lab import machine
from measured_glossary.lab.record import Conditions, MachineData

# A library's warnings on somebody's machine are no fault of ours.
pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture(scope="module")
def told() -> dict[str, Any]:
    """All that this machine tells of itself."""
    return {
        "machine": machine.fingerprint(),
        "conditions": machine.conditions(),
        "software": machine.software(),
    }


def test_the_fingerprint_holds_what_a_record_allows(told: dict[str, Any]) -> None:
    """Every field is on the allow-list, and the ones that name a class of GPUs are there."""
    found = MachineData.model_validate(told["machine"])
    assert found.name
    assert re.fullmatch(r"\d+\.\d", found.compute_capability)
    assert found.multiprocessors
    assert found.memory_bytes
    assert found.l2_bytes
    assert found.shared_memory_per_block_optin_bytes
    assert re.fullmatch(r"\d+\.\d+", found.cuda)


def test_the_conditions_are_read(told: dict[str, Any]) -> None:
    """Where NVML answers, clocks and temperature are there, with nothing that is not allowed."""
    pytest.importorskip("pynvml")
    found = Conditions.model_validate(told["conditions"])
    assert found.sm_clock_mhz
    assert found.temperature_c
    assert found.throttle_reasons is not None


def test_the_software_is_named_by_version(told: dict[str, Any]) -> None:
    """CuPy, the CUDA runtime, Python and the platform are told."""
    assert set(told["software"]) == {"cupy", "cuda-runtime", "python", "platform"}


def test_nothing_tells_this_machine_from_its_twin(told: dict[str, Any]) -> None:
    """UUID, serial number, bus address and host name occur nowhere in what is told."""
    nvml = pytest.importorskip("pynvml")
    nvml.nvmlInit()
    handle = nvml.nvmlDeviceGetHandleByIndex(0)
    secrets = [platform.node(), nvml.nvmlDeviceGetPciInfo(handle).busId]
    for ask in (nvml.nvmlDeviceGetUUID, nvml.nvmlDeviceGetSerial):
        try:
            secrets.append(ask(handle))
        except nvml.NVMLError:
            continue  # this GPU does not tell even us
    plain = [s.decode() if isinstance(s, bytes) else str(s) for s in secrets]
    told_apart = [secret for secret in plain if len(secret) >= 6]  # "0" tells nobody apart
    assert told_apart
    text = json.dumps(told)
    assert [secret for secret in told_apart if secret in text] == []
