#!/bin/bash
# An index or notes that this user has made beside one trace, and that somebody else has moved
# beside another one, in a folder where others may put files. Only the user's own rights are needed
# to try it: who moves files is not asked.
source "$TRACEWELL_SOURCE/tests/cli/common.sh"

# Two traces of one size, with the same head and tail: one access in the middle differs.
make() {
  python3 - "$1" <<'PYTHON' >"$work/steps.jsonl"
import json, sys
print(json.dumps({"catalog": {"endian": "little", "machine": "x86-64", "address_bytes": 8,
                              "register_block_bytes": 560}}))
names = "rax rbx rcx rdx rbp rsp rsi rdi r8 r9 r10 r11 r12 r13 r14 r15".split()
for i in range(3000):
    step = {"seq": i, "kind": "step", "tid": 7, "pc": hex(0x401000 + 2 * (i % 64)),
            "opcode": "8907", "registers": {"rip": hex(0x401000 + 2 * ((i + 1) % 64)),
                                            "rbx": hex(i * 2654435761 % (1 << 32))},
            "memory": [{"addr": sys.argv[1] if i == 1500 else "0x8000", "size": 4,
                        "access": "write", "old": "00000000", "new": "41424344"}]}
    if i == 0:
        step["before"] = {name: "0x1" for name in names} | {"rip": "0x401000"}
    print(json.dumps(step))
PYTHON
  expect 0 convert "$work/steps.jsonl" "$2"
  touch -d @1700000000 "$2"
}
mkdir "$work/theirs" "$work/shared" "$work/private"
make 0x9000 "$work/theirs/m.trace64"
make 0x7000 "$work/trace.trace64"
[ "$(stat -c %s "$work/theirs/m.trace64")" = "$(stat -c %s "$work/trace.trace64")" ] ||
  fail 'the traces are not of one size'
expect 0 find "$work/theirs/m.trace64" write 0x9000,4
expect 0 note "$work/theirs/m.trace64" 5 forged
[ -s "$work/theirs/m.trace64.tidx" ] || fail 'no index'

for rights in 1777 777 775; do
  chmod "$rights" "$work/shared"
  cp -p "$work/trace.trace64" "$work/shared/t.trace64"
  cp -p "$work/theirs/m.trace64.tidx" "$work/shared/t.trace64.tidx"
  cp -p "$work/theirs/m.trace64.notes" "$work/shared/t.trace64.notes"
  expect 0 find "$work/shared/t.trace64" write 0x7000,4
  has 'step 1500'
  expect 1 find "$work/shared/t.trace64" write 0x9000,4
  expect 0 print "$work/shared/t.trace64" --where 'write[0x7000..0x7003]'
  has '0x401038'
  expect 1 note "$work/shared/t.trace64"
  has 'is not of this trace' err
  # One's own are believed.
  expect 0 note "$work/shared/t.trace64" --clear
  expect 0 note "$work/shared/t.trace64" 5 mine
  expect 0 note "$work/shared/t.trace64"
  has mine
  before=$(stat -c %i "$work/shared/t.trace64.tidx")
  expect 0 find "$work/shared/t.trace64" write 0x7000,4
  [ "$(stat -c %i "$work/shared/t.trace64.tidx")" = "$before" ] || fail 'made anew each time'
  rm "$work"/shared/*
done

# Nor is a copy of one's own of what somebody else has made to be of the very trace.
{
  chmod 777 "$work/shared"
  cp -p "$work/trace.trace64" "$work/shared/t.trace64"
  python3 - "$work/theirs/m.trace64.notes" "$work/shared/t.trace64" \
    "$work/theirs/crafted" <<'PYTHON'
import json, os, re, sys
notes = open(sys.argv[1]).read()
of = os.stat(sys.argv[2])
parts = re.search(r'"file":"([^"]*)"', notes).group(1).split("-")
parts[1] = f"{of.st_ino:x}"
# The time of birth is the one that the kernel says: as in what this user writes beside it.
open(sys.argv[3], "w").write(re.sub(r'"file":"[^"]*"', '"file":"' + "-".join(parts) + '"', notes))
PYTHON
  expect 0 note "$work/shared/t.trace64" 6 mine
  born=$(grep -o '"file":"[^"]*"' "$work/shared/t.trace64.notes" | cut -d- -f3)
  sed -i "s/\(\"file\":\"[^-]*-[^-]*\)-[^-]*/\1-$born/" "$work/theirs/crafted"
  rm "$work/shared/t.trace64.notes"
  cp "$work/theirs/crafted" "$work/shared/t.trace64.notes"
  expect 1 note "$work/shared/t.trace64"
  has 'is not of this trace' err
  rm "$work"/shared/*
}

# Where nobody else puts files, those of a copy are as good.
cp -p "$work/theirs/m.trace64" "$work/private/c.trace64"
cp -p "$work/theirs/m.trace64.tidx" "$work/private/c.trace64.tidx"
cp -p "$work/theirs/m.trace64.notes" "$work/private/c.trace64.notes"
before=$(stat -c %i "$work/private/c.trace64.tidx")
expect 0 find "$work/private/c.trace64" write 0x9000,4
[ "$(stat -c %i "$work/private/c.trace64.tidx")" = "$before" ] || fail "a copy's is made anew"
expect 0 note "$work/private/c.trace64"
has forged

# A trace that becomes private takes them along; but no other file that is moved there.
chmod 644 "$work/private/c.trace64"*
chmod 640 "$work/private/c.trace64"
expect 0 find "$work/private/c.trace64" write 0x9000,4
expect 0 note "$work/private/c.trace64"
[ "$(stat -c %a "$work"/private/c.trace64.{tidx,notes} | xargs)" = '640 640' ] ||
  fail "$(ls -l "$work/private")"
cp -p "$work/private/c.trace64" "$work/shared/t.trace64"
chmod 600 "$work/shared/t.trace64"
echo 'a file that all may read' >"$work/shared/t.trace64.tidx"
chmod 644 "$work/shared/t.trace64.tidx"
inode=$(stat -c %i "$work/shared/t.trace64.tidx")
exec 7<"$work/shared/t.trace64.tidx"
expect 0 find "$work/shared/t.trace64" write 0x9000,4
[ "$(stat -L -c %i:%a /proc/self/fd/7)" = "$inode:644" ] || fail 'other rights'
exec 7<&-
finish
