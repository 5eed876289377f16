#!/usr/bin/env bash
# Names in a core file and in a trace that lead to files of the kernel's: some have no end, some
# wait for what never comes, and some take from who else reads them. None is opened.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/hooks_common.sh"
# AddressSanitizer reserves far more address space than any limit that would mean something.
limit=2000000
[ -z "$sanitized" ] || limit=unlimited
bounded() {  # STATUS ARGS…
  (ulimit -v "$limit"; timeout 60 "$tracewell" "${@:2}") >"$work/out" 2>"$work/err" </dev/null
  local got=$?
  [ "$got" = "$1" ] || fail "tracewell ${*:2}: $got, not $1: $(head -2 "$work/err")"
}
mkdir "$work/.rings"

for name in proc/self/pagemap proc/kmsg proc/self/status sys/kernel/uevent_seqnum; do
  [ -e "/$name" ] || continue
  python3 "$TRACEWELL_SOURCE/tests/cli/core_files.py" "$work/core" names \
    "$work/.rings/99-0" || fail 'no core file'
  ln -sf "/$name" "$work/.rings/99-0"
  bounded 1 trcdead -o "$work/log" "$work/core"
  has "file of the kernel's" err
  has 'it is left out' err
  has 'there are no rings of trace hooks in ' err
  grep -q ' in it$' "$work/err" && fail 'in what?'

  printf '{"catalog":{"machine":"x86-64","modules":[%s]}}\n{"kind":"step","pc":4096}\n' \
    "{\"path\":\"/$name\",\"build_id\":\"aabbccdd\",\"start\":4096,\"size\":4096}" >"$work/t.jsonl"
  bounded 0 print --images-from-trace "$work/t.jsonl"
  has "file of the kernel's" err
done

# The kernel tells no such name.
python3 "$TRACEWELL_SOURCE/tests/cli/core_files.py" "$work/core" names \
  "$work/.rings/../../99-0" "$work/.rings/kmsg" || fail 'no core file'
bounded 1 trcdead -o "$work/log" "$work/core"
has "a mapping of $work/.rings/../../99-0, which is no ring's name; it is left out" err
has "a mapping of $work/.rings/kmsg, which is no ring's name" err

# What the operator names is read all the same.
expect 3 info /proc/self/status
finish
