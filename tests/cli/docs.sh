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
# AIX's commands, and gdbserver's, have a page of their own name, with all options of the command.
"$TRACEWELL_BIN/tracewell" __describe | python3 -c '
import json, sys
for command in json.load(sys.stdin)["commands"]:
    for name in command["programs"]:
        print(name, command["name"], *(name for one in command["options"] for name in one["names"]))
' > "$out/programs"
for name in trace trcon trcoff trcstop trcrpt trcdead trcevgrp trcctl ctctrl trcupdate \
    tracewell-gdbserver; do
  grep -q "^$name " "$out/programs" || { echo "no page for $name"; exit 1; }
done
while read -r name command options; do
  own=$out/man/man1/$name.1
  said=$(MANWIDTH=200 man --warnings=w -l "$own" 2>&1 > "$out/shown" < /dev/null) ||
    said="$said, and it fails"
  [ -z "$said" ] || { echo "$name.1: $said"; exit 1; }
  grep -qi "^$name(1)" "$out/shown" || { echo "$name.1 has another name"; exit 1; }
  grep -q "The same as tracewell $command\." "$out/shown" ||
    { echo "$name.1 is not $command"; exit 1; }
  for option in $options; do
    grep -q -- "^ *\(.*, \)\?$option\b" "$out/shown" || { echo "no $option in $name.1"; exit 1; }
  done
  if command -v mandoc > /dev/null; then
    mandoc -Tlint -Werror "$own"
  fi
done < "$out/programs"
# serve takes its words apart by itself: what they are stands in each synopsis.
for page_of in 'tracewell tracewell serve' 'tracewell-gdbserver tracewell-gdbserver'; do
  MANWIDTH=200 man -l "$out/man/man1/${page_of%% *}.1" > "$out/shown" 2> /dev/null < /dev/null
  for form in 'COMM PROG [ARGS…]' '--attach COMM PID' '--multi COMM'; do
    sed '/^DESCRIPTION/,$d' "$out/shown" | grep -qF -- "${page_of#* } [options] $form" ||
      { echo "no '$form' in the synopsis of ${page_of#* }"; exit 1; }
  done
done
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
mkdir "$out/names"
touch "$out/names/a name" "$out/names/*"
cd "$out/names" || exit 1
COMP_WORDS=(tracewell print 'a n') COMP_CWORD=2 COMPREPLY=()
_tracewell
[ "${#COMPREPLY[@]} ${COMPREPLY[0]}" = '1 a name' ] || { echo "bash: ${COMPREPLY[*]}"; exit 1; }
COMP_WORDS=(tracewell print '') COMP_CWORD=2 COMPREPLY=()
_tracewell
[ "${#COMPREPLY[@]}" = 2 ] || { echo "bash completed files as '${COMPREPLY[*]}'"; exit 1; }
# What stands behind an option is completed by what the option's row says.
completed() { # WORD...: what bash offers for the last one, in a line
  COMP_WORDS=(tracewell "$@") COMP_CWORD=$# COMPREPLY=()
  _tracewell
  echo "${COMPREPLY[*]}"
}
expect() { # WANTED WORD...
  local said
  said=$(completed "${@:2}")
  [ "$said" = "$1" ] || { echo "bash completed '${*:2}' by '$said', not '$1'"; exit 1; }
}
mkdir "$out/names/folder"
expect 'little big' info --endian ''
expect 'little' info --endian = li
expect 'little big' info --endian =
expect 'csv' print --format c
expect 'step,address' print --columns step,ad
expect 'folder' serve --save-dir ''
expect 'a name' report -t a
expect '' print --limit ''
expect 'exec' find FILE exe
[[ " $(completed trace -A '') " = *" $$ "* ]] || { echo "no process is offered for -A"; exit 1; }
[[ " $(completed serve --allow-users root,ro) " = *' root,root '* ]] || { echo "no root"; exit 1; }
echo "$(wc -l < "$out/table") commands and options are documented"
