#!/bin/bash
# replay's refusals: each says what is wrong, and nothing is served.
set -euo pipefail
tracewell=$TRACEWELL_BIN/tracewell
# AddressSanitizer reserves far more address space than any limit that would mean something.
limit=2000000
cases=$TRACEWELL_SOURCE/tests/formats
if grep -q __asan_init "$tracewell"; then limit=unlimited; fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
refused() {  # STATUS WORDS ARGUMENTS...: exit status and a part of the message
  local status=0
  (ulimit -v "$limit"; timeout 30 "$tracewell" replay "${@:3}" < /dev/null) 2> "$work/said" \
    || status=$?
  if [ "$status" != "$1" ] || ! grep -q -- "$2" "$work/said"; then
    echo "replay ${*:3}: status $status, said: $(cat "$work/said")"
    exit 1
  fi
}
# Nobody is told to come to what cannot be opened.
hooks=$(ls -d "$cases"/hooklog/*/input.hooks | head -1)
mkdir "$work/ctf"
printf '/* CTF 1.8 */\n/* tracewell */' > "$work/ctf/metadata"
for bad in "$work/none.tf" "$0" "$hooks" "$work/ctf"; do
  timeout 30 "$tracewell" replay "$bad" "unix:$work/early" 2> "$work/said" && exit 1
  if grep -q Listening "$work/said"; then
    echo "replay $bad: $(cat "$work/said")"
    exit 1
  fi
done
for bad in "$work/none" "$0" "$tracewell@1" "$tracewell@zz"; do
  timeout 30 "$tracewell" replay "$cases/tfile/gdb-tsave/input.tf" "unix:$work/early" \
    --image "$bad" 2> "$work/said" && exit 1
  if grep -q Listening "$work/said" || [ "$(wc -l < "$work/said")" != 1 ]; then
    echo "replay --image $bad: $(cat "$work/said")"
    exit 1
  fi
done
printf '\x7fTRACE0\nR 7fffffff\nstatus 0;tnotrun:0;tframes:0\n\n\0\0\0\0' > "$work/huge.tf"
refused 3 'register blocks of 131072 bytes' "$work/huge.tf" -
refused 4 'cannot open' "$work/none.tf" -
for bad in "$hooks" "$work/ctf"; do
  refused 3 'replay takes frames or executed instructions; this has hooks' "$bad" -
done
mkdir "$work/gdb.ctf"
printf '/* CTF 1.8 */\ntypealias integer { size = 8; } := uint8_t;' > "$work/gdb.ctf/metadata"
refused 3 "not of one of trace hooks (what GDB's tsave -ctf writes is not read; use tsave)" \
  "$work/gdb.ctf" -
printf 'not a trace' > "$work/text"
refused 3 'not a trace' "$work/text" -
refused 2 'COMM' "$work/huge.tf"
refused 4 "$work/text: Can't bind address: File exists" "$cases/tfile/gdb-tsave/input.tf" \
  "unix:$work/text"

# Ended by a signal, it says so.
"$tracewell" replay "$cases/tfile/gdb-tsave/input.tf" "unix:$work/socket" 2> >(cat > "$work/said") &
server=$!
until grep -q 'Listening on' "$work/said" 2> /dev/null; do sleep 0.05; done
kill -TERM "$server"
status=0
wait "$server" || status=$?
[ "$status" = 143 ] || { echo "status after SIGTERM: $status"; exit 1; }
[ ! -e "$work/socket" ] || { echo "the socket is left"; exit 1; }

# Nothing can be set here, and nothing is offered (`monitor help`; the console's text is hex).
status=0
printf '+$%s#%s' qRcmd,68656c70 fc |
  timeout 30 "$tracewell" replay "$cases/tfile/gdb-tsave/input.tf" - 2> "$work/said" |
  tr -d '\n' > "$work/answer" || status=$?
[ "$status" = 0 ] || { echo "status after the connection's end: $status"; exit 1; }
python3 - "$work/answer" <<'EOF'
import re, sys
answer = open(sys.argv[1], encoding="latin-1").read()
runs = re.sub(r"(.)\*(.)", lambda run: run[1] * (ord(run[2]) - 28), answer)
text = bytes.fromhex(re.search(r"\$O([0-9a-f]+)#", runs)[1]).decode()
assert "End the replay" in text and "GDBserver" not in text and "  set " not in text, text
EOF

# The next debugger begins where the first one did.
cp "$cases/data/synthetic_single.trace64" "$work/steps.trace64"
"$tracewell" replay "$work/steps.trace64" "unix:$work/steps" 2> "$work/said" &
server=$!
until grep -q 'Listening on' "$work/said" 2> /dev/null; do sleep 0.05; done
status=0
python3 - "$work/steps" <<'EOF' || status=$?
import re, socket, sys

class Debugger:
    def __init__(self):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(60)
        self.socket.connect(sys.argv[1])
        self.got = b""

    def ask(self, packet):
        """The console's text, and the answer."""
        self.socket.sendall(b"$%s#%02x" % (packet, sum(packet) % 256))
        text = ""
        while True:
            found = re.match(rb"[+]*[$](.*?)#..", self.got, re.S)
            if not found:
                more = self.socket.recv(4096)
                assert more, "the server is gone"
                self.got += more
                continue
            self.got = self.got[found.end():]
            self.socket.sendall(b"+")
            answer = re.sub(rb"(.)[*](.)", lambda run: run[1] * (run[2][0] - 28), found[1])
            if not answer.startswith(b"O") or answer == b"OK":
                return text, answer
            text += bytes.fromhex(answer[1:].decode()).decode()

    def monitor(self, command):
        return self.ask(b"qRcmd," + command.encode().hex().encode())[0]

first = Debugger()
start = first.monitor("where")
assert start.startswith("before step 0 of "), start
first.monitor("goto 30")
assert first.monitor("where").startswith("before step 30 of "), "goto"
first.socket.close()
second = Debugger()
assert second.monitor("where") == start, second.monitor("where")
EOF
kill -TERM "$server"
wait "$server" || [ $? = 143 ]
[ "$status" = 0 ]
