#!/usr/bin/env bash
# tracewell buffers: what killed servers have left. Living ones: tests/live/buffer_survives.py.
. "$(dirname "$0")/common.sh"
export XDG_RUNTIME_DIR=$work/run
mkdir -m 700 "$work/run"
folder=$work/run/tracewell

# There is no folder, and none is made.
expect 0 buffers
has 'no trace buffers in'
expect 0 buffers --json
has '[]'
[ -e "$folder" ] && fail "a folder was made"
expect 1 buffers --delete 77.twb
has 'no trace buffer 77.twb' err

mkdir -m 700 "$folder"
cp "$cases/tracebuffer/killed/input.twb" "$folder/1234.twb"
head -c 100 "$folder/1234.twb" >"$folder/99.twb"
echo something else >"$folder/notes.txt"
ln -s "$folder/1234.twb" "$folder/link.twb"
expect 0 buffers
has 'left behind, server 1234'
has '3 frames, 65 bytes'
has '/99.twb: the file ends inside its header'
has 'left behind, but cannot be read'
lines 5
expect 0 buffers --json
python3 - "$work/out" <<'PY' || fail "JSON"
import json, sys
good, bad = json.load(open(sys.argv[1]))
assert good["name"] == "1234.twb" and good["path"].endswith("/tracewell/1234.twb"), good
assert not good["in_use"] and good["agent_pid"] == 1234 and good["frames"] == 3, good
assert bad["name"] == "99.twb" and bad["problem"], bad
PY
expect 0 info "$folder/1234.twb"
has 'cut off: its server was killed'
has 'note agent-killed'
expect 0 check "$folder/1234.twb"
has 'sound, 3 events'

# Only buffers, and only there.
for name in notes.txt ../tracewell/1234.twb /etc/passwd . ''; do
  expect 1 buffers --delete "$name"
done
[ -e "$folder/1234.twb" ] || fail "deleted by a name that is not listed"
# As it is listed, by name, and by number.
cp "$folder/1234.twb" "$folder/5.twb"
expect 0 buffers --delete "$folder/1234.twb" --delete 99.twb --delete 5
lines 0
for name in 1234 99 5; do
  [ -e "$folder/$name.twb" ] && fail "$name: not deleted"
done
expect 1 buffers --delete "$folder/1234.twb"
has "no trace buffer $folder/1234.twb in $folder" err
[ -e "$folder/notes.txt" ] || fail "deleted what is no buffer"

# All at once, but for what a server uses and what is no file of ours alone.
expect 2 buffers --delete-all --delete 5
for name in 5 6 mine 7 8; do cp "$cases/tracebuffer/killed/input.twb" "$folder/$name.twb"; done
ln "$folder/8.twb" "$folder/second-name"
python3 - "$folder/7.twb" "$tracewell" >"$work/out" 2>"$work/err" <<'PY' || fail "--delete-all"
import fcntl, struct, subprocess, sys
used = open(sys.argv[1], "r+b")
# F_OFD_SETLK: as a server has it
fcntl.fcntl(used, 37, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0))
sys.exit(subprocess.run([sys.argv[2], "buffers", "--delete-all"]).returncode)
PY
lines 5
for name in 5 6 mine; do has "deleted $folder/$name.twb"; done
has "not deleted: 7.twb is in use by a server"
has "not deleted: cannot write $folder/8.twb: it has 2 names"
(cd "$folder" && echo *) >"$work/out"
has '7.twb 8.twb link.twb notes.txt second-name'
lines 1
rm "$folder/second-name"
expect 0 buffers --delete-all
lines 2
expect 0 buffers --delete-all
has 'no trace buffers in'
expect 0 buffers --delete-all --json
has '[]'
lines 1

# A folder that others can write to may hold anything.
chmod 777 "$folder"
expect 4 buffers
has 'is open to others' err

finish
