#!/usr/bin/env bash
# Judges a change, on any CI: pull-request.sh BASE, for example origin/main.
# Nothing here needs a GPU: claims are checked against the records, kernels are compiled.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

base=$1
export GLOSSARY_MEASURE=recorded

make check
make test
.venv/bin/glossary check --format "${FORMAT:-text}"
.venv/bin/glossary people lint --registry-from "$base"
.venv/bin/glossary verify --registry-from "$base"
make preview
make site
.venv/bin/glossary audit site --registry-from "$base"
