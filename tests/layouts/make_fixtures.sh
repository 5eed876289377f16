# Makes fixtures of the layouts that a build writes: bash make_fixtures.sh BUILD OUT. Run it as
# root with the last build that writes a version, and keep here what the next one changes, under
# its version. Needs gdb. It is no test, hence not executable.
set -eu
umask 077
build=$(realpath "$1") out=$(realpath -m "$2") bin=$(realpath "$1")/bin
source=$(cd "$(dirname "$0")/../.." && pwd)
# What the files name: nothing of whoever made them.
work=/tmp/tracewell-layouts
mkdir -m 700 "$work" "$work/run"
trap 'rm -rf "$work"' EXIT
export XDG_RUNTIME_DIR=$work/run XDG_STATE_HOME=$work/state
export TRACEWELL_COMPONENTS=$work/rules TRACEWELL_COMPONENT_LOGS=$work/ct
unset TRACEWELL_LOG TRACEWELL_TEMPLATES
mkdir -p "$out"
cp "$source/tests/layouts/steps.jsonl" "$source/tests/layouts/hooks.c" \
  "$source/tests/layouts/frames.c" "$work"
cd "$work"

# An x64dbg trace with user blocks of ours, its index, notes of a person.
"$bin/tracewell" convert steps.jsonl run.trace64
touch -d '2026-11-30 12:00:00 UTC' run.trace64  # the index has it
"$bin/tracewell" at run.trace64 2 >/dev/null
"$bin/tracewell" note run.trace64 2 'a note beside the trace' >/dev/null
cp -p run.trace64 run.trace64.tidx run.trace64.notes "$out"

# A trace buffer, as it is when its server is killed, and what a trace file has of it. (Servers of
# the first days removed it even then.)
cc -O0 -g -no-pie frames.c -o frames
"$bin/tracewell" serve --buffer "$work/live.twb" unix:"$work/socket" ./frames \
  >served 2>&1 </dev/null &
server=$!
while ! grep -qs Listening served; do sleep 0.05; done
cat >commands <<'END'
set confirm off
target remote socket
set trace-buffer-size 40000
break done
trace count
actions 2
collect number, $rip
end
tstart
continue
shell cp live.twb frames.twb
kill
END
gdb -q -batch -nx -x commands frames >gdb.log 2>&1
wait $server  # it ends with its program
"$bin/tracewell" convert frames.twb frames.tf
gzip -9n <frames.twb >"$out/frames.twb.gz"
cp frames.tf "$out"

# A session of hooks whose rings nobody has taken, of a program with a component; then of one that
# has no room for rings, and counts what it loses. The same log once its session has ended.
cc -I"$source/include/tracewell/aix" hooks.c -o hooks -L"$build/lib" -lrts \
  -Wl,-rpath,"$build/lib"
PATH=$bin/aix:$PATH
ctctrl -p -c layouts.part memtraceon
trace -a -l -T 64k -o "$work/log"
./hooks
(ulimit -f 60 && ./hooks)
keep() { tar -cf - --owner=0 --group=0 --sort=name "$1" | gzip -9n >"$2"; }
keep log "$out/rings.tar.gz"
(cd run && keep tracewell "$out/control.tar.gz")
trcstop  # it says what was lost
keep log "$out/log.tar.gz"
