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
head -c 200 "$work/prog.exe" >"$work/cut.exe"
expect 3 print --image "$work/cut.exe" "$work/home.jsonl"
has 'reaches beyond the end of the file' err
finish
