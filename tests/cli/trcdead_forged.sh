#!/usr/bin/env bash
# What the head of a ring says in a core file: who has the ring mapped may have written it, as a
# process that gave up its rights has that of a trace which has ended. The kernel says, by the name
# of each mapping, which ring it is: none takes the place of another, and what does not fit is told.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/hooks_common.sh"
a=11111111-1111-1111-1111-111111111111  # a trace that has ended
b=22222222-2222-2222-2222-222222222222  # the one that runs
pid=99999                               # whose core it is
core() {  # PIECE…: of core_files.py
  python3 "$TRACEWELL_SOURCE/tests/cli/core_files.py" "$work/core" memory $pid "$@" ||
    fail 'no core file'
  rm -rf "$work/log"
}
words() {  # LOG WORD…: the hooks in it are these, of the process
  local log=$1
  shift
  "$tracewell" print "$log" --where 'kind == "hook"' --format jsonl >"$work/hooks" 2>"$work/err2"
  python3 - "$work/hooks" "$pid" "$@" <<'PY' || fail "hooks in $log, not $*: $(cat "$work/hooks")"
import json, sys
hooks = [json.loads(line) for line in open(sys.argv[1])][1:]
assert sorted(int(h["words"][0], 16) for h in hooks) == sorted(map(int, sys.argv[3:])), hooks
assert all(h["tid"] == int(sys.argv[2]) for h in hooks), hooks
PY
}
old=$work/a/.rings/$pid-0-
new=$work/b/.rings/$pid-1

# It says that it is another ring, by its number or its process, or larger than it can be.
for says in "$b $pid 1" "$a 777 0" "$a $pid 0 66 large"; do
  core "$old $says 66" "$new $b $pid 1 7"
  expect 0 trcdead -o "$work/log" "$work/core"
  has ' of 1 ring'
  has "$work/a/.rings/$pid-0 says of itself that it " err
  has 'it is left out' err
  words "$work/log" 7
done
core "$old $a 777 0 66"
expect 1 trcdead -o "$work/log" "$work/core"
has "says of itself that it is 777-0" err

# It says that it is of the trace that runs: of the same log, or of another one.
for folder in a b; do
  core "$work/$folder/.rings/$pid-0- $b $pid 0 66" "$new $b $pid 1 7"
  expect 0 trcdead -o "$work/log" "$work/core"
  has ' of 1 ring'
  has "$work/$folder/.rings/$pid-0 says of itself that it is of the trace $b" err
  words "$work/log" 7
  expect 0 trcdead --from $b -o "$work/log2" "$work/core"
  words "$work/log2" 7
  rm -rf "$work/log2"
done
# Where nothing tells which of them is right, none is taken; the operator may know.
core "$old $b $pid 0 66" "$new- $b $pid 1 7"
expect 1 trcdead -o "$work/log" "$work/core"
has "both say that they are of the trace $b" err
has '--from LOG' err
# The other channel's rings have a say as well.
core "$old $b $pid 0 66" "$new- $b $pid 1 7 channel3"
expect 1 trcdead -0 -o "$work/log" "$work/core"
has "both say that they are of the trace $b" err
expect 1 trcdead -3 -o "$work/log" "$work/core"
core "$old $b $pid 0 66" "$new- $b $pid 1 7"
(cd "$work" && "$tracewell" trcdead --from b/ -o log core) >"$work/out" 2>"$work/err" ||
  fail "--from LOG: $(cat "$work/err")"
words "$work/log" 7

# Heads where no ring is: before the ring's, behind one that was wiped, in other memory.
core "- $b $pid 1 66" "$old $b $pid 1 67 wiped" "$new $b $pid 1 7"
expect 0 trcdead -o "$work/log" "$work/core"
has ' of 1 ring'
words "$work/log" 7
has '1 head of a ring in memory that is no mapping of one' err
has "$work/a/.rings/$pid-0 has no head" err
has 'what was in its 16384 bytes is not known' err

# Rings that the core names, and that are nowhere.
core "$work/b/.rings/$pid-2 $b $pid 2 9 late" "$work/b/.rings/$pid-3- $b $pid 3 9 late" \
  "$new $b $pid 1 7"
expect 0 trcdead -o "$work/log" "$work/core"
has "$work/b/.rings/$pid-2 is not there any more, nor in the core file" err
has "$work/b/.rings/$pid-3 is not there any more, nor in the core file" err
has 'what was in its 12288 bytes is not known' err
words "$work/log" 7

# A buffer of a component is another trace.
core "$work/c/.rings/$pid-2 $a $pid 2 9 component" "$new $b $pid 1 7"
expect 0 trcdead -o "$work/log" "$work/core"
has "$work/c/.rings/$pid-2 is a buffer of a component: it is left out (--from $a takes it)" err
words "$work/log" 7

# Where no log is there, the heads alone say which trace it was: that is told.
core "$work/b/.rings/$pid-0- $b $pid 0 6" "$new- $b $pid 1 7"
expect 0 trcdead -o "$work/log" "$work/core"
has "$work/b is no log that says which trace it is of: that 2 rings are of the trace $b, they" err
words "$work/log" 6 7
# The same core again adds nothing to its log.
expect 0 trcdead -o "$work/log" "$work/core"
words "$work/log" 6 7

# Where they go is for the operator to say, also where their files and their log are gone.
core "$work/b/.rings/$pid-0- $b $pid 0 6"
expect 2 trcdead "$work/core"
has "says of itself that its rings are of the log $work/b" err
has '-o LOG' err

# Nothing gets into a log that has ended.
trace -a -o "$work/b" && trcstop || fail trace
b=$(grep -o 'uuid = "[^"]*' "$work/b/metadata" | cut -d'"' -f2)
cp -r "$work/b" "$work/saved"
core "$old $b $pid 0 66"
expect 2 trcdead -o "$work/b" "$work/core"
has "was in $work/a" err
core "$work/b/.rings/$pid-0- $b $pid 0 66"
expect 1 trcdead -o "$work/b" "$work/core"
has "$work/b has what was in it" err
expect 2 trcdead --from $b -o "$work/b" "$work/core"
has "$work/b has what was in it" err
diff -r "$work/b" "$work/saved" || fail 'the log has changed'
expect 0 trcdead --from "$work/b" -o "$work/log" "$work/core"
has "$work/b has what was in it" err

# A ring's file that is there says that it is of another trace than its log.
mkdir "$work/b/.rings"
core "$work/b/.rings/$pid-0 $a $pid 0 66"
python3 - "$work" "$pid" <<'PY'
import pathlib, sys
core = pathlib.Path(sys.argv[1], "core").read_bytes()
ring = core[core.index(b"TwWhring"):]
pathlib.Path(sys.argv[1], f"b/.rings/{sys.argv[2]}-0").write_bytes(ring)
PY
for late in '' late; do
  core "$work/b/.rings/$pid-0 $a $pid 0 66 $late"
  expect 1 trcdead -o "$work/log" "$work/core"
  has "$work/b/.rings/$pid-0 says of itself that it is of the trace $a" err
  has "and $work/b is of another" err
done

# One of a log that is of several traces: the others are told.
python3 - "$work" "$pid" "${b//-/}" <<'PY'
import pathlib, sys
rings = pathlib.Path(sys.argv[1], "b/.rings")
ring = (rings / f"{sys.argv[2]}-0").read_bytes()
ring = ring.replace(b"\x11" * 16, bytes.fromhex(sys.argv[3]))
ring = ring[:28] + (1).to_bytes(4, "little") + ring[32:]
(rings / f"{sys.argv[2]}-1").write_bytes(ring)
PY
expect 0 trcdead "$work/b" -o "$work/log"
has ' of 1 ring'
has "1 ring in $work/b/.rings says that it is of another trace, such as $pid-0 of $a" err
rm -rf "$work/log"
expect 0 trcdead --from $a "$work/b" -o "$work/log"
has ' of 1 ring'
expect 2 trcdead --from "$work/a" "$work/b" -o "$work/log"
has '--from LOG is for core files' err
finish
