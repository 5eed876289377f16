#!/usr/bin/env bash
# Ctrl-C and its kin in the middle of writing: the program ends by the signal, and leaves no file.
. "$(dirname "$0")/common.sh"

# A trace that takes a while: a session of 512 steps, again and again.
write_trace() {
  python3 - "$work/run.trace64" "$1" <<'PYTHON'
import struct, sys
header = b'{"ver":1,"arch":"x64","compression":""}'
def block(words, tid):
    out = bytes([0, len(words), 0, 3 | (0 if tid is None else 0x80)])
    out += b'' if tid is None else struct.pack('<I', tid)
    out += b'\x48\xff\xc0'
    last = -1
    for index in sorted(words):
        out += bytes([index - last - 1])
        last = index
    return out + b''.join(struct.pack('<Q', words[index]) for index in sorted(words))
session = block({**{index: 0 for index in range(172)}, 16: 0x401000}, 8)
session += b''.join(block({0: i, 16: 0x401000 + 3 * i}, None) for i in range(1, 512))
with open(sys.argv[1], 'wb') as file:
    file.write(b'TRAC' + struct.pack('<I', len(header)) + header + session * int(sys.argv[2]))
PYTHON
}

# Waits until the program has a file in the folder open for writing, and sends the signal then.
# Status 9: it was done before.
cat >"$work.py" <<'PYTHON'
import os, signal, subprocess, sys
folder, number, command = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL)
def writes():
    fds = f'/proc/{child.pid}/fd'
    for fd in os.listdir(fds):
        try:
            if not os.readlink(f'{fds}/{fd}').startswith(folder):
                continue
            with open(f'/proc/{child.pid}/fdinfo/{fd}') as info:
                if any(line.startswith('flags:') and int(line.split()[1], 8) & 3 for line in info):
                    return True
        except FileNotFoundError:
            pass
    return False
while child.poll() is None:
    if writes():
        child.send_signal(number)
        break
child.wait()
sys.exit(0 if child.returncode == -number else 9 if child.returncode == 0 else 1)
PYTHON
trap 'rm -rf "$work" "$work.py"' EXIT

# interrupted SIGNAL ARGS...
interrupted() {
  local signal=$1 size=200 status
  shift
  while :; do
    rm -f "$work"/*
    write_trace $size
    python3 "$work.py" "$work/" "$signal" "$tracewell" "$@"
    status=$?
    [ $status = 9 ] && [ $size -lt 30000 ] || break
    size=$((size * 4))
  done
  [ $status = 0 ] || fail "$*: $status instead of an end by signal $signal"
  [ "$(ls "$work")" = run.trace64 ] || fail "$* leaves $(ls "$work")"
}

run=$work/run.trace64
interrupted 2 convert "$run" "$work/out.jsonl"
interrupted 15 convert "$run" "$work/out.trace64"
interrupted 1 convert "$run" "$work/out.csv"
interrupted 2 at "$run" 5
interrupted 15 find "$run" exec 0x401000
interrupted 2 repair "$run" "$work/out.trace64"
finish
