#!/usr/bin/env python3
"""The notes of hook sites in ELF files, as readelf shows them: each site has one, its address is
that of five bytes that do nothing, and at that instruction the places hold the hook's words."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

BIN = pathlib.Path(os.environ["TRACEWELL_BIN"])
SOURCE = pathlib.Path(os.environ["TRACEWELL_SOURCE"])
INFERIORS = pathlib.Path(os.environ["TRACEWELL_INFERIORS"])
PROGRAM = """
#include <sys/trchkid.h>
static long v = 7;
static const char text[] = "bytes";
__attribute__((noinline)) static void fire(long a, int b, const char *c) {
  TRCHKL5(HKWD_USER1 | 2, a, b, c, v, 1000);
  TRCHKL1T(HKWD_USER2, a + b);
  TRCGEN(0, HKWD_USER3, v, 5, c);
  TRCHKL0(HKWD_USER4);
}
int main(void) { fire(0x1234, 99, text); return 0; }
"""
LABELS = {"TRCHKL5": 5, "TRCHKL1T": 1, "TRCGEN": 3, "TRCHKL0": 0}
VALUES = {"TRCHKL5": [0x01000002, 0x1234, 99, None, 7, 1000], "TRCHKL1T": [0x02000000, 0x1297],
          "TRCGEN": [0x03000000, 7, 5, None], "TRCHKL0": [0x04000000]}


def call(*words, **more):
    return subprocess.run([str(word) for word in words], check=True, capture_output=True, text=True,
                          **more).stdout


def notes_of(program, size):
    """(address, label, place of the hook word, places of the words) of each."""
    text = call("readelf", "-n", "-W", program)
    for data in re.findall(r"^  tracewell .*?description data: ([0-9a-f ]+)", text, re.M | re.S):
        raw = bytes.fromhex(data)
        label, word, words, rest = raw[size:].split(b"\0", 3)
        assert rest.strip(b"\0") == b"", raw
        yield (int.from_bytes(raw[:size], "little"), label.decode(), word.decode(),
               words.decode().split())


def expression(place, size):
    """GDB's for what the assembler calls BYTES@PLACE."""
    count, where = place.split("@", 1)
    kind = {"4": "unsigned int", "8": "unsigned long long"}[count]
    mask = (1 << 8 * int(count)) - 1
    if where.startswith("$"):
        return f"{int(where[1:], 0) & mask}ull"
    if where.startswith("%"):
        return f"(unsigned long long)(({kind})${where[1:]})" if size == 8 or count == "4" else None
    found = re.fullmatch(r"([-\w.+]*)\((%\w+)(?:,(%\w+))?(?:,(\d))?\)", where)
    assert found, place
    offset, base, index, scale = found.groups()
    if base == "%rip":
        return f"*({kind}*)&{offset}"
    at = f"${base[1:]}" + (f"+${index[1:]}*{scale or 1}" if index else "")
    try:
        return f"*({kind}*)((char*)({at})+({int(offset or '0', 0)}))"
    except ValueError:
        return None  # relative to a symbol


def check(work, size, flags):
    program = work / "sites"
    lib = BIN.parent / ("lib" if size == 8 else "lib32")
    call("cc", *flags, f"-I{SOURCE}/include/tracewell/aix", work / "sites.c", "-o", program,
         f"-L{lib}", "-lrts", f"-Wl,-rpath,{lib}")
    notes = list(notes_of(program, size))
    assert {label: len(places) for _, label, _, places in notes} == LABELS, notes
    if "-pie" in flags:
        return
    script = ["set confirm off", "set print address off", "set remotetimeout 60"]
    wanted = []
    for address, label, word, places in notes:
        script += [f"tbreak *{address:#x}", "commands", "silent", f"x/5xb {address:#x}"]
        for place, value in zip([word] + places, VALUES[label]):
            text = expression(place, size)
            if text and value is not None:
                script.append(f'printf "%s %llu\\n", "{label}", {text}')
                wanted.append(f"{label} {value}")
        script += ["continue", "end"]
    # Not GDB's own target: GDB 13 cannot write registers where the processor has AMX.
    script += [f"target remote | {BIN}/tracewell serve - {program}", "continue"]
    (work / "script").write_text("\n".join(script) + "\n")
    out = call("gdb", "-q", "-nx", "-batch", "-x", work / "script", program)
    got = [line for line in out.splitlines() if re.match(r"TRC\w+ \d+$", line)]
    assert sorted(got) == sorted(wanted) and len(got) >= 8, (flags, wanted, out)
    assert out.count("0x0f\t0x1f\t0x44\t0x00\t0x00") == len(notes), out


def runs_32_bit_programs():
    try:
        return subprocess.run([INFERIORS / "ends_32", "exit", "0"]).returncode == 0
    except OSError:
        print("not tested: this kernel runs no 32-bit programs")
        return False


def main():
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        os.environ["XDG_RUNTIME_DIR"] = folder
        (work / "sites.c").write_text(PROGRAM)
        call(BIN / "tracewell", "trace", "-a", "-l", "-o", work / "log")
        try:
            for size in (8, 4) if runs_32_bit_programs() else (8,):
                for optimised in ("-O0", "-O2"):
                    for kind in (["-no-pie"], ["-pie", "-fPIE"]):
                        check(work, size, [optimised, *kind, *([] if size == 8 else ["-m32"])])
        finally:
            call(BIN / "tracewell", "trcstop")
    print("ok")


main()
sys.exit(0)
