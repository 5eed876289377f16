#!/usr/bin/env bash
# An index that is whole, of this trace by all that it says of it, and tells of another one: it is
# believed by who made it alone. docs/threat-model.md. Another user is uid 65534.
. "$(dirname "$0")/common.sh"
trace=$work/run.trace64
index=$trace.tidx

# Two traces of one size, with the same begin and end. In the middle the other one calls elsewhere,
# and what it stores is something else.
python3 - "$work" <<'PYTHON'
import json, sys
for name in ("run", "other"):
    with open(f"{sys.argv[1]}/{name}.jsonl", "w") as out:
        out.write('{"catalog":{"machine":"x86-64"}}\n')
        def step(pc, opcode, registers=None, memory=None):
            out.write(json.dumps({"kind": "step", "tid": 7, "pc": hex(pc), "opcode": opcode,
                                  "before": {"rsp": "0x8000"} if pc == 0x1000 else {},
                                  "registers": registers or {}, "memory": memory or []}) + "\n")
        for i in range(600):
            changed = name == "other" and 200 <= i < 400
            place = 0x3000 if changed else 0x2000
            step(0x1000, "e8" + (place - 0x1005).to_bytes(4, "little").hex(), {"rsp": "0x7ff8"})
            step(place, "880c2500700000", {}, [{"addr": "0x7000", "size": 1, "access": "write",
                                               "old": "2a", "new": "2b" if changed else "2c"}])
            step(place + 7, "c3", {"rsp": "0x8000"})
            step(0x1005, "ebf9")
PYTHON
for name in run other; do
  expect 0 convert "$work/$name.jsonl" "$work/$name.trace64"
  touch -d '2020-02-02' "$work/$name.trace64"
done
[ "$(stat -c %s "$trace")" = "$(stat -c %s "$work/other.trace64")" ] || fail 'other sizes'
expect 0 hits "$work/other.trace64"
mv "$work/other.trace64.tidx" "$work/forged"
chmod 644 "$work/forged"

questions=("at $trace 1000 --mem 0x7000,1" "at $trace 1001 --stack" "find $trace exec 0x3000"
  "hits $trace" "calls $trace" "print $trace --from 990 --to 1010" "info $trace" "check $trace"
  "diff $trace $work/other.trace64" "note $trace" "repair $trace $work/repaired.trace64"
  "convert $trace $work/converted.jsonl")
# ask NAME QUESTION: the answer and the exit status, in a file of that name.
ask() {
  timeout 60 "$tracewell" $2 >"$work/$1" 2>"$work/err" </dev/null
  echo "status $?" >>"$work/$1"
  rm -f "$work/repaired.trace64" "$work/converted.jsonl"
}
rm -f "$index" "$work/other.trace64.tidx"
for i in "${!questions[@]}"; do ask "wanted-$i" "${questions[$i]}"; done

# It is worth nothing to look at one that nobody would believe anyway.
cp "$work/forged" "$index"
ask believed "find $trace exec 0x3000"
cmp -s "$work/believed" "$work/wanted-2" && fail 'the forged index is none'

# refused TEXT: each command says so, and answers as without it. forge() puts it there.
refused() {
  local i
  for i in "${!questions[@]}"; do
    rm -f "$index"
    forge
    ask got "${questions[$i]}"
    cmp "$work/got" "$work/wanted-$i" || fail "${questions[$i]}: $(cat "$work/err")"
    has "$1" err
  done
}
forge() { cp "$work/forged" "$index" && chmod 664 "$index"; }
refused 'may be written by others'
forge() { cp "$work/forged" "$index" && chmod 646 "$index"; }
refused 'may be written by others'
forge() { ln -s "$work/forged" "$index"; }
refused 'it is no regular file; it is not used'
[ -L "$index" ] || fail 'a link was replaced'
forge() { mkfifo "$index"; }
refused 'it is no regular file; it is not used'
[ -p "$index" ] || fail 'a pipe was replaced'
if [ "$(id -u)" = 0 ]; then
  forge() { cp "$work/forged" "$index" && chown 65534 "$index"; }
  refused 'who does not own the trace; it is not used'
  [ "$(stat -c %u "$index")" = 65534 ] || fail 'it was replaced'
else
  echo 'SKIPPED: other users'\'' files, which takes root'
fi

# GDB's questions go by the same rule.
rm -f "$index"
forge
timeout 60 "$tracewell" replay "$trace" - >"$work/out" 2>"$work/err" </dev/null
has 'it is not used' err
finish
