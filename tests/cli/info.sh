#!/usr/bin/env bash
# tracewell info
. "$(dirname "$0")/common.sh"
file=$cases/tfile/gdb-tsave/input.tf

expect 0 info "$file"
has 'format     tfile, GDB trace file'
has 'machine    x86-64, little endian, 64-bit addresses'
has 'records    13'
has 'registers  148 in blocks of 2416 bytes'
has 'stopped by the pass count of tracepoint 4'
has 'tracepoint 3 at 0x401195 (prog.c:9), 1 hit'
has 'if n > 1'
has 'problems   none'

expect 0 info --json "$file"
python3 - "$work/out" <<'EOF' || fail 'info --json'
import json, sys
info = json.load(open(sys.argv[1]))
assert list(info)[:6] == ["format", "arch", "endian", "records", "threads", "problems"]
assert (info["format"], info["arch"], info["endian"]) == ("tfile", "x86-64", "little")
assert (info["records"], info["threads"], info["problems"]) == (13, 0, [])
assert [one["number"] for one in info["tracepoints"]] == [4, 3, 2]
assert info["variables"][1] == {"number": 2, "name": "n", "initial_value": 5}
EOF

# Frames of a buffer that take more when they are saved: as many bytes as a tfile of them has.
buffer=$cases/tracebuffer/compact-sparse/input.twb
expect 0 info "$buffer"
has 'saved      the frames take 1596 bytes when they are saved, and 184 here'
expect 0 convert "$buffer" "$work/saved.tf"
python3 - "$work/saved.tf" <<'EOF' || fail 'the size that info tells'
import sys
data = open(sys.argv[1], "rb").read()
frames = data[data.index(b"\n\n") + 2:]
at = 0
while frames[at:at + 2] != b"\0\0":
    at += 6 + int.from_bytes(frames[at + 2:at + 6], "little")
assert at == 1596, at
EOF
expect 0 info --json "$buffer"
has '"saved": "the frames take 1596 bytes'
expect 0 info "$cases/tracebuffer/compact/input.twb"
grep -q 'when they are saved' "$work/out" && fail 'a size that is no surprise'

# Damage is located.
head -c 30000 "$file" >"$work/cut.tf"
expect 0 info --json "$work/cut.tf"
python3 - "$work/out" <<'EOF' || fail 'info --json of a cut file'
import json, sys
info = json.load(open(sys.argv[1]))
assert 0 < info["records"] < 13
assert "frame-cut" in [one["code"] for one in info["problems"]]
assert info["problems"][0]["offset"] < 30000
EOF
expect 3 info --strict "$work/cut.tf"

# Marks and losses are no records; threads are counted.
cat >"$work/events.jsonl" <<'EOF'
{"catalog":{"machine":"x86-64"}}
{"kind":"frame","tid":1,"tracepoint":1}
{"kind":"step","tid":2,"pc":"0x1"}
{"kind":"hook","tid":2,"id":"0010"}
{"kind":"mark","text":"on"}
{"kind":"lost","count":4}
EOF
expect 0 info --json "$work/events.jsonl"
has '"records": 3'
has '"threads": 2'
"$tracewell" info - <"$file" >"$work/out" || fail 'standard input'
has 'records    13'

# Both byte orders of a machine that has both.
"$tracewell" info --json --endian big "$file" >"$work/out" 2>"$work/err"
has '"endian": "big"'
expect 2 info --endian sideways "$file"

# What a status does not report is not known, and nobody says that it was 0.
status() {
  printf '\x7fTRACE0\nR 4\nstatus %s\n\n\0\0\0\0' "$1" >"$work/status.tf"
  expect 0 info "$work/status.tf"
}
hasnt() {
  grep -qiF -- "$1" "$work/out" && fail "\"$1\" is in out: $(cat "$work/out")"
}
status '0;tfull:0;tsize:500000'
has 'buffer of 5242880 bytes'
hasnt 'free'
hasnt 'created'
hasnt 'started'
hasnt 'kept'
expect 0 info --json "$work/status.tf"
python3 - "$work/out" <<'END' || fail 'info --json of a status that says little'
import json, sys
assert json.load(open(sys.argv[1]))["status"] == {
    "running": False, "stop": "buffer-full", "buffer_size": 5242880}
END
status '0;tstop::0;tfree:10'
has 'buffer, 16 bytes free'
status '0;tstop::0;tcreated:5'
has '5 frames created'
status '0'
has 'status     not known'
hasnt 'buffer'
status '0;tpasscount:'
has 'stopped by the pass count of a tracepoint'
status '0;terror::'
has 'stopped by an error at a tracepoint'
hasnt 'tracepoint 0'
status '0;tfull:0;tframes:0;tcreated:0;tfree:0;tsize:5'
has '0 frames kept of 0 created'
has 'buffer of 5 bytes, 0 free'
printf '{"catalog":{"status":{"frames":0}}}\n' >"$work/status.jsonl"
expect 0 info "$work/status.jsonl"
has 'status     not known'
printf '\x7fTRACE0\nR 4\n\n\0\0\0\0' >"$work/status.tf"
expect 0 info "$work/status.tf"
grep -q '^status' "$work/out" && fail 'a status that is not there'

# Where a module was is not known: nobody says that it was at 0.
cat >"$work/module.jsonl" <<'END'
{"catalog":{"endian":"little","machine":"x86-64","modules":[{"path":"C:\\a.exe"}]}}
{"seq":0,"kind":"step","tid":1,"pc":"0x401000","opcode":"90"}
END
expect 0 info "$work/module.jsonl"
has 'module     C:\a.exe (where it was is not known)'
expect 0 info --json "$work/module.jsonl"
python3 - "$work/out" <<'END' || fail 'info --json of a module without a place'
import json, sys
assert json.load(open(sys.argv[1]))["modules"] == [{"path": "C:\\a.exe"}]
END
expect 1 convert "$work/module.jsonl" "$work/module.drcov"
expect 0 convert "$work/module.jsonl" "$work/module.drcov" --module b.exe@0x401000,0x1000
grep -aq 'Module Table: version 2, count 1' "$work/module.drcov" || fail 'a module at 0 in drcov'
finish
