#!/usr/bin/env bash
# tracewell print --image with a program of Windows: names at its own base and elsewhere.
. "$(dirname "$0")/common.sh"
python3 - "$work" <<'PYTHON'
import struct
import sys

BASE = 0x140000000

def pe(symbols):
    """A PE32+ program with 512 bytes of code at 0x1000 and a table of (name, offset)."""
    head = bytearray(1024)
    head[0:2] = b"MZ"
    struct.pack_into("<I", head, 0x3C, 0x40)
    head[0x40:0x44] = b"PE\0\0"
    struct.pack_into("<HHIIIHH", head, 0x44, 0x8664, 1, 0, 1536, len(symbols), 240, 0x22)
    optional = struct.pack("<HBBIIIII", 0x20B, 14, 0, 512, 0, 0, 0x1000, 0x1000)
    optional += struct.pack("<QII", BASE, 0x1000, 512) + struct.pack("<6H", 6, 0, 0, 0, 6, 0)
    optional += struct.pack("<IIIIHH", 0, 0x2000, 1024, 0, 3, 0)
    optional += struct.pack("<QQQQII", *[0x1000] * 4, 0, 16)
    head[0x58 : 0x58 + len(optional)] = optional
    section = b".text\0\0\0" + struct.pack("<IIII", 512, 0x1000, 512, 1024)
    section += bytes(12) + struct.pack("<I", 0x60000020)
    head[0x58 + 240 : 0x58 + 240 + 40] = section
    table = b"".join(
        name.ljust(8, b"\0") + struct.pack("<IHHBB", at, 1, 0x20, 2, 0) for name, at in symbols
    )
    return bytes(head) + b"\x90" * 512 + table + struct.pack("<I", 4)

with open(f"{sys.argv[1]}/prog.exe", "wb") as out:
    out.write(pe([(b"start", 0x10), (b"work", 0x80)]))
# Without symbols, but with a record that names a debug file.
bare = bytearray(pe([]))
record = b"RSDS" + bytes(range(16)) + struct.pack("<I", 1) + b"C:\\b\\bare.pdb\0"
bare[1024 : 1024 + 28] = struct.pack("<IIHHIIII", 0, 0, 0, 0, 2, len(record), 0x1040, 1024 + 0x40)
bare[1024 + 0x40 : 1024 + 0x40 + len(record)] = record
struct.pack_into("<II", bare, 0x58 + 112 + 8 * 6, 0x1000, 28)
struct.pack_into("<I", bare, 0x44 + 8, 0)  # no symbol table
with open(f"{sys.argv[1]}/bare.exe", "wb") as out:
    out.write(bare)
for name, base in (("home", BASE), ("away", 0x7FF700000000)):
    with open(f"{sys.argv[1]}/{name}.jsonl", "w") as out:
        module = '{"path":"C:\\\\dir\\\\PROG.EXE","bias":"0x%x","start":"0x%x"}'
        module %= (base - BASE, base)
        modules = f',"modules":[{module}]' if name == "away" else ""
        out.write('{"catalog":{"machine":"x86-64"%s}}\n' % modules)
        for at in (0x1010, 0x1083):
            out.write('{"kind":"step","pc":"0x%x","opcode":"90"}\n' % (base + at))
PYTHON

expect 0 print --image "$work/prog.exe" "$work/home.jsonl"
has 'pc 0x140001010 <start>  90'
has 'pc 0x140001083 <work+3>  90'
expect 0 print --image "$work/prog.exe@0x140000000" "$work/home.jsonl"
has 'pc 0x140001010 <start>  90'
[ -s "$work/err" ] && fail "$(cat "$work/err")"
expect 0 print --image "$work/prog.exe@0x7ff700000000" "$work/away.jsonl"
has 'pc 0x7ff700001083 <work+3>  90'
# The trace says where it was, by the name that Windows gave it.
expect 0 print --image "$work/prog.exe" "$work/away.jsonl"
has 'pc 0x7ff700001010 <start>  90'

printf 'Microsoft C/C++ MSF 7.00\r\n\x1aDS\0\0\0' >"$work/prog.pdb"
expect 3 print --image "$work/prog.pdb" "$work/home.jsonl"
has 'PDB files are not read' err

# A program whose names its linker put elsewhere.
expect 0 print --image "$work/bare.exe" "$work/home.jsonl"
has 'bare.exe has no symbols but its exports; the others are in C:\b\bare.pdb, and PDB' err

# Names in columns, in JSON and in questions.
expect 0 print --image "$work/prog.exe" "$work/away.jsonl" --columns module,symbol
has 'prog.exe        work+3'
expect 0 print --image "$work/prog.exe" "$work/away.jsonl" --json
has '"module":"prog.exe","symbol":"work+3","source":null'
expect 0 print --image "$work/prog.exe" "$work/away.jsonl" --where 'symbol =~ "^work"'
lines 1
expect 0 print --image "$work/prog.exe" "$work/away.jsonl" --format csv \
  --where 'module == "prog.exe"'
lines 3

# The program is known by its hash. A written trace gets path and hash from the image, and keeps
# what it has.
expect 0 convert "$work/away.jsonl" "$work/away.trace64" --image "$work/prog.exe"
hash=$(head -c 300 "$work/away.trace64" | grep -ao '"hash":"0x[0-9A-F]*"' | cut -d'"' -f4)
[ -n "$hash" ] || fail 'no hash in the header'
expect 0 info "$work/away.trace64"
has "hash       ${hash,,}"
has 'C:\dir\PROG.EXE'
expect 0 convert "$work/home.jsonl" "$work/home.trace64" --image "$work/bare.exe" \
  --image "$work/prog.exe"
expect 0 info "$work/home.trace64"
has "$work/bare.exe"
for kind in print 'convert --format jsonl'; do
  # shellcheck disable=SC2086
  expect 0 ${kind%% *} --image "$work/prog.exe@0x7ff700000000" "$work/away.trace64" \
    $([ "$kind" = print ] || echo "$work/out.jsonl --format jsonl")
  [ -s "$work/err" ] && grep -q 'is not the file' "$work/err" && fail "$kind: the right program"
done
grep -q "\"hash\":\"${hash,,}\"" "$work/out.jsonl" || fail 'the hash in jsonl'
expect 0 convert "$work/out.jsonl" "$work/again.trace64"
cmp "$work/again.trace64" "$work/away.trace64" || fail 'path and hash by way of jsonl'
cp "$work/prog.exe" "$work/other.exe"
printf 'x' >>"$work/other.exe"
expect 0 print --image "$work/other.exe@0x7ff700000000" "$work/away.trace64"
has 'other.exe is not the file that was traced: its hash is 0x' err
has "and the trace is of C:\\dir\\PROG.EXE with $hash" err
expect 0 convert --image "$work/other.exe@0x7ff700000000" "$work/away.trace64" "$work/kept.trace64"
has 'is not the file' err
cmp "$work/kept.trace64" "$work/away.trace64" || fail 'the hash of the input is kept'
# Holes behind a program make it as large as somebody likes: it is not hashed, and that is told.
cp "$work/prog.exe" "$work/large.exe"
truncate -s 1T "$work/large.exe"
for command in print hits; do
  timeout 60 "$tracewell" $command --image "$work/large.exe@0x7ff700000000" \
    "$work/away.trace64" >"$work/out" 2>"$work/err" || fail "$command of a large program: $?"
  has 'large.exe has more than 4 GiB, and is not hashed: nobody knows whether it is the' err
done
timeout 60 "$tracewell" convert --image "$work/large.exe" "$work/home.jsonl" "$work/large.trace64" \
  >"$work/out" 2>"$work/err" || fail "convert with a large program: $?"
has 'large.exe has more than 4 GiB: it gets no hash' err
# A header without them gets them; nor does a block of ours have them.
python3 - "$work" <<'PYTHON'
import re, struct, sys
data = open(f"{sys.argv[1]}/away.trace64", "rb").read()
size = struct.unpack("<I", data[4:8])[0]
behind = 8 + size
while data[behind] == 0xC0 and data[behind + 14] == 7:  # where a module was
    behind += 5 + struct.unpack("<I", data[behind + 1 : behind + 5])[0]
json = b'{"ver":1,"mine":"kept","arch":"x64","compression":""}'
open(f"{sys.argv[1]}/bare.trace64", "wb").write(
    b"TRAC" + struct.pack("<I", len(json)) + json + data[behind:])
PYTHON
expect 0 convert "$work/bare.trace64" "$work/same.trace64"
cmp "$work/bare.trace64" "$work/same.trace64" || fail 'a header that nobody asked to fill'
expect 0 convert "$work/bare.trace64" "$work/filled.trace64" --image "$work/prog.exe@0x7ff700000000"
head -c 300 "$work/filled.trace64" >"$work/head"
grep -aq "\"mine\":\"kept\".*\"hash\":\"$hash\",\"path\":\"$work/prog.exe\"" "$work/head" ||
  fail 'a header that an image fills'

head -c 200 "$work/prog.exe" >"$work/cut.exe"
expect 3 print --image "$work/cut.exe" "$work/home.jsonl"
has 'reaches beyond the end of the file' err
finish
