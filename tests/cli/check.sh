#!/usr/bin/env bash
# tracewell check: 0 sound, 1 damaged, 3 not a trace at all.
. "$(dirname "$0")/common.sh"
file=$cases/tfile/gdb-tsave/input.tf

expect 0 check "$file"
has 'sound, 13 events'
head -c 30000 "$file" >"$work/cut.tf"
expect 1 check "$work/cut.tf"
has 'damage frame-cut at 0x'
has 'damaged, 2 problems; 7 events can be read'
expect 1 check --strict "$work/cut.tf"
has 'damage frame-cut at 0x'
has 'damaged; the rest was not looked at'
expect 0 check --strict "$file"
echo text >"$work/text"
expect 3 check "$work/text"
expect 3 check --strict "$work/text"
printf '\177TRACE9\n\n' >"$work/future.tf"
expect 3 check "$work/future.tf"
has 'version' err

# Odd, but whole.
cp "$file" "$work/tail.tf"
echo trailing >>"$work/tail.tf"
expect 0 check "$work/tail.tf"
has 'note after-end'
cat >"$work/undefined.jsonl" <<'EOF'
{"catalog":{}}
{"kind":"frame","tracepoint":7}
{"kind":"frame","tracepoint":7}
EOF
expect 0 check "$work/undefined.jsonl"
has 'tracepoint 7, which is not defined'
lines 2
finish
