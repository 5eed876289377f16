"""Core files that nobody's kernel wrote. Run as

  core_files.py OUT names PATH...               one note with a mapping for each path
  core_files.py OUT notes HEADERS MAPPINGS      so many headers of one note of so many mappings
  core_files.py OUT segments HEADERS BYTES      so many headers of one segment: all of the file
  core_files.py OUT rings COUNT [whole]         so many rings of 256 MiB, of one session: holes but
                                                for their heads and, if `whole`, for those of
                                                packets that say they are full of records
  core_files.py OUT busy COUNT PID              so many small rings of a program that lives, each in
                                                the middle of a record
  core_files.py OUT memory PID PIECE...         of that process, pieces of memory, each of a small
                                                ring with one hook:
                                                "PATH UUID PID NUMBER WORD [TRICK...]".
                                                PATH: the name of the mapping, with (deleted) behind
                                                it where it ends with -; none where it is -. The
                                                others: what its head says. TRICK: wiped = a page of
                                                zeros before the head; late = in no memory of the
                                                core; large = it says that it has twice the slots;
                                                component = it says that it is one's; channel3 = it
                                                says that it is of that channel
  core_files.py OUT many COUNT BYTES            so many program headers, and as large a note: holes
"""
import struct
import sys

HEAD, ENTRY = 64, 56
NT_FILE, NT_PRPSINFO = 0x46494C45, 3
PT_LOAD, PT_NOTE = 1, 4
PN_XNUM = 0xFFFF
# include/tracewell/hook_layout.h
PAGE, SLOTS, PACKET_BYTES = 4096, 64, 4 << 20
RING_BYTES = PAGE + SLOTS * PACKET_BYTES
RING_MAGIC, RING_VERSION, PACKET_MAGIC = 0x676E697268577754, 3, 0xC1FC1FC1
STREAM, OPEN, WHOLE = 1, 1, 3
UUID, PID, IDENTITY = b"U" * 16, 99999, 1
SMALL = 2 * PAGE  # of a packet
PACKET_HEAD = 152
MEMORY = 1 << 20  # addresses begin there


def header(count, table=HEAD, sections=0):
    return b"\x7fELF\x02\x01\x01".ljust(16, b"\0") + struct.pack(
        "<HHIQQQIHHHHHH", 4, 62, 1, 0, table, sections, 0, HEAD, ENTRY, count, 64,
        1 if sections else 0, 0)


def segment(kind, offset, size, address=0):
    return struct.pack("<IIQQQQQQ", kind, 4, offset, address, 0, size, size, 4096)


def note(kind, data):
    return struct.pack("<III", 5, len(data), kind) + b"CORE\0\0\0\0" + data + bytes(-len(data) % 4)


def files_note(mappings):
    """(begin, end, path) of each."""
    text = struct.pack("<QQ", len(mappings), PAGE)
    text += b"".join(struct.pack("<QQQ", begin, end, 0) for begin, end, _ in mappings)
    return note(NT_FILE, text + b"".join(path.encode() + b"\0" for _, _, path in mappings))


def process_note(pid):
    return note(NT_PRPSINFO, bytes(24) + struct.pack("<I", pid) + bytes(108))


def ring_head(number, uuid=UUID, pid=PID, packet_bytes=PACKET_BYTES, slots=SLOTS, channel=0):
    return struct.pack("<Q11I", RING_MAGIC, RING_VERSION, packet_bytes, slots, 0, pid, number, 1,
                       channel, 0, 0, 0).ljust(64 + 8 * SLOTS, b"\0") + struct.pack(
        "<QqqQ16sQQQII", 1, 1, 1, 10**9, uuid, 0, IDENTITY, 5000, 65536, 0)


def packet_head(ring, number, uuid=UUID, pid=PID, packet_bytes=PACKET_BYTES, content=PACKET_BYTES,
                state=WHOLE, records=0):
    return struct.pack("<I16sI8Q4I3Q6I", PACKET_MAGIC, uuid, STREAM, IDENTITY + ring,
                       8 * packet_bytes, 8 * content, 1, 1, 0, number, 0, pid, pid, records, state,
                       0, IDENTITY, 5000, ring, 0, 65536, 0, 0, 0)


def name_of(number, pid=PID):
    return f"/none/.rings/{pid}-{number} (deleted)"


def write_rings(file, count, whole):
    notes = files_note([(MEMORY + RING_BYTES * i, MEMORY + RING_BYTES * (i + 1), name_of(i))
                        for i in range(count)])
    begin = HEAD + ENTRY * (count + 1)
    at = (begin + len(notes) + PAGE - 1) // PAGE * PAGE
    places = [at + RING_BYTES * i for i in range(count)]
    file.write(header(count + 1) + segment(PT_NOTE, begin, len(notes)))
    for place in places:
        file.write(segment(PT_LOAD, place, RING_BYTES, MEMORY + place - at))
    file.write(notes)
    for ring, at in enumerate(places):
        file.seek(at)
        file.write(ring_head(ring))
        for slot in range(SLOTS if whole else 0):
            file.seek(at + PAGE + slot * PACKET_BYTES)
            file.write(packet_head(ring, slot))
    file.truncate(at + RING_BYTES)


def write_busy(file, count, pid):
    size = PAGE + SMALL
    notes = files_note([(MEMORY + size * i, MEMORY + size * (i + 1), name_of(i, pid))
                        for i in range(count)])
    begin = HEAD + ENTRY * 2
    at = (begin + len(notes) + PAGE - 1) // PAGE * PAGE
    file.write(header(2) + segment(PT_NOTE, begin, len(notes)) +
               segment(PT_LOAD, at, size * count, MEMORY) + notes)
    for number in range(count):
        file.seek(at + size * number)
        packet = packet_head(number, 0, pid=pid, packet_bytes=SMALL, content=0, state=OPEN)
        # An id of 0: the rest of the record is not written yet.
        file.write(ring_head(number, pid=pid, packet_bytes=SMALL, slots=1).ljust(PAGE, b"\0") +
                   packet + struct.pack("<4I", 0x1000, 0, 0, 0))
    file.truncate(at + size * count)


def ring_of_hook(uuid, pid, number, word, tricks):
    record = bytes([2, 0]) + (2).to_bytes(6, "little") + struct.pack("<IQ", 0x0100 << 16, word)
    packet = packet_head(number, 0, uuid, pid, SMALL, PACKET_HEAD + len(record), WHOLE, 1)
    head = ring_head(number, uuid, pid, SMALL, 2 if "large" in tricks else 1,
                     9 if "component" in tricks else 3 if "channel3" in tricks else 0)
    ring = head.ljust(PAGE, b"\0") + (packet + record).ljust(SMALL, b"\0")
    return bytes(PAGE) + ring if "wiped" in tricks else ring


def write_memory(file, pid, pieces):
    mappings, memory = [], []
    address = MEMORY
    for piece in pieces:
        path, uuid, *numbers = piece.split(" ")
        tricks = numbers[3:]
        ring = ring_of_hook(bytes.fromhex(uuid.replace("-", "")), *map(int, numbers[:3]), tricks)
        if path != "-":
            name = path[:-1] + " (deleted)" if path.endswith("-") else path
            mappings.append((address, address + len(ring), name))
        if "late" not in tricks:
            memory.append((address, ring))
        address += len(ring) + PAGE
    notes = process_note(pid) + files_note(mappings)
    begin = HEAD + ENTRY * (len(memory) + 1)
    at = (begin + len(notes) + PAGE - 1) // PAGE * PAGE
    file.write(header(len(memory) + 1) + segment(PT_NOTE, begin, len(notes)))
    offset = at
    for address, ring in memory:
        file.write(segment(PT_LOAD, offset, len(ring), address))
        offset += len(ring)
    file.write(notes.ljust(at - begin, b"\0") + b"".join(ring for _, ring in memory))


def write_many(file, count, size):
    """Section 0 says how many there are: they are holes, but for the note's header."""
    table = HEAD + 64
    notes = table + ENTRY * count
    file.write(header(PN_XNUM, table, HEAD))
    file.write(bytes(44) + struct.pack("<I", min(count, 2**32 - 1)) + bytes(16))
    file.write(segment(PT_NOTE, notes, size))
    file.truncate(notes + size)


def main():
    out, what, *words = sys.argv[1:]
    with open(out, "wb") as file:
        if what == "rings":
            write_rings(file, int(words[0]), "whole" in words)
        elif what == "busy":
            write_busy(file, int(words[0]), int(words[1]))
        elif what == "memory":
            write_memory(file, int(words[0]), words[1:])
        elif what == "many":
            write_many(file, int(words[0]), int(words[1]))
        elif what == "segments":
            count, size = map(int, words)
            file.write(header(count) + segment(PT_LOAD, 0, size) * count)
            file.truncate(size)
        else:
            count = int(words[0]) if what == "notes" else 1
            paths = [""] * int(words[1]) if what == "notes" else words
            one = files_note([(PAGE * (i + 1), PAGE * (i + 2), path)
                              for i, path in enumerate(paths)])
            file.write(header(count) + segment(PT_NOTE, HEAD + ENTRY * count, len(one)) * count +
                       one)


main()
