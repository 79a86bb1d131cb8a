#!/usr/bin/env bash
# Shows the gate at work on a copy of this project, with throw-away keys of two test people:
# nobody signed, the author signs, reviews himself, a reviewer signs, one character changes.
# demo.sh BIN, the folder of the programs `glossary` and `mkdocs`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

bin=$(cd "$1" && pwd)
export PATH="$bin:$PATH" NO_MKDOCS_2_WARNING=1
unset GLOSSARY_REGISTRY_PIN SSH_AUTH_SOCK
demo=$(mktemp -d "${TMPDIR:-/tmp}/glossary-demo-XXXXXX")
entry=glossary/syncthreads/entry.md

say() { printf '\n\033[1m── %s\033[0m\n' "$*"; }
run() { printf '$ %s\n' "$*"; "$@"; }
# Runs what must be refused; the demonstration fails if it is not.
refused() {
    printf '$ %s\n' "$*"
    if "$@"; then
        echo "demo: this should have been refused" >&2
        exit 1
    fi
    echo "(exit status not 0: refused)"
}
verdict() { glossary status --json | python3 -c 'import json, sys
print({e["id"]: e["verdict"] for e in json.load(sys.stdin)["entries"]}["syncthreads"])'; }
expect() {
    local found
    found=$(verdict)
    echo "verdict: $found"
    [ "$found" = "$1" ] || { echo "demo: expected $1" >&2; exit 1; }
}
key() { ssh-keygen -q -t ed25519 -N '' -C "$1" -f "$demo/keys/$1"; }

say "A copy of the project in $demo, as project demo-glossary, which production refuses"
git ls-files -z | xargs -0 -I{} cp --parents {} "$demo"
[ -d .cache ] && cp -r .cache "$demo/.cache"
cd "$demo"
# One entry is enough to see, and studied in seconds: the others, and what leads to them, stay away.
find glossary -mindepth 1 -maxdepth 1 -type d ! -name syncthreads -exec rm -r {} +
rm -r docs/lessons
sed -i '/^  - Lessons:/,/lessons\//d' mkdocs.yml
sed -i '/^related:/,/^sources:/{/^sources:/!d}' $entry
printf 'project: demo-glossary\npeople: []\n' > glossary/people.yml
sed -i 's/^  written_by: pending$/  written_by: test-author/' $entry
mkdir keys && key test-author && key test-reviewer
run glossary people add test-author --name "Test Author" --key keys/test-author.pub --may author,review
run glossary people add test-reviewer --name "Test Reviewer" --key keys/test-reviewer.pub --may review

say "Nobody has signed: the entry is left out"
run mkdocs build --quiet
expect draft
[ ! -e site/glossary/syncthreads ] && echo "site/glossary/syncthreads does not exist"

say "The author signs: still left out"
run glossary sign syncthreads --as test-author --key keys/test-author
expect draft

say "The author tries to review himself"
refused glossary review syncthreads --as test-author --key keys/test-author --scope prose,claims --yes

say "A different person reviews: published"
run glossary review syncthreads --as test-reviewer --key keys/test-reviewer \
    --scope prose,claims,code,experiment,sources --yes
expect published
run glossary verify syncthreads --also-with ssh-keygen
run mkdocs build --quiet
run glossary audit site
cp -r site published-site

say "Production would refuse all of it"
pin=$(sha256sum glossary/people.yml | cut -d' ' -f1)
refused env GLOSSARY_REGISTRY_PIN="$pin" mkdocs build --quiet

say "One character changes: back to a draft, and out of the site"
sed -i 's/^The call makes two promises/The call makes ten promises/' $entry
run mkdocs build --quiet
expect outdated
[ ! -e site/glossary/syncthreads ] && echo "site/glossary/syncthreads does not exist"
run glossary status

say "Look at the published site: $demo/published-site/glossary/syncthreads/index.html"
