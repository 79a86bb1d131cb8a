#!/usr/bin/env bash
# Prints the extra this machine can use: cuda13 or cuda12 beside an NVIDIA driver of that version,
# compile where the compiler's wheels exist, nothing elsewhere. EXTRAS=… overrides it.
set -euo pipefail

driver_cuda_major() {
    command -v nvidia-smi >/dev/null || return 0
    { nvidia-smi 2>/dev/null || true; } | sed -n 's/.*CUDA Version: *\([0-9]*\).*/\1/p' | head -n 1
}

choose() {
    local major
    major=$(driver_cuda_major)
    case "$(uname -s)/$(uname -m)/${major:-0}" in
        Linux/x86_64/0 | Linux/aarch64/0) echo compile ;;
        Linux/*/12) echo cuda12 ;;
        Linux/*/1[3-9]) echo cuda13 ;;
        *) echo "setup: no CUDA compiler for this system; kernels are not compiled here" >&2 ;;
    esac
}

extras=${EXTRAS-$(choose)}
echo "setup: extras [${extras}]" >&2
echo "$extras"
