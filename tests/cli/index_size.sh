#!/usr/bin/env bash
# The index is small beside any trace: many threads, many sessions, calls without end; and it says
# which step changed a register of a thread that others interrupt.
. "$(dirname "$0")/common.sh"

python3 - "$work" <<'PYTHON' || fail 'no traces'
import struct, sys

HEADER = b'{"ver":1,"arch":"x64","compression":""}'
RAX, RSP, RIP, WORDS = 0, 4, 16, 172

def block(opcode, words, tid=None, memory=()):
    out = bytes([0, len(words), len(memory), len(opcode) | (0 if tid is None else 0x80)])
    out += b'' if tid is None else struct.pack('<I', tid)
    out += opcode
    last = -1
    for index in sorted(words):
        out += bytes([index - last - 1])
        last = index
    out += b''.join(struct.pack('<Q', words[index]) for index in sorted(words))
    out += bytes(1 if new is None else 0 for _, _, new in memory)
    out += b''.join(struct.pack('<Q', address) for address, _, _ in memory)
    out += b''.join(struct.pack('<Q', old) for _, old, _ in memory)
    return out + b''.join(struct.pack('<Q', new) for _, _, new in memory if new is not None)

def full(words):
    return {**{index: index * 0x101 for index in range(WORDS)}, **words}

def write(name, blocks):
    with open(f'{sys.argv[1]}/{name}.trace64', 'wb') as file:
        file.write(b'TRAC' + struct.pack('<I', len(HEADER)) + HEADER + b''.join(blocks))

def threads(count, steps):
    for i in range(steps):
        words = {word: (i * 1315423911 + word) & 0xffffffffff for word in range(RIP)}
        words[RIP] = 0x401000 + i // count % 500
        yield block(b'\x90', full(words) if i % 512 == 0 else words, 4 + 4 * (i % count))

def sessions(count):
    for _ in range(count):
        yield block(b'\x90', full({RIP: 0x401000}), 8)
        yield block(b'\x90', {RAX: 1, RIP: 0x401001})
        yield block(b'\x90', {RAX: 2, RIP: 0x401002})

def calls(count):  # as recorded since 2024: what is told as old is what the last one pushed
    pushed = 0x1111
    for i in range(count):
        words = {RSP: 0x7fff000000 - 8 * i, RIP: 0x401000 + 16 * (i % 7)}
        opcode = b'\xe8\x0b\0\0\0' if i % 7 != 6 else b'\xe8\x9b\xff\xff\xff'
        yield block(opcode, full(words) if i % 512 == 0 else words, 8 if i % 512 == 0 else None,
                    [(words[RSP] - 8, pushed, words[RIP] + 5)])
        pushed = words[RIP] + 5

def alternating(steps):
    for i in range(steps):
        tid = 100 + 100 * (i % 2)
        words = {RAX: tid * 16 + i // 2, RIP: 0x401000 + tid * 0x1000 + 3 * (i // 2)}
        yield block(b'\x48\xff\xc0', full(words) if i % 512 == 0 else words, tid)

write('threads', threads(3000, 20000))
write('sessions', sessions(2000))
write('calls', calls(20000))
write('alternating', alternating(1200))
PYTHON

for name in threads sessions calls alternating; do
  expect 0 at "$work/$name.trace64" 1
  index=$(stat -c %s "$work/$name.trace64.tidx")
  trace=$(stat -c %s "$work/$name.trace64")
  [ $((4 * index)) -le "$trace" ] || fail "$name: an index of $index bytes, of a trace of $trace"
done

# Each step but the last two, of which nobody saw what they left; by the instruction, and to what.
expect 0 find "$work/alternating.trace64" reg rax --json
python3 - "$work/out" <<'PYTHON' || fail 'find reg rax'
import json, sys
hits = [json.loads(line) for line in open(sys.argv[1])]
assert [hit['step'] for hit in hits] == list(range(1198)), [hit['step'] for hit in hits][:20]
for hit in hits:
    assert hit['by'] == 'instruction', hit
    assert hit['tid'] == 100 + 100 * (hit['step'] % 2), hit
    assert int(hit['value'], 16) == hit['tid'] * 16 + hit['step'] // 2 + 1, hit
PYTHON
finish
