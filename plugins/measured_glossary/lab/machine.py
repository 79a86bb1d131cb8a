"""The GPU of this machine: its class and its state, read from an allow-list.

Comes in: nothing. Goes out: plain data that a record may hold: what the GPU is, which software
drives it, how fast it is clocked now. Must never read or give what tells one machine from its
twin: UUID, serial number, PCI address, host name, user, paths.

CuPy and NVML are imported when asked, and either may be missing: then what it knows is absent.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

DEVICE = 0  # the first GPU that CUDA_VISIBLE_DEVICES leaves, as everywhere in this package


def fingerprint() -> dict[str, Any] | None:
    """Give the hardware fingerprint, by the names of `record.MachineData`; `None` without a GPU."""
    cupy = _cupy()
    if cupy is None:
        return None
    facts = _device_facts(cupy) | _driver_facts(_nvml(cupy))
    return {name: value for name, value in sorted(facts.items()) if value is not None}


def software() -> dict[str, str]:
    """Give the versions of what runs a kernel: CuPy, the CUDA runtime, Python, the platform."""
    found = {
        "platform": f"{platform.system()} {platform.machine()}",
        "python": f"{sys.version_info.major}.{sys.version_info.minor}",
    }
    if cupy := _cupy():
        found["cupy"] = cupy.__version__
        found["cuda-runtime"] = _cuda_version(cupy.cuda.runtime.runtimeGetVersion())
    return found


def conditions() -> dict[str, Any]:
    """Give the GPU's state now, by the names of `record.Conditions`; empty where NVML is mute."""
    cupy = _cupy()
    nvml = _nvml(cupy) if cupy else None
    if nvml is None:
        return {}
    asked = {name: nvml.ask(question) for name, question in _CONDITIONS.items()}
    return {name: value for name, value in sorted(asked.items()) if value is not None}


# ── CuPy ─────────────────────────────────────────────────────────────────────────────────────


def _cupy() -> Any:
    """Give CuPy if it is installed and sees a GPU, else `None`."""
    try:
        import cupy
    except ImportError:
        return None
    return cupy if cupy.cuda.is_available() else None


def _device_facts(cupy: Any) -> dict[str, Any]:
    properties = cupy.cuda.runtime.getDeviceProperties(DEVICE)
    attributes = cupy.cuda.Device(DEVICE).attributes
    return {
        "name": properties["name"].decode(),  # with the profile, if it is a part of a GPU (MIG)
        "compute_capability": f"{properties['major']}.{properties['minor']}",
        "cuda": _cuda_version(cupy.cuda.runtime.driverGetVersion()),
        "multiprocessors": properties["multiProcessorCount"],
        "memory_bytes": properties["totalGlobalMem"],
        "l2_bytes": properties["l2CacheSize"],
        "shared_memory_per_block_bytes": attributes["MaxSharedMemoryPerBlock"],
        "shared_memory_per_block_optin_bytes": attributes["MaxSharedMemoryPerBlockOptin"],
        "shared_memory_per_multiprocessor_bytes": attributes["MaxSharedMemoryPerMultiprocessor"],
        "ecc": bool(attributes["EccEnabled"]),
    }


def _cuda_version(number: int) -> str:
    """Give `13.0` for 13000, the form in which CUDA tells its versions."""
    return f"{number // 1000}.{number % 1000 // 10}"


# ── NVML ─────────────────────────────────────────────────────────────────────────────────────


class _Nvml(NamedTuple):
    """NVML and its handle of the GPU that CuPy uses."""

    library: Any
    handle: Any

    def ask(self, question: Callable[[Any, Any], Any]) -> Any:
        """Give the answer, or `None` where this GPU, driver or container does not tell."""
        try:
            return question(self.library, self.handle)
        except (self.library.NVMLError, AttributeError):  # unsupported; a function not there
            return None


def _nvml(cupy: Any) -> _Nvml | None:
    try:
        import pynvml
    except ImportError:
        return None
    try:
        pynvml.nvmlInit()
        # NVML counts GPUs otherwise than CUDA: the bus address, used here and not kept, is exact.
        address = cupy.cuda.Device(DEVICE).pci_bus_id
        return _Nvml(pynvml, pynvml.nvmlDeviceGetHandleByPciBusId(address.encode()))
    except pynvml.NVMLError:
        return None


def _driver_facts(nvml: _Nvml | None) -> dict[str, Any]:
    if nvml is None:
        return {}
    return {name: nvml.ask(question) for name, question in _FACTS.items()}


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value


def _throttle_reasons(nvml: Any, handle: Any) -> list[str]:
    """Name the reasons why the clock is not at its highest; an idle GPU is one."""
    prefix = "nvmlClocksThrottleReason"
    bits = nvml.nvmlDeviceGetCurrentClocksThrottleReasons(handle)
    named = {
        name.removeprefix(prefix): getattr(nvml, name)
        for name in dir(nvml)
        if name.startswith(prefix)
    }
    return sorted(name for name, bit in named.items() if bit & bits and bit & (bit - 1) == 0)


_FACTS: dict[str, Callable[[Any, Any], Any]] = {
    "driver": lambda nvml, _: _text(nvml.nvmlSystemGetDriverVersion()),
    "sm_clock_max_mhz": lambda nvml, gpu: nvml.nvmlDeviceGetMaxClockInfo(gpu, nvml.NVML_CLOCK_SM),
    "memory_clock_max_mhz": lambda nvml, gpu: nvml.nvmlDeviceGetMaxClockInfo(
        gpu, nvml.NVML_CLOCK_MEM
    ),
}
_CONDITIONS: dict[str, Callable[[Any, Any], Any]] = {
    "sm_clock_mhz": lambda nvml, gpu: nvml.nvmlDeviceGetClockInfo(gpu, nvml.NVML_CLOCK_SM),
    "memory_clock_mhz": lambda nvml, gpu: nvml.nvmlDeviceGetClockInfo(gpu, nvml.NVML_CLOCK_MEM),
    "temperature_c": lambda nvml, gpu: nvml.nvmlDeviceGetTemperature(
        gpu, nvml.NVML_TEMPERATURE_GPU
    ),
    "power_w": lambda nvml, gpu: nvml.nvmlDeviceGetPowerUsage(gpu) / 1000,
    "utilization_percent": lambda nvml, gpu: nvml.nvmlDeviceGetUtilizationRates(gpu).gpu,
    "performance_state": lambda nvml, gpu: f"P{nvml.nvmlDeviceGetPerformanceState(gpu)}",
    "throttle_reasons": _throttle_reasons,
}
