#!/usr/bin/env bash
# The program as a whole: help, version, commands that are not there, exit statuses.
. "$(dirname "$0")/common.sh"

expect 2
has 'Usage: tracewell COMMAND'
expect 0 --help
has 'Usage: tracewell COMMAND'
has '  info '
if grep -q __describe "$work/out"; then fail 'a hidden command is listed'; fi
expect 0 help
has 'Usage: tracewell COMMAND'
expect 0 --version
has 'tracewell 0.'
expect 0 help print
has '--where EXPR'
expect 2 help nonesuch
expect 2 nonesuch
has "no command 'nonesuch'" err
expect 2 info
has 'FILE is required' err
expect 2 info --bogus x
has 'there is no option --bogus' err
expect 2 print --colum index x
has 'there is no option --colum; did you mean --columns?' err
expect 2 print x --jsno --where '--from'
has 'there is no option --jsno; did you mean --json?' err
expect 2 find x exec 1 --form=3
has 'there is no option --form; did you mean --from?' err
expect 2 info
expect 2 print --from ten "$cases/tfile/two-zeros/input.hex"
has 'not a number' err
expect 4 info "$work/nonesuch.tf"
has 'No such file' err
expect 4 info "$work"
has "$work is a folder, and no trace" err
echo 'not a trace' >"$work/text"
expect 3 info "$work/text"
has 'text is not a trace: it does not begin like one; formats that are read: tfile, ' err
cp "$work/text" "$work/text.trace64"
expect 3 info "$work/text.trace64"
has 'text.trace64 is not a trace: its name says trace64, and it does not begin like one' err
cp "$work/text" "$work/text.tenet"
expect 3 info "$work/text.tenet"
has 'does not begin like one; --input-format tenet reads it nevertheless' err
cp "$work/text" "$work/text.jsonl"
echo '{"kind":"step","pc":5}' >"$work/step.jsonl"
for text in text step; do
  expect 3 print "$work/$text.jsonl" --input-format jsonl
  cp "$work/err" "$work/told"
  for command in "print $work/$text.jsonl" "replay $work/$text.jsonl -"; do
    # shellcheck disable=SC2086
    expect 3 $command
    has "$text.jsonl: the first line is not a catalog: " err
    cmp "$work/err" "$work/told" || fail "$command: $(cat "$work/err")"
  done
done
# It is one to whoever reads it, but does not begin as one.
echo '{"other":1,"catalog":{}}' >"$work/other.jsonl"
expect 3 print "$work/other.jsonl"
has 'does not begin like one; --input-format jsonl reads it nevertheless' err
expect 0 print --input-format jsonl "$work/other.jsonl"
cp "$work/text" "$work/text.csv"
expect 3 info "$work/text.csv"
has 'text.csv is not a trace: csv is written and not read; formats that are read: ' err
: >"$work/empty"
expect 3 check "$work/empty"
has "it is empty" err
expect 2 info --input-format nonesuch "$work/text"
expect 3 info --input-format tfile "$work/text"
expect 3 info --input-format csv "$work/text"

# Terminal escapes in names do not reach the terminal.
expect 2 $'evil\e[31m'
if grep -q $'\e' "$work/err"; then fail 'an escape got through'; fi

# A reader that goes away ends us without a word.
file=$cases/tfile/gdb-tsave/input.tf
"$tracewell" print "$file" --format jsonl 2>"$work/err" | head -c 10 >/dev/null
[ -s "$work/err" ] && fail 'complains of a closed pipe'

# Every command describes itself.
expect 0 __describe
python3 - "$work/out" <<'EOF' || fail 'the description is not as promised'
import json, sys
described = json.load(open(sys.argv[1]))
commands = {one["name"]: one for one in described["commands"]}
assert {"info", "print", "convert", "check"} <= commands.keys(), commands.keys()
convert = commands["convert"]
assert [one["name"] for one in convert["positionals"]] == ["FILE", "OUT"], convert
options = {name: one for one in convert["options"] for name in one["names"]}
assert options["--from"]["value"] == "N" and options["--strict"]["value"] is None, options
for command in commands.values():
    assert command["summary"], command
    for option in command["options"]:
        assert option["names"] and option["description"], option
EOF
finish
