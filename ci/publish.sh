#!/usr/bin/env bash
# Measures, builds, verifies and audits site/, on any CI with a GPU. Deploy site/ only if this
# ends with status 0. Needs GLOSSARY_REGISTRY_PIN, set outside the repository.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

: "${GLOSSARY_REGISTRY_PIN:?is not set: the digest of glossary/people.yml, from the CI settings}"
export GLOSSARY_REGISTRY_PIN
export GLOSSARY_MEASURE=live

make site
.venv/bin/glossary verify --also-with ssh-keygen
.venv/bin/glossary audit site
