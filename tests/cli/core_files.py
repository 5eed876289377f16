"""Core files that nobody's kernel wrote. Run as

  core_files.py OUT names PATH...               one note with a mapping for each path
  core_files.py OUT notes HEADERS MAPPINGS      so many headers of one note of so many mappings
  core_files.py OUT segments HEADERS BYTES      so many headers of one segment: all of the file
"""
import struct
import sys

HEAD, ENTRY = 64, 56
NT_FILE = 0x46494C45
PT_LOAD, PT_NOTE = 1, 4


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


def main():
    out, what, *words = sys.argv[1:]
    with open(out, "wb") as file:
        if what == "segments":
            count, size = map(int, words)
            file.write(header(count) + segment(PT_LOAD, 0, size) * count)
            file.truncate(size)
            return
        count = int(words[0]) if what == "notes" else 1
        one = note([""] * int(words[1]) if what == "notes" else words)
        file.write(header(count) + segment(PT_NOTE, HEAD + ENTRY * count, len(one)) * count + one)


main()
