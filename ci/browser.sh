#!/usr/bin/env bash
# Prints the path of a Chromium that starts, installing one if there is none: browser.sh PYTHON
# Tried in turn: $GLOSSARY_BROWSER, PATH, Playwright's own, Debian's package.
set -euo pipefail

python=$1

starts() {
    [ -n "$1" ] && "$1" --version >/dev/null 2>&1
}

found() {
    echo "setup: browser $1 ($("$1" --version 2>/dev/null))" >&2
    echo "$1"
    exit 0
}

try_installed() {
    local name path
    for name in "${GLOSSARY_BROWSER:-}" chromium chromium-browser google-chrome /usr/bin/chromium; do
        path=$(command -v "$name" || true)
        if starts "$path"; then found "$path"; fi
    done
}

try_playwright() {
    local path
    path=$("$python" - <<'PYTHON'
from playwright.sync_api import sync_playwright

with sync_playwright() as playwright:
    print(playwright.chromium.executable_path)
PYTHON
    )
    if starts "$path"; then found "$path"; fi
}

try_installed
try_playwright
echo "setup: installing Playwright's Chromium" >&2
timeout 300 "$python" -m playwright install chromium >&2 || true
try_playwright
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    echo "setup: installing Debian's Chromium" >&2
    { apt-get update && apt-get install --yes --no-install-recommends chromium; } >&2 || true
    try_installed
fi
echo "setup: no browser; install Chromium and set GLOSSARY_BROWSER=/path/to/chromium" >&2
exit 2
