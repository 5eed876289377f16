"""Makes a PE program with DWARF out of an ELF program that was linked where the PE file wants to
be: its sections, at the same addresses, behind headers of Windows.

Not a test itself (not executable).
"""

import pathlib
import re
import struct
import subprocess

CODE, CONSTANT, DATA, ZEROS, DEBUG = 0x60000020, 0x40000040, 0xC0000040, 0xC0000080, 0x42000040
LOADED = {".text": CODE, ".rodata": CONSTANT, ".data": DATA, ".bss": ZEROS}
PAGE, SECTOR = 0x1000, 0x200


def up(number, unit):
    return (number + unit - 1) // unit * unit


def sections(program):
    """Name, address, file offset, size of each of an ELF file's."""
    text = subprocess.run(["objdump", "-h", "-w", program], capture_output=True, text=True,
                          check=True).stdout
    found = re.findall(r"^ +\d+ (\S+) +(\w+) +(\w+) +\w+ +(\w+)", text, re.M)
    return [(name, int(address, 16), int(offset, 16), int(size, 16))
            for name, size, address, offset in found]


def from_elf(program, image_base, out, library=False):
    content = pathlib.Path(program).read_bytes()
    kept = [one for one in sections(program) if one[0] in LOADED and one[3]]
    kept.sort(key=lambda one: one[1])
    rva = up(max(address + size for _, address, _, size in kept) - image_base, PAGE)
    for name, _, offset, size in sections(program):
        if name.startswith(".debug_"):
            kept.append((name, image_base + rva, offset, size))
            rva += up(size, PAGE)
    texts, headers, payload = b"", b"", b""
    for name, address, offset, size in kept:
        short = name.encode()
        if len(short) > 8:  # as GNU's and LLVM's linkers write it
            short = b"/%d" % (4 + len(texts))
            texts += name.encode() + b"\0"
        data = b"" if name == ".bss" else content[offset:offset + size]
        raw = up(len(data), SECTOR)
        headers += short.ljust(8, b"\0") + struct.pack(
            "<IIIIIIHHI", size, address - image_base, raw,
            2 * SECTOR + len(payload) if raw else 0, 0, 0, 0, 0, LOADED.get(name, DEBUG))
        payload += data.ljust(raw, b"\0")
    flags = 0x2022 if library else 0x22  # a program (or library), which may be loaded anywhere
    head = b"MZ".ljust(0x3C, b"\0") + struct.pack("<I", 0x40) + b"PE\0\0"
    head += struct.pack("<HHIIIHH", 0x8664, len(kept), 0, 2 * SECTOR + len(payload), 0, 240, flags)
    head += struct.pack("<HBBIIIII", 0x20B, 0, 0, 0, 0, 0, 0, kept[0][1] - image_base)
    head += struct.pack("<QII", image_base, PAGE, SECTOR)
    head += struct.pack("<HHHHHHIIII", 6, 0, 0, 0, 6, 0, 0, rva, 2 * SECTOR, 0)
    head += struct.pack("<HHQQQQII", 3, 0x40, 0, 0, 0, 0, 0, 16) + bytes(8 * 16) + headers
    assert len(head) <= 2 * SECTOR
    names = struct.pack("<I", 4 + len(texts)) + texts
    pathlib.Path(out).write_bytes(head.ljust(2 * SECTOR, b"\0") + payload + names)
