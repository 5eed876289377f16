#!/usr/bin/env python3
# timeout: 120
"""A big-endian PowerPC trace: through replay, gdb-multiarch sees what its own `target tfile` shows,
which is what the file was made with."""

import struct
import sys

sys.dont_write_bytecode = True

import replay_common as common

TDESC = """
<!DOCTYPE target SYSTEM "gdb-target.dtd">
<target version="1.0">
  <architecture>powerpc:common</architecture>
  <feature name="org.gnu.gdb.power.core">
{core}
    <reg name="pc" bitsize="32" type="code_ptr"/>
    <reg name="msr" bitsize="32" type="uint32"/>
    <reg name="cr" bitsize="32" type="uint32"/>
    <reg name="lr" bitsize="32" type="code_ptr"/>
    <reg name="ctr" bitsize="32" type="uint32"/>
    <reg name="xer" bitsize="32" type="uint32"/>
  </feature>
  <feature name="org.gnu.gdb.power.fpu">
{fpu}
    <reg name="fpscr" bitsize="32" group="float" regnum="70"/>
  </feature>
</target>
""".format(
    core="\n".join(f'    <reg name="r{i}" bitsize="32" type="uint32"/>' for i in range(32)),
    fpu="\n".join(f'    <reg name="f{i}" bitsize="64" type="ieee_double"/>' for i in range(32)),
)
REGISTER_BYTES = 32 * 4 + 6 * 4 + 32 * 8 + 4
CODE = 0x10000400


def registers(frame):
    out = b"".join(struct.pack(">I", 0x1000 * frame + i) for i in range(32))
    out += struct.pack(">6I", CODE + 4 * frame, 0x8000, 0x2200, 0x10000500, 7, 8)
    out += b"".join(struct.pack(">d", frame + i / 4) for i in range(32))
    return out + struct.pack(">I", 0)


def make_trace(path):
    text = f"\x7fTRACE0\nR {REGISTER_BYTES:x}\n"
    text += "".join(f"tdesc {line}\n" for line in TDESC.splitlines())
    text += "status 0;tstop::0;tframes:4;tcreated:4;tfree:100;tsize:1000\n"
    text += "tsv 1:0:1:74726163655f74696d657374616d70\ntsv 2:0:0:7476\n"
    text += f"tp T1:{CODE:x}:E:0:0\ntp A1:{CODE:x}:R0fff\n"
    text += f"tp Z1:{CODE:x}:at:0:{len('*0x10000400'):x}:{b'*0x10000400'.hex()}\n\n"
    frames = b""
    for number in range(4):
        blocks = b"R" + registers(number) if number != 2 else b""
        blocks += b"M" + struct.pack(">QH", 0x10010000, 8) + struct.pack(">II", 0xCAFE, number)
        blocks += b"V" + struct.pack(">iq", 2, -number)
        frames += struct.pack(">hI", 1, len(blocks)) + blocks
    path.write_bytes(text.encode("latin-1") + frames + b"\0\0\0\0")


LOOK = """
run({before!r})
gdb.execute({connect!r})
frames = []
for frame in range(4):
    run("tfind %d" % frame)
    seen = {{"registers": run("info registers"), "floats": run("info registers float")}}
    for expression in ("$r0", "$r31", "$pc", "$lr", "$f1", "$tv", "$trace_frame",
                       "*(int(*)[2])0x10010000", "*(char*)0x10010008"):
        seen[expression] = run("output/x " + expression if "f" not in expression else
                               "output " + expression)
    frames.append(seen)
run("tfind none")
run("tfind pc 0x1000040c")
frames.append({{"found": int(gdb.parse_and_eval("$trace_frame"))}})
result({{"frames": frames, "order": run("show endian")}})
"""


def check_values(frames):
    for number in (0, 1, 3):
        common.same(frames[number]["$r31"], f"{0x1000 * number + 31:#x}", f"frame {number}: r31")
        common.same(frames[number]["$pc"], f"{CODE + 4 * number:#x}", f"frame {number}: pc")
    for number in range(4):
        common.same(frames[number]["*(int(*)[2])0x10010000"], f"{{0xcafe, {number:#x}}}",
                    f"frame {number}: memory")
    common.same(frames[2]["$r31"], "<unavailable>", "a register that was not collected")


def main():
    common.need("gdb-multiarch")
    with common.folder() as work:
        trace = work / "powerpc.tfile"
        make_trace(trace)

        def look(before, connect):
            script = LOOK.format(before=before, connect=connect)
            return common.gdb(work, script, program="gdb-multiarch")

        # GDB takes the byte order from the executable, which there is none of.
        by_gdb = look("set endian big", f"target tfile {trace}")
        with common.replay(work, trace) as comm:
            by_us = look("set endian big", f"target remote {comm}")
        check_values(by_us["frames"])
        common.check("big endian" in by_us["order"], by_us["order"])
        for number, (ours, theirs) in enumerate(zip(by_us["frames"], by_gdb["frames"])):
            if "found" in theirs:
                # GDB's reader compares with the tracepoint's address; the frame says where it was.
                common.same(ours["found"], 3, "tfind pc")
                continue
            for what in theirs:
                common.same(ours[what], theirs[what], f"frame {number}: {what}")


main()
