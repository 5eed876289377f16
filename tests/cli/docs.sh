#!/bin/bash
# The manual page and the completions come from the command table: every command and option is in
# each of them, the page is sound roff, and bash really completes.
set -euo pipefail
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
"$TRACEWELL_SOURCE/tools/gen_docs" "$TRACEWELL_BIN/tracewell" "$out"
page=$out/man/man1/tracewell.1
if command -v mandoc > /dev/null; then
  mandoc -Tlint -Werror "$page"
fi
completion=$out/bash-completion/completions/tracewell
"$TRACEWELL_BIN/tracewell" __describe | python3 -c '
import json, sys
table = json.load(sys.stdin)
assert len(table["commands"]) >= 5
for command in table["commands"]:
    print("command", command["name"])
    for option in command["options"]:
        for name in option["names"]:
            print("option", command["name"], name)
' > "$out/table"
while read -r kind name option; do
  case $kind in
    command)
      grep -q -- "^\.SS ${name//-/\\\\-}$" "$page" || { echo "no $name in the page"; exit 1; } ;;
    option)
      for file in "$completion" "$out/zsh/site-functions/_tracewell"; do
        grep -q -- "${option}\b" "$file" || { echo "no $name $option in $file"; exit 1; }
      done
      grep -q "from $name'.* -[ls] ${option##*-}\b\|from $name'.* ${option#--}\b" \
        "$out/fish/vendor_completions.d/tracewell.fish" ||
        { echo "no $option for fish"; exit 1; } ;;
  esac
done < "$out/table"
source "$completion"
COMP_WORDS=(tracewell pri) COMP_CWORD=1 COMPREPLY=()
_tracewell
[ "${COMPREPLY[*]}" = print ] || { echo "bash completed '${COMPREPLY[*]}'"; exit 1; }
echo "$(wc -l < "$out/table") commands and options are documented"
