#!/usr/bin/env python3
"""Writes the inputs of the cases beside it: stream files of trace hooks."""

import pathlib
import struct

HERE = pathlib.Path(__file__).resolve().parent
PID, TID = 1234, 1235


def record(kind, ticks, body, flags=0):
    data = struct.pack("<BB", kind, flags) + ticks.to_bytes(6, "little") + body
    return data + b"\0" * (-len(data) % 4)


def hook(words, ticks, word, flags=0, wide=True):
    code = "Q" if wide else "I"
    kind = (1 if wide else 7) + len(words)
    return record(kind, ticks, struct.pack(f"<I{len(words)}{code}", word, *words), flags)


def generic(d1, data, ticks, word, flags=0, wide=True):
    head = struct.pack("<IQH" if wide else "<IIH", word, d1, len(data))
    return record(13 if wide else 14, ticks, head + data, flags)


def on(cpu, data):
    """The same record, of a session that records processors."""
    return data[:1] + bytes([data[1] | 2]) + data[2:] + struct.pack("<I", cpu)


def text(kind, ticks, what):
    return record(kind, ticks, struct.pack("<H", len(what)) + what)


def packet(records, number=0, begin=1000, end=2000, lost=0, overwritten=0, ring=0, count=None,
           pid=PID, tid=TID):
    body = b"".join(records)
    bits = (104 + len(body)) * 8
    if count is None:
        count = len(records)
    head = struct.pack("<I16sIQQQQQQQQIIII", 0xC1FC1FC1, b"\x11" * 16, 0, pid << 32 | ring, bits,
                       bits, begin, end, lost, number, overwritten, pid, tid, count, 3)
    return head + body


TWO = hook([4, 10], 1500, 0x01000020)
CASES = {
    "one-ring": packet([TWO]),
    "all-kinds": packet(
        [text(16, 1001, b"/bin/prog")]
        + [hook(list(range(1, n + 1)), 1100 + n, 0x01000000 | n) for n in range(6)]
        + [hook([2**64 - 1], 1200, 0x0FF0FFFF, 1), hook([1, 2, 3], 1300, 0x01000000, 1, False),
           hook([], 1301, 0x01000000, 0, False), hook([7], 1302, 0x01000000, 0, False),
           generic(5, b"hello", 1400, 0x01000020), generic(5, b"", 1401, 0x01000020, 1, False)])
    + packet([text(15, 1500, b"a note")], pid=0, tid=0),
    "forged-mark": packet([text(15, 1400, b"TRACE OFF channel 0"), TWO]),
    "record-time": packet([hook([1], 900, 0x01000001), hook([2], 2001, 0x01000001), TWO]),
    "processors": packet(
        [on(0, hook([], 1100, 0x01000000)), on(3, hook([1, 2, 3, 4, 5], 1101, 0x01000005)),
         TWO, on(4095, hook([1], 1501, 0x0FF0FFFF, 1)),
         on(2, hook([1, 2], 1502, 0x01000002, 1, False)),
         on(1, generic(5, b"hello", 1503, 0x01000020)),
         on(1, generic(5, b"", 1504, 0x01000020, 1, False)),
         on(2**32 - 1, hook([6], 1505, 0x01000006))]),
    "processor-cut": packet([TWO, hook([1], 1501, 0x01000001, 2)], count=2),
    "losses": packet([TWO], lost=3, overwritten=7, number=4)
    + packet([TWO], lost=3, overwritten=9, number=5, end=3000)
    + packet([TWO], lost=5, overwritten=9, number=7, end=4000),
    "late-ticks": packet([hook([1], (2**48 + 5) % 2**48, 0x01000000)], begin=2**48 - 10,
                         end=2**48 + 10),
    "unfinished": packet([struct.pack("<I", 20 << 8) + b"\1" * 16, b"\0" * 28, TWO]),
    "bad-record": packet([TWO, b"\x63\0\0\0" + b"\x55" * 20, TWO], count=3)
    + packet([TWO], number=1),
    "packet-cut": packet([TWO]) + packet([TWO, TWO], number=1)[:-10],
    "between": packet([TWO]) + b"\0" * 50 + packet([TWO], number=1),
    "two-rings": packet([hook([1], 1500, 0x01000000), hook([3], 1700, 0x01000000)])
    + packet([hook([2], 1600, 0x01000000), hook([4], 1800, 0x01000000)], ring=1),
    "twice": packet([TWO]) + packet([TWO]),
    "generic-too-long": packet([record(13, 1500, struct.pack("<IQH", 0x01000000, 1, 60000))]),
}

for name, data in CASES.items():
    (HERE / name).mkdir(exist_ok=True)
    (HERE / name / "input.hooks").write_bytes(data)
