#!/usr/bin/env bash
# labels: answers
# The index is small beside any trace: many threads, many sessions, calls without end, steps that
# tell little of what is nowhere else, blocks that are no steps; and it says which step changed a
# register of a thread that others interrupt, and who wrote where, whatever was left out of it.
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

def single_threads(count):
    for i in range(count):
        words = {RIP: 0x401000}
        yield block(b'\x90', full(words) if i % 512 == 0 else words, 4 + 4 * i)

def places(steps):  # each where nobody was before
    for i in range(steps):
        words = {RIP: 0x401000 + i * 7919 % 1000003}
        yield block(b'\x90', full(words) if i % 512 == 0 else words, 8 if i % 512 == 0 else None)

def bytes_written(steps, cells):  # by others in between, too; every second time
    for i in range(steps):
        words = {2: 0x200000 + i * 7919 % cells * 8 + i % 5, RIP: 0x401000 + 2 * (i % 2)}
        entry = [(words[2], i, i + 1 if i % 2 else None)]
        opcode = b'\x88\x02' if i % 2 else b'\x8a\x02'
        tid = 8 if i % 512 == 0 else None
        yield block(opcode, full(words) if i % 512 == 0 else words, tid, entry)

def nothing(blocks, steps):
    yield block(b'\x90', full({RIP: 0x401000}), 8)
    for i in range(blocks):
        yield b'\x80\0\0\0\0'
        if i < steps:
            yield block(b'\x90', {RIP: 5})

write('single_threads', single_threads(30000))
write('places', places(60000))
write('few_bytes', bytes_written(30000, 3))
write('bytes', bytes_written(30000, 50000))
write('nothing', nothing(1000000, 0))
write('between', nothing(100000, 100000))
write('threads', threads(3000, 20000))
write('sessions', sessions(2000))
write('calls', calls(20000))
write('alternating', alternating(1200))
PYTHON

cp "$TRACEWELL_SOURCE/tests/formats/data/synthetic_single.trace64" "$work/sample.trace64"
for name in threads sessions calls alternating single_threads places few_bytes bytes nothing \
    between sample; do
  expect 0 at "$work/$name.trace64" 0
  index=$(stat -c %s "$work/$name.trace64.tidx")
  trace=$(stat -c %s "$work/$name.trace64")
  [ $((4 * index)) -le "$trace" ] || fail "$name: an index of $index bytes, of a trace of $trace"
done

# Who wrote one byte, what it held, and who was at a place: what is not in the index is found all
# the same, and nothing stays behind.
expect 0 find "$work/bytes.trace64" write 0x200000,400000 --json
writes=$(grep -c '"access":"write"' "$work/out")
[ "$writes" = 15000 ] || fail "$writes writes of 15000"
changes=$(grep -c '"by":"others"' "$work/out")
[ "$changes" -gt 5000 ] || fail "$changes changes by others"
expect 0 at "$work/bytes.trace64" 4 --mem 0x22e66b,1
has '0x22e66b  04?'  # its instructions follow each other without a jump
expect 0 find "$work/places.trace64" exec "$(printf '0x%x' $((0x401000 + 777 * 7919 % 1000003)))"
has 'step 777 '
[ "$(find "$work" -name '*tidx*' | wc -l)" = 11 ] || fail "left behind: $(ls "$work")"

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
