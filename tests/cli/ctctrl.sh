#!/usr/bin/env bash
# ctctrl: components of running programs, by name, alias and type: levels, memory and system mode,
# buffers that are dumped and outlive their program, and what holds for components that come later.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/hooks_common.sh"
export TRACEWELL_COMPONENTS=$work/good TRACEWELL_COMPONENT_LOGS=$work/ct
cat >"$work/parts.c" <<'C'
#include <stdio.h>
#include <string.h>
#include <sys/ras_trace.h>
#include <sys/trchkid.h>
static ras_block_t net, tcp, disk;
static void fire(unsigned long round)
{
  unsigned level;
  for (level = 0; level <= 9; ++level) {
    CT_HOOK2(net, level, MT_PRIV | MT_SYSTEM, HKWD_USER1, level, round);
    CT_HOOK1(tcp, level, MT_PRIV | MT_RARE, HKWD_USER2, level);
    CT_HOOK5_COMMON(disk, level, HKWD_USER3, level, 2, 3, 4, 5);
  }
  CT_GEN(net, 1, HKWD_USER1 | 1, 1 + 0 * round, 5, "bytes");
  CT_HOOK0_PRIV(RAS_BLOCK_NULL, 0, HKWD_USER1);
}
int main(int argc, char **argv)
{
  char line[100];
  unsigned long round = 0;
  net = tracewell_component_register("server.net", "net", "io_network");
  tcp = tracewell_component_register("server.net.tcp", "tcp", "io_network");
  disk = tracewell_component_register("server.disk", "disk", "io_disk");
  if (tracewell_component_register("a name", 0, 0) != RAS_BLOCK_NULL) return 2;
  if (tracewell_component_register("a/b", 0, 0) != RAS_BLOCK_NULL) return 3;
  puts("ready");
  fflush(stdout);
  while (fgets(line, sizeof line, stdin)) {
    if (line[0] == 'u') { tracewell_component_unregister(tcp); tcp = RAS_BLOCK_NULL; }
    fire(round++);
    puts("done");
    fflush(stdout);
  }
  return argc < 0 || argv == 0;
}
C
for kind in c cxx; do
  compiler=cc
  [ $kind = cxx ] && compiler='c++ -x c++'
  # shellcheck disable=SC2086
  $compiler -Wall -Wextra -Wshadow -O2 -I"$TRACEWELL_SOURCE/include/tracewell/aix" \
    "$work/parts.c" -o "$work/parts" -L"$TRACEWELL_BIN/../lib" -lrts \
    -Wl,-rpath,"$TRACEWELL_BIN/../lib" 2>"$work/err" || fail "parts.c as $kind"
  [ -s "$work/err" ] && fail "warnings: $(head -3 "$work/err")"
done
start() {
  coproc parts { exec "$work/parts"; }
  pid=$parts_PID in=${parts[1]} out=${parts[0]}
  read -r line <&"$out"
}
fire() {  # [u]: one round of hooks; unregisters server.net.tcp before
  echo "${1:-f}" >&"$in"
  read -r line <&"$out"
}
hooks() {  # LOG WORDS: its hooks, as ID:LEVEL
  "$tracewell" print "$1" --where 'kind == "hook"' --format jsonl >"$work/out" 2>"$work/err"
  local got
  got=$(python3 -c '
import json, sys
for line in open(sys.argv[1]):
    h = json.loads(line)
    if "id" in h: print(h["id"][1:2] + ":" + str(int(h["words"][0], 16)), end=" ")' \
    "$work/out")
  [ "$got" = "$2" ] || fail "$1: $got, not $2"
}

expect 1 ctctrl -q
has 'no running program has components' err
start
fire
expect 0 ctctrl -q
for text in 'server.net.tcp' 'io_disk' "$pid" 'common' 'rare'; do has "$text"; done
lines 6
expect 1 ctctrl -q -c nothing
has 'no running program has such a component' err
expect 0 ctctrl -q -c server.net
lines 2
expect 0 ctctrl -q -r -c server.net
lines 3
expect 0 ctctrl -q -u -l tcp
lines 3
expect 0 ctctrl -q -t 'io_*'
lines 4
expect 0 ctctrl -q -c 'server.[dn]*'
lines 4
expect 1 ctctrl -D -d "$work/snap"
has 'nothing is in the buffers of these components' err
expect 1 ctctrl -D -c nosuch -d "$work/snap"
has 'no running program has such a component' err
[ ! -e "$work/snap" ] || fail 'a folder for nothing'
expect 1 ctctrl --forget
has 'no dead program has left buffers' err
expect 1 ctctrl -c none memtraceon
has 'no running program has such a component' err

# Memory mode, at the normal level and others; private, common and rare buffers.
expect 0 ctctrl -c server.net memtraceon
fire
expect 0 ctctrl -D -d "$work/first"
has "$work/first/server.net"
lines 1
hooks "$work/first/server.net" '1:0 1:1 1:2 1:3 1:1 '
babeltrace2 "$work/first/server.net" >"$work/out" 2>"$work/err" || fail "babeltrace2"
[ -s "$work/err" ] && fail "babeltrace2 complains: $(head -3 "$work/err")"
expect 0 info "$work/first/server.net"
has 'server.net'
expect 0 ctctrl -c server.net memtracesuspend
fire
expect 0 ctctrl -c server.net memtraceminimal
expect 0 ctctrl -c server.net memtraceresume
fire
expect 0 ctctrl -D
hooks "$work/ct/server.net" '1:0 1:1 1:2 1:3 1:1 1:0 1:1 1:1 '
expect 0 ctctrl -c server.net -c common -c rare -l disk -l tcp memtraceon memtracelevel=2
expect 0 ctctrl -c server.net memtracebufsize=1m
fire
expect 0 ctctrl -D
lines 4
hooks "$work/ct/server.net" '1:0 1:1 1:2 1:1 '
hooks "$work/ct/server.net.tcp" '2:0 2:1 2:2 '
hooks "$work/ct/rare" '2:0 2:1 2:2 '
hooks "$work/ct/common" '3:0 3:1 3:2 '

# The report chooses logs by components, too.
export TRACEWELL_TEMPLATES=$work/none
expect 0 report -h -l server.net -O timestamp=3,ids=off -d 010
[ "$(grep -c '^ *UNDEFINED' "$work/out")" = 4 ] || fail "report -l server.net"
expect 0 report -h -m -l 'all' -O component=on,timestamp=3
expected=$(printf '%s\n' 'common 030' 'rare 020' 'server.net 010' 'server.net.tcp 020')
[ "$(awk '/UNDEFINED/ {print $1, $2}' "$work/out" | sort -u)" = "$expected" ] ||
  fail "report -l all"
expect 0 report -l "rare,server.*:$work/ct" -O component=on
[ "$(grep '^Component: ' "$work/out" | paste -sd' ')" = \
  'Component: rare Component: server.net Component: server.net.tcp' ] || fail "-l with a folder"
has 'COMPONENT         ID'
mkdir "$work/ct/other"  # no log of a component
expect 1 report -l other
has "there is no log of component other in $work/ct" err
expect 4 report -l "all:$work/nowhere"
expect 2 report -l ":$work/ct"
rmdir "$work/ct/other"

expect 0 ctctrl -c all memtraceoff
expect 1 ctctrl -D
fire

# System mode: into the trace on channel 0.
trace -a -o "$work/log"
fire
expect 0 ctctrl -l net systraceon systracelevel=4
fire
trcstop
fire
hooks "$work/log" '1:0 1:1 1:2 1:3 1:4 1:1 '

# Set up by trace itself.
expect 0 ctctrl -c server.net systraceoff
trace -a -o "$work/log" -e '-c server.net systraceon systraceminimal' || fail "trace -e"
fire
trcstop
hooks "$work/log" '1:0 1:1 1:1 '
trace -a -o "$work/log" -e '-c server.net nonsense' 2>"$work/err" && fail "trace -e nonsense"
has "was not done" err
expect 0 ctctrl -c server.net systraceoff

# Buffers outlive a program that is killed; they are forgotten when that is said.
expect 0 ctctrl -c server.net.tcp memtracemax memtraceon
fire
kill -9 "$pid"
wait "$pid" 2>/dev/null
expect 0 ctctrl -q -c server.net.tcp
has '(dead)'
expect 0 ctctrl -D -c server.net.tcp
hooks "$work/ct/server.net.tcp" '2:0 2:1 2:2 2:3 2:4 2:5 2:6 2:7 2:8 2:9 '
expect 0 ctctrl --forget
expect 1 ctctrl --forget
expect 1 ctctrl -q

# What holds for those that come: for now, and for good; unregistered ones are gone.
expect 0 ctctrl -p -c server.net -r memtraceon
expect 0 ctctrl -P -t 'io_*' memtracelevel=1 memtracebufsize=128k
expect 0 ctctrl -q -p
diff - "$work/out" <<<'c server.net memory=1
c server.net.* memory=1' || fail "the rules of -p"
expect 0 ctctrl -q -P
diff - "$work/out" <<<'t io_* memory_level=1 buffer=131072' || fail "the rules of -P"
start
fire
expect 0 ctctrl -D
lines 2
hooks "$work/ct/server.net.tcp" '2:0 2:1 '
expect 0 ctctrl -q -c server.disk
has '131072'
fire u
expect 1 ctctrl -q -l tcp
expect 0 ctctrl -x -p
expect 0 ctctrl -q -p
lines 0
expect 0 ctctrl -x -P -t 'io_*'
expect 0 ctctrl -q -P
lines 0
eval "exec $in>&-"
wait "$pid" 2>/dev/null
expect 0 ctctrl --forget
start
eval "exec $in>&-"
wait "$pid" 2>/dev/null
expect 1 ctctrl -q

for wrong in '-c a memtracelevel=10' '-c a memtracefilltime' '-c a' 'memtraceon' '-x' '-q -D' \
    '-c a systracebufsize=1m' '-c a memtracebufsize=much'; do
  read -ra words <<<"$wrong"
  expect 2 ctctrl "${words[@]}"
done
for size in 1 127k 65m 100g; do
  expect 2 ctctrl -c a memtracebufsize=$size
  has "memtracebufsize: $size is too " err
  has ': 128k to 64m' err
done
finish
