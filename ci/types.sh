#!/usr/bin/env bash
# Checks types, strictly: the package, then each folder of tests by itself, since pytest gives
# every folder its own conftest and its own import path: types.sh MYPY
set -euo pipefail
shopt -s nullglob

mypy=$1

status=0
"$mypy" || status=1
"$mypy" plugins/problems_page.py plugins/accessible_theme.py || status=1
MYPYPATH=plugins:benchmarks "$mypy" benchmarks/*.py || status=1
for folder in tests tests/*; do
    files=("$folder"/*.py)
    if [ "${#files[@]}" -gt 0 ]; then
        MYPYPATH="tests:tests/trust:$folder" "$mypy" "${files[@]}" || status=1
    fi
done
exit "$status"
