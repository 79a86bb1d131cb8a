#!/usr/bin/env bash
# Makes a virtual environment with the first Python that is new enough: venv.sh FOLDER
set -euo pipefail

folder=$1

is_new_enough() {
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

find_python() {
    local name
    for name in "${PYTHON:-python3}" python3.13 python3.12 python3.11 python3.14 python; do
        if is_new_enough "$name"; then
            echo "$name"
            return
        fi
    done
    echo "setup: Python 3.11 or newer is needed; set PYTHON=/path/to/python if it is not on PATH" >&2
    exit 2
}

# Debian keeps the standard library's venv in a package of its own.
ensure_venv_module() {
    "$1" -c 'import ensurepip, venv' >/dev/null 2>&1 && return
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "setup: installing Debian's python3-venv" >&2
        { apt-get update && apt-get install --yes --no-install-recommends python3-venv; } >&2
    fi
    "$1" -c 'import ensurepip, venv' >/dev/null 2>&1 && return
    echo "setup: $1 has no venv module; on Debian and Ubuntu: sudo apt install python3-venv" >&2
    exit 2
}

python=$(find_python)
ensure_venv_module "$python"
echo "setup: $("$python" --version) in $folder" >&2
"$python" -m venv "$folder"
