#!/usr/bin/env python3
"""A big-endian PowerPC trace file, put together here byte by byte, shows the same values in
gdb-multiarch and in Tracewell, and so does the file that Tracewell makes of it."""
# timeout: 120

import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile

BIN = os.environ.get("TRACEWELL_BIN")
if not BIN:
    sys.exit("set TRACEWELL_BIN to the folder of the built programs")
TRACEWELL = pathlib.Path(BIN) / "tracewell"
GDB = shutil.which("gdb-multiarch")
if not GDB:
    sys.exit("gdb-multiarch is not installed")

CORE = [(f"r{i}", 32, "uint32") for i in range(32)]
FPU = [(f"f{i}", 64, "ieee_double") for i in range(32)]
SPECIAL = [("pc", 32, "code_ptr"), ("msr", 32, "uint32"), ("cr", 32, "uint32"),
           ("lr", 32, "code_ptr"), ("ctr", 32, "uint32"), ("xer", 32, "uint32")]
REGISTERS = CORE + FPU + SPECIAL + [("fpscr", 32, "uint32")]
VALUES = {"r0": 0x11223344, "r1": 0x7FFF0010, "r31": 0xFFFFFFFF, "pc": 0x10000458,
          "lr": 0x10000400, "cr": 0x24000022, "f1": 1.5}
STRING = b"big end\0"


def description():
    def regs(part, numbers):
        return "".join(f'<reg name="{name}" bitsize="{bits}" type="{kind}" regnum="{number}"/>'
                       for number, (name, bits, kind) in zip(numbers, part))

    lines = ["<target>", "<architecture>powerpc:common</architecture>",
             '<feature name="org.gnu.gdb.power.core">']
    lines += [regs([one], [i]) for i, one in enumerate(CORE)]
    lines += [regs([one], [64 + i]) for i, one in enumerate(SPECIAL)]
    lines += ["</feature>", '<feature name="org.gnu.gdb.power.fpu">']
    lines += [regs([one], [32 + i]) for i, one in enumerate(FPU)]
    lines += [regs([("fpscr", 32, "uint32")], [70]), "</feature>", "</target>"]
    return lines


def register_block():
    out = b""
    for name, bits, kind in REGISTERS:
        value = VALUES.get(name, 0)
        out += struct.pack(">d", value) if kind == "ieee_double" else struct.pack(">I", value)
    return out


def trace_file():
    block = register_block()
    text = [f"R {len(block):x}"] + [f"tdesc {line}" for line in description()]
    text += ["status 0;tstop::0;tframes:2", "tsv 1:0:0:" + b"count".hex(),
             "tp T1:10000458:E:0:0", "tp Z1:10000458:at:0:b:" + b"*0x10000458".hex()]
    first = b"R" + block + b"V" + struct.pack(">iq", 1, -77)
    second = b"M" + struct.pack(">QH", 0x10020000, len(STRING)) + STRING
    frames = b"".join(struct.pack(">hI", 1, len(data)) + data for data in (first, second))
    return b"\x7fTRACE0\n" + "\n".join(text).encode() + b"\n\n" + frames + bytes(4)


def gdb_values(path):
    names = [name for name in VALUES if name != "f1"]
    commands = ["set endian big", f"target tfile {path}", "tfind 0"]
    commands += [f"p/x ${name}" for name in names] + ["p $f1", "p $count", "tfind 1",
                                                     "x/1s 0x10020000"]
    words = [word for command in commands for word in ("-ex", command)]
    out = subprocess.run([GDB, "-nx", "-batch", *words], stdin=subprocess.DEVNULL, timeout=100,
                         capture_output=True, text=True)
    shown = re.findall(r"^\$\d+ = (.*)$", out.stdout, re.M)
    assert len(shown) == len(names) + 2, out.stdout + out.stderr
    values = {name: int(text, 16) for name, text in zip(names, shown)}
    values["f1"] = float(shown[-2])
    string = re.search(r'^0x10020000:\s+"(.*)"', out.stdout, re.M)
    return values, int(shown[-1]), string.group(1)


def our_values(path):
    out = subprocess.run([TRACEWELL, "print", "--format", "jsonl", path], check=True, timeout=60,
                         capture_output=True, text=True)
    assert not out.stderr, out.stderr
    catalog, first, second = map(json.loads, out.stdout.splitlines())
    assert (catalog["catalog"]["machine"], catalog["catalog"]["endian"]) == ("powerpc", "big")
    values = {name: int(first["registers"][name], 16) for name in VALUES}
    values["f1"] = struct.unpack(">d", values["f1"].to_bytes(8, "big"))[0]
    assert first["pc"] == second["pc"] == "0x10000458", (first["pc"], second["pc"])
    memory = bytes.fromhex(second["memory"][0]["bytes"])
    assert second["memory"][0]["addr"] == "0x10020000"
    return values, first["variables"]["1"], memory.rstrip(b"\0").decode()


def main():
    with tempfile.TemporaryDirectory() as folder:
        ours = pathlib.Path(folder) / "ppc.tf"
        ours.write_bytes(trace_file())
        expected = (VALUES, -77, STRING.rstrip(b"\0").decode())
        again = pathlib.Path(folder) / "again.tf"
        subprocess.run([TRACEWELL, "convert", ours, again], check=True, timeout=60)
        assert again.read_bytes() == ours.read_bytes(), "rewriting changed it"
        # By way of JSON and without the description's text: what is left is ours alone.
        lines = pathlib.Path(folder) / "ppc.jsonl"
        subprocess.run([TRACEWELL, "convert", ours, lines], check=True, timeout=60)
        subprocess.run([TRACEWELL, "convert", lines, again], check=True, timeout=60)
        for path in (ours, again):
            assert our_values(path) == expected, (our_values(path), expected)
            assert gdb_values(path) == expected, (gdb_values(path), expected)
    print("ok")


if __name__ == "__main__":
    main()
