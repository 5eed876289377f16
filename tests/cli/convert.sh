#!/usr/bin/env bash
# tracewell convert
. "$(dirname "$0")/common.sh"
file=$cases/tfile/gdb-tsave/input.tf

# Rewriting gives the same bytes, directly and by way of JSON lines, through files and pipes.
expect 0 convert "$file" "$work/same.tf"
cmp "$file" "$work/same.tf" || fail 'tfile to tfile'
expect 0 convert "$file" "$work/a.jsonl"
expect 0 convert "$work/a.jsonl" "$work/back.tf"
cmp "$file" "$work/back.tf" || fail 'tfile to jsonl to tfile'
cat "$file" | "$tracewell" convert - - --format jsonl | "$tracewell" convert - - --format tfile |
  cmp - "$file" || fail 'through pipes'

# Parts.
expect 0 convert "$file" "$work/part.tf" --from 4 --where 'tracepoint == 2'
expect 0 info --json "$work/part.tf"
has '"records": 2'
has '"frames": 2'
has '"problems": []'

# Nothing selected: told as print does, and nothing is written.
expect 1 print "$file" --where 'tracepoint == 99'
expect 1 convert "$file" "$work/none.tf" --where 'tracepoint == 99'
has "no event fits --where 'tracepoint == 99'" err
[ -e "$work/none.tf" ] && fail 'a file without events'
expect 1 convert "$file" "$work/none.jsonl" --from 13
has '--from 13 is behind the last event, 12' err

# A trace without events has all the rest.
"$tracewell" print "$file" --format jsonl | head -1 >"$work/none.jsonl"
expect 0 convert "$work/none.jsonl" "$work/none.tf"
expect 0 info --json "$work/none.tf"
has '"records": 0'
expect 0 convert "$work/none.tf" "$work/none.jsonl"
expect 0 convert "$file" "$work/all.csv"
expect 0 convert "$file" "$work/odd.name" --format csv
cmp "$work/all.csv" "$work/odd.name" || fail '--format'

expect 2 convert "$file" "$work/odd.name"
has 'does not say in which format' err
expect 2 convert "$file" "$work/x" --format nonesuch
expect 4 convert "$file" "$work/no/such/folder.tf"

# Nothing is left behind by a conversion that fails; what was there stays.
cat >"$work/mixed.jsonl" <<'EOF'
{"catalog":{"machine":"x86-64"}}
{"kind":"frame","tracepoint":1,"pc":"0x1"}
{"kind":"step","pc":"0x1"}
EOF
echo old >"$work/kept.tf"
expect 3 convert "$work/mixed.jsonl" "$work/kept.tf"
has 'is not a tracepoint frame' err
[ "$(cat "$work/kept.tf")" = old ] || fail 'the old file is gone'
"$tracewell" convert "$file" - --format csv >/dev/full 2>"$work/err" && fail 'into a full device'
has 'cannot write standard output' err
head -c 30000 "$file" >"$work/cut.tf"
expect 3 convert "$work/cut.tf" "$work/strict.tf" --strict
has "$work/cut.tf: " err
[ -e "$work/strict.tf" ] && fail 'strict left a file behind'
leftover=$(find "$work" -name '*.tf.*')
[ -z "$leftover" ] || fail "left behind: $leftover"

# A file onto itself.
cp "$file" "$work/self.tf"
expect 2 convert "$work/self.tf" "$work/self.tf"
cmp "$file" "$work/self.tf" || fail 'onto itself'

# What a format cannot carry is told.
cat >"$work/static.jsonl" <<EOF
{"catalog":{"tracepoints":[{"number":1,"address":"0x10","actions":["L"]},\
{"number":70000,"address":"0x20"}]}}
{"kind":"frame","tracepoint":1,"static":["6869"]}
EOF
expect 0 convert "$work/static.jsonl" "$work/static.tf"
has 'static data' err
has '70000 does not fit' err

# Binary is not for terminals.
script -qec "$tracewell convert '$file' - --format tfile" /dev/null >"$work/out" 2>&1
has 'not written to a terminal'

# OUT that is a link stays one; what it leads to is written, there or not. /dev/stdout is what a
# shell has made of it.
mkdir "$work/elsewhere"
ln -s elsewhere/real.jsonl "$work/link.jsonl"
steps=$TRACEWELL_SOURCE/tests/cli/steps.jsonl
expect 0 convert "$steps" "$work/plain.jsonl"
for _ in there again; do
  expect 0 convert "$steps" "$work/link.jsonl"
  [ -L "$work/link.jsonl" ] || fail 'the link is gone'
  cmp "$work/plain.jsonl" "$work/elsewhere/real.jsonl" || fail 'what a link leads to'
  [ "$(ls "$work/elsewhere")" = real.jsonl ] || fail "left: $(ls "$work/elsewhere")"
done
ln -s round.jsonl "$work/round.jsonl"
expect 4 convert "$steps" "$work/round.jsonl"
{ echo before
  "$tracewell" convert "$steps" /dev/stdout --format jsonl 2>"$work/err"
  echo behind; } >"$work/out"
{ echo before; cat "$work/plain.jsonl"; echo behind; } >"$work/wanted"
cmp "$work/out" "$work/wanted" || fail '/dev/stdout that is a file'
[ -L /dev/stdout ] || fail '/dev/stdout is gone'

# The index beside a trace is nobody's link: what that leads to stays as it is.
expect 0 convert "$steps" "$work/steps.trace64"
echo mine >"$work/mine"
ln -s mine "$work/steps.trace64.tidx"
expect 0 at "$work/steps.trace64" 0
[ "$(cat "$work/mine")" = mine ] || fail 'the index went through a link'
# Who could not read OUT cannot read what replaces it.
touch "$work/private.jsonl"
chmod 600 "$work/private.jsonl"
expect 0 convert "$steps" "$work/private.jsonl"
[ "$(stat -c %a "$work/private.jsonl")" = 600 ] || fail "rights of OUT"


# Where a file cannot be, it cannot be written: nobody wanted to open one.
for output in "$work/no/such/out.csv" "$cases/none/out.jsonl"; do
  expect 4 convert "$TRACEWELL_SOURCE/tests/cli/steps.jsonl" "$output"
  has "cannot write $output: No such file or directory" err
done
finish
