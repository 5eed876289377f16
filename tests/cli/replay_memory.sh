#!/usr/bin/env bash
# A debugger reads no memory that nobody knows: not what a system call will write, nor code that is
# still to be written.
. "$(dirname "$0")/common.sh"
cat >"$work/run.jsonl" <<END
{"catalog":{"machine":"x86-64"}}
{"kind":"step","tid":7,"pc":"0x1000","opcode":"90"}
{"kind":"step","tid":7,"pc":"0x1001","opcode":"c6042500200000f4","memory":[\
{"addr":"0x2000","size":1,"access":"write","new":"f4"}]}
{"kind":"step","tid":7,"pc":"0x1009","opcode":"90"}
{"kind":"step","tid":7,"pc":"0x2000","opcode":"f4"}
{"kind":"step","tid":7,"pc":"0x2001","opcode":"0f05"}
{"kind":"step","tid":7,"pc":"0x2003","opcode":"488b042500700000","memory":[\
{"addr":"0x7000","size":8,"access":"read","old":"6b65793d34320a00"}]}
{"kind":"step","tid":7,"pc":"0x200b","opcode":"0f05"}
{"kind":"step","tid":7,"pc":"0x200d","opcode":"90"}
{"kind":"step","tid":7,"pc":"0x200e","opcode":"90"}
END
python3 - "$tracewell" "$work/run.jsonl" >"$work/out" <<'PYTHON' || fail 'the debugger'
import re, subprocess, sys

server = subprocess.Popen([sys.argv[1], "replay", sys.argv[2], "-"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

def packet(text):
    data = text.encode()
    server.stdin.write(b"$%s#%02x" % (data, sum(data) % 256))
    server.stdin.flush()
    while True:
        while server.stdout.read(1) != b"$":
            pass
        said = b""
        while not said.endswith(b"#"):
            said += server.stdout.read(1)
        server.stdout.read(2)
        server.stdin.write(b"+")
        server.stdin.flush()
        answer = re.sub(r"(.)\*(.)", lambda run: run[1] * (ord(run[2]) - 28),
                        said[:-1].decode("latin-1"))
        if not re.fullmatch("O([0-9a-f][0-9a-f])+", answer):
            return answer

def memory(step, address, size):
    assert packet("qRcmd," + ("goto %d" % step).encode().hex()) == "OK"
    answer = packet("m%x,%x" % (address, size))
    return None if answer.startswith("E") else answer

packet("?")
for step, address, size in [
        (0, 0x7000, 8), (4, 0x7000, 8), (5, 0x7000, 8), (6, 0x7000, 8), (7, 0x7000, 8),
        (0, 0x2000, 1), (1, 0x2000, 1), (2, 0x2000, 1), (8, 0x2000, 1),
        (0, 0x1009, 1), (4, 0x1000, 10), (0, 0x2003, 8), (4, 0x2003, 1), (5, 0x2003, 8)]:
    print(step, hex(address), memory(step, address, size))
server.stdin.close()
server.wait()
PYTHON
cat >"$work/wanted" <<'END'
0 0x7000 None
4 0x7000 None
5 0x7000 6b65793d34320a00
6 0x7000 6b65793d34320a00
7 0x7000 6b65793d34320a00
0 0x2000 None
1 0x2000 None
2 0x2000 f4
8 0x2000 f4
0 0x1009 90
4 0x1000 90c6042500200000f490
0 0x2003 None
4 0x2003 None
5 0x2003 488b042500700000
END
diff "$work/wanted" "$work/out" || fail 'what was read'
finish
