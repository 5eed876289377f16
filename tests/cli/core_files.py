"""Core files that nobody's kernel wrote. Run as

  core_files.py OUT names PATH...               one note with a mapping for each path
  core_files.py OUT notes HEADERS MAPPINGS      so many headers of one note of so many mappings
  core_files.py OUT segments HEADERS BYTES      so many headers of one segment: all of the file
  core_files.py OUT rings COUNT [whole]         so many rings of 256 MiB, of one session: holes but
                                                for their heads and, if `whole`, for those of
                                                packets that say they are full of records
  core_files.py OUT busy COUNT PID              so many small rings of a program that lives, each in
                                                the middle of a record
"""
import struct
import sys

HEAD, ENTRY = 64, 56
NT_FILE = 0x46494C45
PT_LOAD, PT_NOTE = 1, 4
# include/tracewell/hook_layout.h
PAGE, SLOTS, PACKET_BYTES = 4096, 64, 4 << 20
RING_BYTES = PAGE + SLOTS * PACKET_BYTES
RING_MAGIC, RING_VERSION, PACKET_MAGIC = 0x676E697268577754, 3, 0xC1FC1FC1
STREAM, OPEN, WHOLE = 1, 1, 3
UUID, PID, IDENTITY = b"U" * 16, 99999, 1


def header(count):
    return b"\x7fELF\x02\x01\x01".ljust(16, b"\0") + struct.pack(
        "<HHIQQQIHHHHHH", 4, 62, 1, 0, HEAD, 0, 0, HEAD, ENTRY, count, 64, 0, 0)


def segment(kind, offset, size):
    return struct.pack("<IIQQQQQQ", kind, 4, offset, 0, 0, size, size, 4096)


def note(paths):
    ranges = b"".join(struct.pack("<QQQ", 4096 * (i + 1), 4096 * (i + 2), 0)
                      for i in range(len(paths)))
    text = struct.pack("<QQ", len(paths), 4096) + ranges
    text += b"".join(path.encode() + b"\0" for path in paths)
    text += bytes(-len(text) % 4)
    return struct.pack("<III", 5, len(text), NT_FILE) + b"CORE\0\0\0\0" + text


def ring_head(number):
    return struct.pack("<Q11I", RING_MAGIC, RING_VERSION, PACKET_BYTES, SLOTS, 0, PID, number, 1,
                       0, 0, 0, 0).ljust(64 + 8 * SLOTS, b"\0") + struct.pack(
        "<QqqQ16sQQQII", 1, 1, 1, 10**9, UUID, 0, IDENTITY, 5000, 65536, 0)


def packet_head(ring, number):
    bits = 8 * PACKET_BYTES
    return struct.pack("<I16sI8Q4I3Q6I", PACKET_MAGIC, UUID, STREAM, IDENTITY + ring, bits, bits, 1,
                       1, 0, number, 0, PID, PID, 0, WHOLE, 0, IDENTITY, 5000, ring, 0, 65536, 0, 0,
                       0)


def write_rings(file, count, whole):
    at = (HEAD + ENTRY * count + PAGE - 1) // PAGE * PAGE
    places = [at + RING_BYTES * i for i in range(count)]
    file.write(header(count) + b"".join(segment(PT_LOAD, at, RING_BYTES) for at in places))
    for ring, at in enumerate(places):
        file.seek(at)
        file.write(ring_head(ring))
        for slot in range(SLOTS if whole else 0):
            file.seek(at + PAGE + slot * PACKET_BYTES)
            file.write(packet_head(ring, slot))
    file.truncate(at + RING_BYTES)


def write_busy(file, count, pid):
    size = 2 * PAGE
    file.write(header(1) + segment(PT_LOAD, PAGE, (PAGE + size) * count))
    for number in range(count):
        file.seek(PAGE + (PAGE + size) * number)
        head = struct.pack("<Q11I", RING_MAGIC, RING_VERSION, size, 1, 0, pid, number, 1, 0, 0, 0,
                           0).ljust(64 + 8 * SLOTS, b"\0")
        head += struct.pack("<QqqQ16sQQQII", 1, 1, 1, 10**9, UUID, 0, IDENTITY, 0, 4096, 0)
        packet = struct.pack("<I16sI8Q4I3Q6I", PACKET_MAGIC, UUID, STREAM, IDENTITY + number,
                             8 * size, 0, 1, 0, 0, 0, 0, pid, pid, 1, OPEN, 0, IDENTITY, 0,
                             number, 0, 4096, 0, 0, 0)
        # An id of 0: the rest of the record is not written yet.
        file.write(head.ljust(PAGE, b"\0") + packet + struct.pack("<4I", 0x1000, 0, 0, 0))
    file.truncate(PAGE + (PAGE + size) * count)


def main():
    out, what, *words = sys.argv[1:]
    with open(out, "wb") as file:
        if what == "rings":
            write_rings(file, int(words[0]), "whole" in words)
            return
        if what == "busy":
            write_busy(file, int(words[0]), int(words[1]))
            return
        if what == "segments":
            count, size = map(int, words)
            file.write(header(count) + segment(PT_LOAD, 0, size) * count)
            file.truncate(size)
            return
        count = int(words[0]) if what == "notes" else 1
        one = note([""] * int(words[1]) if what == "notes" else words)
        file.write(header(count) + segment(PT_NOTE, HEAD + ENTRY * count, len(one)) * count + one)


main()
