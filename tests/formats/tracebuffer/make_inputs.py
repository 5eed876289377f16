#!/usr/bin/env python3
"""Writes the inputs of the cases beside it, which are files of trace buffers: made by hand, so that
reader and writer do not agree on the same mistake. Run it after a change; look at the difference.
"""

import pathlib
import struct

HERE = pathlib.Path(__file__).resolve().parent
SEEDS = HERE.parents[2] / "fuzz/seeds/tracebuffer"
PAGE = 4096
RECORD = struct.Struct("<QQqiIhHI32s")
SHAPE, ENTRY = struct.Struct("<QhHI32s"), struct.Struct("<IIqiI")
REGISTERS = 16
TEXT = (
    "R 10\n"
    'tdesc <target version="1.0"><architecture>i386:x86-64</architecture><feature name="small">'
    '<reg name="rsp" bitsize="64"/><reg name="rip" bitsize="64" type="code_ptr"/></feature>'
    "</target>\n"
    "status %s\n"
    "tsv 1:0:1:74696d65\n"
    "tp T1:1000:E:0:0\n"
    "tp A1:1000:R03\n"
)
MANY_REGISTERS = 512
MANY_TEXT = TEXT.replace("R 10", f"R {MANY_REGISTERS:x}").replace(
    "</feature>", "".join(f'\ntdesc <reg name="extra{i}" bitsize="64"/>' for i in range(62)) +
    "</feature>")
STOPPED = "0;tstop:627965:0;tframes:0;tcreated:0;tfree:40;tsize:40"
RUNNING = "1;tnotrun:0;tframes:0;tcreated:0;tfree:40;tsize:40"


def trailer(**sections):
    """What follows the description, as docs/formats/tfile.md has it."""
    out, table = b"", b""
    for tag, content in sections.items():
        table += struct.pack("<8sQQ", tag.ljust(8).encode(), len(out), len(content))
        out += content
    out += table
    out += struct.pack("<IIQ", 1, len(sections), len(out) + 32)
    total = 0xcbf29ce484222325
    for (word,) in struct.iter_unpack("<Q", out + bytes(-len(out) % 8)):
        total = (total ^ word) * 0x100000001b3 % 2**64
    return out + struct.pack("<Q", total) + b"TWtrail1"


def process(pid, start, *texts):
    out = struct.pack("<IIQQQI", 1, pid, start, 0, 0, 0)
    return out + b"".join(struct.pack("<I", len(text)) + text.encode() for text in texts)


def registers(sp, pc):
    return b"R" + struct.pack("<QQ", sp, pc)


def variable(number, value):
    return b"V" + struct.pack("<iq", number, value)


class Buffer:
    """Version 1: a ring of `size` bytes, written as servers did."""

    def __init__(self, size, text=TEXT % STOPPED):
        self.size, self.slots = size, size // 6 + 1
        self.records = bytearray(PAGE * -(-self.slots * RECORD.size // PAGE))
        self.data = bytearray(size)
        self.first = self.next = self.end = 0
        self.sizes = []
        self.text = text.encode()
        self.version, self.record_bytes, self.records_offset = 1, RECORD.size, PAGE
        self.magic = b"TWbuffer"
        self.cut = None  # so many bytes are left of the file

    def add(self, data, pc=0x1000, mask=None, **wrong):
        frame = struct.pack("<hI", wrong.get("tracepoint", 1), len(data)) + data
        self.sizes.append(len(frame))
        while sum(self.sizes[self.first:]) > self.size:
            self.first += 1
        for i, byte in enumerate(frame):
            self.data[(self.end + i) % self.size] = byte
        RECORD.pack_into(
            self.records, self.next % self.slots * RECORD.size, wrong.get("at", self.end), pc,
            1680283200_000000000 + self.next, 77 + self.next % 2, wrong.get("size", len(data)),
            wrong.get("tracepoint", 1), mask is not None, wrong.get("check", self.next),
            mask or b"")
        self.end += len(frame)
        self.next += 1
        return self

    def bytes(self):
        data_offset = self.records_offset + len(self.records)
        text_offset = data_offset + PAGE * -(-self.size // PAGE)
        header = struct.pack(
            "<8sIIQQQQIIqq", self.magic, self.version, self.record_bytes, self.records_offset,
            self.slots, data_offset, self.size, 16, 0, 1234, 1680283200_000000000)
        header += struct.pack("<QQQQQQ", text_offset, len(self.text), PAGE, 0, 0, 0)
        header += struct.pack("<IIQQ", 0, 0, self.first, self.next)
        assert len(header) == 144
        out = header.ljust(self.records_offset, b"\0") + self.records + self.data
        return (out.ljust(text_offset, b"\0") + self.text)[:self.cut]


class Compact:
    """Version 2: a ring of `size` bytes, written as the agent does."""

    def __init__(self, size, text=TEXT % STOPPED, block=REGISTERS):
        self.size, self.text, self.block = size, text.encode("latin-1"), block
        self.data, self.shapes, self.entries = bytearray(size), [], []
        self.first = self.next = self.begin = self.end = 0
        self.version, self.slot_bytes = 2, SHAPE.size
        self.cut = None

    def add(self, data, pc=0x1000, mask=None, step=False, **wrong):
        shape = (0 if step else pc, wrong.get("tracepoint", 1), mask is not None, 0, mask or b"")
        if shape not in self.shapes:
            self.shapes.append(shape)
        blocks = (struct.pack("<Q", pc) if step else b"") + compact(data, self.block)
        fill = -(ENTRY.size + len(blocks)) % 4
        what = wrong.get("shape", self.shapes.index(shape)) | step << 24 | fill << 26
        what |= (data[:1] == b"R") << 25
        size = wrong.get("bytes", ENTRY.size + len(blocks) + fill)
        entry = ENTRY.pack(size, wrong.get("number", self.next), 1680283200_000000000 + self.next,
                           77 + self.next % 2, what) + blocks + bytes(fill)
        self.entries.append(len(entry))
        while self.end + len(entry) - self.begin > self.size:
            self.begin += self.entries[self.first]
            self.first += 1
        for i, byte in enumerate(entry):
            self.data[(self.end + i) % self.size] = byte
        self.end += len(entry)
        self.next += 1
        return self

    def bytes(self):
        table = b"".join(SHAPE.pack(*one) for one in self.shapes).ljust(PAGE, b"\0")
        data_offset = PAGE + len(table)
        text_offset = data_offset + PAGE * -(-self.size // PAGE)
        header = struct.pack(
            "<8sIIQQQQIIqq", b"TWbuffer", self.version, self.slot_bytes, PAGE,
            len(table) // SHAPE.size, data_offset, self.size, self.block, 0, 1234,
            1680283200_000000000)
        header += struct.pack("<QQQQQQ", text_offset, len(self.text), PAGE, 0, 0, 0)
        header += struct.pack("<IIQQQQQQ", 0, 0, self.first, self.next, 0, self.begin, self.end,
                              len(self.shapes))
        assert len(header) == 176
        out = header.ljust(PAGE, b"\0") + table + self.data
        return (out.ljust(text_offset, b"\0") + self.text)[:self.cut]


def compact(data, block=REGISTERS):
    """Of registers, the words that are not zero."""
    if data[:1] != b"R":
        return data
    words = [data[1 + at:9 + at] for at in range(0, block, 8)]
    there = sum(1 << i for i, word in enumerate(words) if any(word))
    words_there = b"".join(filter(any, words))
    return b"r" + there.to_bytes((len(words) + 7) // 8, "little") + words_there + data[1 + block:]


def sparse(rounds=3):
    """Frames that become 20 times as large when they are saved."""
    buffer = Compact(300, MANY_TEXT % STOPPED, MANY_REGISTERS)
    for i in range(rounds):
        buffer.add(registers(i, 0x1000).ljust(1 + MANY_REGISTERS, b"\0") + variable(1, i))
    return buffer


def changed(buffer, **more):
    for name, value in more.items():
        setattr(buffer, name, value)
    return buffer


def sharing(rounds=4):
    """One frame fills the buffer. Each further one says that it lies a round behind it."""
    buffer = Buffer(19).add(variable(1, 5))
    while buffer.next < rounds:
        buffer.add(variable(1, 5))
    return changed(buffer, first=0)


def some(size=200, text=TEXT % STOPPED):
    buffer = Buffer(size, text)
    return buffer.add(registers(0x7000, 0x1000)).add(variable(1, 5)).add(registers(1, 0x1000))


def kept(text=TEXT % STOPPED):
    buffer = Compact(300, text).add(registers(0x7000, 0x1000)).add(variable(1, 5))
    return buffer.add(b"", pc=0x1004, step=True).add(registers(1, 0x1000), mask=b"\x02")


CASES = {
    "two-frames": Buffer(64).add(registers(1, 0x1000)).add(
        registers(2, 0x1000)).add(registers(3, 0x1000)),
    "killed": some(text=TEXT % RUNNING),
    "empty": Buffer(0),
    "masks": Buffer(200).add(registers(0x7000, 0x1000), mask=b"\x02").add(
        registers(0x7000, 0x1000), mask=b"\x03").add(variable(1, 7), mask=b"\x02"),
    "stepped": Buffer(200).add(b"", pc=0x1000).add(b"", pc=0x1004),
    "bad-record": some().add(variable(1, 6), at=3).add(variable(1, 7)).add(
        variable(1, 8), check=99).add(variable(1, 9), size=0x7fffffff).add(
            variable(1, 10), size=14).add(variable(1, 11)),
    "same-bytes": sharing(),
    "block-cut": Buffer(200).add(b"M" + struct.pack("<QH", 0x5000, 9) + b"abc").add(
        variable(1, 2) + b"?what").add(variable(1, 3)),
    "record-count": changed(Buffer(12).add(b"").add(b"").add(b"").add(b""), first=0, next=1 << 40),
    "all-dropped": changed(some(), first=(1 << 64) - 1),
    "no-description": some(text=""),
    "version-3": changed(some(), version=3),
    "records-outside": changed(some(), slots=1 << 61),
    "cut-records": changed(some(), cut=PAGE + 2 * RECORD.size),
    "cut-frames": changed(some(), cut=2 * PAGE + 23 + 6 + 5),
    "cut-wrapped": changed(Buffer(64).add(registers(1, 0x1000)).add(registers(2, 0x1000)).add(
        registers(3, 0x1000)), cut=2 * PAGE + 30),
    "cut-text": changed(some(), cut=3 * PAGE + len(TEXT % STOPPED) - 20),
    "large-records": changed(some(), record_bytes=80),
    "compact": kept(),
    "compact-process": kept(TEXT % STOPPED + trailer(process=process(
        77, 1234_560000000, "host", "0123456789abcdef", "/bin/prog")).decode("latin-1")),
    "compact-sparse": sparse(),
    "compact-wrapped": changed(Compact(100), first=0).add(registers(1, 0x1000)).add(
        registers(0, 0x1000)).add(registers(3, 0)).add(registers(0, 0)),
    "compact-killed": changed(kept(text=TEXT % RUNNING), next=3),
    "compact-bad": Compact(400).add(registers(1, 0x1000)).add(
        variable(1, 5), shape=77).add(variable(1, 6)).add(variable(1, 7), bytes=0).add(
            variable(1, 8)).add(variable(1, 9), bytes=1 << 30).add(variable(1, 10)).add(
                variable(1, 11), number=99).add(variable(1, 12)),
    "compact-block-cut": Compact(300).add(b"M" + struct.pack("<QH", 0x5000, 9) + b"abc").add(
        variable(1, 2) + b"?what").add(b"r").add(
            registers(1, 2) + compact(registers(3, 4))).add(variable(1, 3)),
    "compact-cut": changed(kept(), cut=2 * PAGE + 70),
    "compact-count": changed(Compact(50).add(b"").add(b""), begin=0, end=1 << 40, next=1 << 20),
    "compact-dropped": changed(kept(), begin=(1 << 64) - 1),
    "compact-shapes": changed(kept(), slot_bytes=72),
}


def main():
    SEEDS.mkdir(exist_ok=True)
    for name, buffer in CASES.items():
        folder = HERE / name
        folder.mkdir(exist_ok=True)
        (folder / "input.twb").write_bytes(buffer.bytes())
        (SEEDS / f"{name}.twb").write_bytes(buffer.bytes())
    short = some().bytes()[:1000]
    (HERE / "header-cut").mkdir(exist_ok=True)
    (HERE / "header-cut/input.twb").write_bytes(short)


main()
