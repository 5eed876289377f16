#!/usr/bin/env bash
# replay --image: until it serves, a signal ends it at once, whatever it waits for.
. "$(dirname "$0")/common.sh"
trace=$cases/tfile/gdb-tsave/input.tf
mkfifo "$work/image"
"$tracewell" replay "$trace" "unix:$work/socket" --image "$work/image@0x400000" 2>"$work/err" &
server=$!
exec 3>"$work/image"  # has opened when replay reads
kill -TERM "$server"
( # nobody waits for ever
  exec 3>&-
  for _ in {1..400}; do
    kill -0 "$server" 2>"$work/none" || exit 0
    sleep 0.05
  done
  kill -KILL "$server"
) &
wait "$server"
status=$?
exec 3>&-
[ "$status" = 143 ] || fail "status $status: $(cat "$work/err")"
if grep -q Listening "$work/err"; then fail "it listens: $(cat "$work/err")"; fi

# Headers that all name the same notes take neither memory nor time.
python3 - "$work/notes.so" <<'PYTHON'
import struct, sys
headers, size = 9000, 700000
at = 64 + 56 * (headers + 1) + 1  # odd
notes = struct.pack('<III', 4, size - 2 * headers, 7) + b'ABC\0'
notes += bytes(size - len(notes))
out = b'\x7fELF\2\1\1' + bytes(9)
out += struct.pack('<HHIQQQIHHHHHH', 3, 62, 1, 0, 64, 0, 0, 64, 56, headers + 1, 64, 0, 0)
out += struct.pack('<IIQQQQQQ', 1, 5, 0, 0, 0, at + size, at + size, 4096)
for i in range(headers):
    out += struct.pack('<IIQQQQQQ', 4, 4, at, at, at, size - i, size - i, 4)
with open(sys.argv[1], 'wb') as file:
    file.write(out + b'\0' + notes)
PYTHON
peak() {  # COMMAND...: KiB
  python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' "$@"
}
printf '{"catalog":{"endian":"little","machine":"x86-64"}}\n{"kind":"step","pc":"0x401000"}\n' \
  >"$work/one.jsonl"
got=$(peak "$tracewell" info "$work/one.jsonl" --image "$work/notes.so@0x400000")
[ -n "$sanitized" ] || [ "$got" -lt 300000 ] || fail "info takes $got KiB"
finish
