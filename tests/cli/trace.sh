#!/usr/bin/env bash
# trace, trcon, trcoff, trcstop under their own names, and programs with trace hooks: C and C++,
# static and shared, 32-bit; what babeltrace2 reads of their log.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/hooks_common.sh"
log=$work/log

# Programs as they are written for AIX.
cat >"$work/myc.c" <<'C'
#include <sys/types.h>
#include <sys/trchkid.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HKWD_CUSTOM 0x01000000
char s[]="malloc\0";
char s1[]="successful malloc";
int *i;
int j=5;
int k=20;

int main(void)
{
  i = (int *)malloc(10 * sizeof(int));
  TRCHKL4(HKWD_CUSTOM,*(unsigned long *)s,i,sizeof(int),10);
  TRCGEN(0,HKWD_CUSTOM|0x20,strlen(s1),strlen(s1),(char *)s1);
  TRCHKL3(HKWD_CUSTOM|1, i+5, j, k);
  TRCHKL0(0x01100000);
  TRCHKL1T(HKWD_USER2, -1);
  return 0;
}
C
build() {  # NAME COMPILER…: with the macros' headers and library
  local name=$1 folder=lib
  shift
  case "$*" in *-m32*) folder=lib32 ;; esac
  "$@" -I"$TRACEWELL_SOURCE/include/tracewell/aix" "$work/myc.c" -o "$work/$name" \
    -L"$build/$folder" -lrts || fail "$name does not build"
}
build c cc -Wl,-rpath,"$build/lib"

build cxx c++ -x c++ -Wl,-rpath,"$build/lib"
build static cc -static
programs=(c cxx static old)
if runs_32_bit_programs; then
  build c32 cc -m32 -Wl,-rpath,"$build/lib32"
  programs+=(c32)
fi
build old cc -ansi -O2 -Wl,-rpath,"$build/lib"

# Nothing is on: nothing happens.
"$work/c" || fail "a program without a trace"
trcstop 2>"$work/err" && fail "there was nothing to stop"
has 'no trace runs on channel 0' err
trcon -3 2>"$work/err" && fail "there was nothing to turn on"
has 'no trace runs on channel 3' err

trace -a -j 010,02 -m 'a "note"' -o "$log" || fail "trace"
trace -a -o "$work/other" 2>"$work/err" && fail "two on one channel"
has 'a trace runs on channel 0' err
for name in "${programs[@]}"; do "$work/$name" || fail "$name"; done
expect 0 print "$log"
has 'hook'
trcoff || fail "trcoff"
"$work/c"
trcon || fail "trcon"
trcstop || fail "trcstop"
[ -e "$log/.rings" ] && fail "rings are left"
[ -e "$log/.lock" ] && fail "a lock is left"
expect 0 print "$log" --format jsonl
python3 - "$work/out" ${#programs[@]} <<'PY' || fail "what was logged"
import json, sys
programs = int(sys.argv[2])
lines = [json.loads(line) for line in open(sys.argv[1])]
extras = dict(lines[0]["catalog"]["extras"]) if "extras" in lines[0]["catalog"] else {}
marks = [e["text"] for e in lines[1:] if e["kind"] == "mark"]
hooks = [e for e in lines[1:] if e["kind"] == "hook"]
assert [m for m in marks if m.startswith("TRACE")] == [
    "TRACE ON channel 0", "TRACE OFF channel 0", "TRACE ON channel 0", "TRACE OFF channel 0"], marks
assert sum(m.startswith("process ") for m in marks) == programs, marks
assert len(hooks) == programs * 4, len(hooks)  # 011 was not asked for
one = hooks[0]
assert (one["id"], one["subhook"], one["env"]) == ("0100", 0, 64), one
assert int(one["words"][0], 16).to_bytes(8, "little") == b"malloc\0\0", one
assert one["words"][2:] == ["0x4", "0xa"], one
generic = hooks[1]
assert generic["generic"] and bytes.fromhex(generic["data"]) == b"successful malloc", generic
assert generic["words"] == ["0x11"] and generic["subhook"] == 0x20, generic
three = hooks[2]
assert three["subhook"] == 1 and three["words"][1:] == ["0x5", "0x14"], three
assert int(three["words"][0], 16) == int(one["words"][1], 16) + 20, three
assert (hooks[3]["id"], hooks[3]["words"]) == ("0200", ["0xffffffffffffffff"]), hooks[3]
narrow = [h for h in hooks if h["env"] == 32]
if programs == 5:
    assert len(narrow) == 4 and narrow[3]["words"] == ["0xffffffff"], narrow
    assert narrow[0]["type"] == 6 and narrow[3]["type"] == 10, narrow
times = [e["time_ns"] for e in lines[1:]]
assert times == sorted(times) and None not in times
PY
babeltrace2 "$log" >"$work/out" 2>"$work/err" || fail "babeltrace2"
lines $((4 + 5 * ${#programs[@]}))
[ -s "$work/err" ] && fail "babeltrace2 complains: $(head -3 "$work/err")"
has 'TRCHKL4:'
[ ${#programs[@]} = 4 ] || has 'TRCHKL1T_32:'
expect 0 info "$log"
has 'hooklog'
expect 0 check "$log"

# The default log; the old one kept; all hooks but some; circular; off at first.
trace -alc -k 010 && trcoff && trcon || fail "trace -alc"
"$work/c"
trcstop || fail "trcstop"
trace -afcd || fail "trace -afcd"
"$work/c"
trcstop || fail "trcstop"
[ "$(id -u)" = 0 ] && default=/var/adm/ras/trcfile || default=$work/state/tracewell/trcfile
expect 0 print --where 'kind == "hook"' "$default.old"
lines 2
expect 1 print --where 'kind == "hook"' "$default"
rm -rf "$default" "$default.old"

# While a command runs; a channel of its own; the dialogue.
trace -x "$work/c" -o "$log" || fail "trace -x"
expect 0 print --where 'kind == "hook"' "$log"
lines 5
trace -ag -o "$work/generic"
[ $? = 1 ] || fail "trace -ag did not say channel 1"
trcstop -1 || fail "trcstop -1"
printf '!%s\ntrcoff\n!%s\nwhat\nq\n' "$work/c" "$work/c" | trace -o "$log" >"$work/out" ||
  fail "the dialogue"
has '!COMMAND'
expect 0 print --where 'kind == "hook"' "$log"
lines 5

# The C++ layer.
cat >"$work/typed.cc" <<'CC'
#include <tracewell/hooks.hpp>
enum class Colour : int { Red = 7 };
constexpr tracewell::HookId kRequest{0x0100};
int main() {
  tracewell::hook(kRequest);
  tracewell::hook(kRequest.subhook(2), -1, Colour::Red, &kRequest, 1.5, 'x');
  tracewell::hook<3>(kRequest, true);
  tracewell::hook_text(kRequest.subhook(3), 8u, "GET /");
}
CC
c++ -std=c++20 -Wall -Wextra -Wshadow -Werror -I"$TRACEWELL_SOURCE/include" "$work/typed.cc" \
  -o "$work/typed" -L"$build/lib" -lrts -Wl,-rpath,"$build/lib" || fail "typed.cc does not build"
sed 's/0x0100/0x0101/' "$work/typed.cc" >"$work/wrong.cc"
c++ -std=c++20 -fsyntax-only -I"$TRACEWELL_SOURCE/include" "$work/wrong.cc" 2>/dev/null &&
  fail "a wrong hook id builds"
trace -x "$work/typed" -o "$log" || fail "trace -x typed"
expect 0 print --where 'kind == "hook"' "$log"
lines 3
has '0100.2 0xffffffffffffffff 0x7 0x'
has '0x3ff8000000000000 0x78'
has '0100.3 0x8  474554202f'

# Control from a program.
cat >"$work/self.c" <<'C'
#include <stdio.h>
#include <string.h>
#include <sys/trcctl.h>
#include <sys/trchkid.h>
int main(int argc, char **argv)
{
  char words[4096];
  int channel;
  strcat(strcpy(words, "-j 010 -o "), argv[argc - 1]);
  channel = trcstart(words);
  if (channel != 0 || trcstart(words) != -1) return 1;
  utrchook(0x01000000, 1, 2, 3, 4, 5);
  if (trcoff(channel) != 0) return 2;
  trchook(0x01000000, 1, 2, 3, 4, 5);
  if (trcon(channel) != 0) return 3;
  trcgen(0, 0x01000000, 6, 2, "ab");
  trcgent(0, 0x01000000, 6, 2, "cd");
  if (trcstop(channel) != 0 || trcstop(channel) != -1 || trcon(8) != -1) return 4;
  return 0;
}
C
cc -I"$TRACEWELL_SOURCE/include/tracewell/aix" "$work/self.c" -o "$work/self" -L"$build/lib" \
  -lrts -Wl,-rpath,"$build/lib" || fail "self.c does not build"
"$work/self" "$log" 2>"$work/err" || fail "self: $?"
expect 0 print --where 'kind == "hook"' "$log"
lines 3
has '0100.0 0x1 0x2 0x3 0x4 0x5'
has '0100.0 0x6  6364'

# Only of some processes and threads, and of those that they start.
cat >"$work/who.c" <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/trchkid.h>
#include <sys/wait.h>
#include <unistd.h>
static void *other(void *nothing) { TRCHKL1(HKWD_USER1, 2); return nothing; }
int main(int argc, char **argv)
{
  pthread_t thread;
  char c;
  printf("%d\n", (int)getpid());
  fflush(stdout);
  if (argc > 1 && read(0, &c, 1) != 1) return 1;
  TRCHKL1(HKWD_USER1, 1);
  pthread_create(&thread, 0, other, 0);
  pthread_join(thread, 0);
  if (fork() == 0) { TRCHKL1(HKWD_USER1, 3); _exit(0); }
  wait(0); /* one whose parent is gone is nobody's child */
  return argc > 1 ? system(argv[1]) : 0;
}
C
cc -I"$TRACEWELL_SOURCE/include/tracewell/aix" "$work/who.c" -o "$work/who" -L"$build/lib" -lrts \
  -pthread -Wl,-rpath,"$build/lib" || fail "who.c does not build"
chosen() {  # WANTED OPTION [OPTIONS…]: whose hooks are recorded; OPTION gets the process
  local wanted=$1 option=$2
  shift 2
  coproc who { exec "$work/who" "$work/c"; }
  local pid=$who_PID
  read -r _ <&"${who[0]}"
  trace -a -o "$log" "$option" "$pid" "$@" || fail "trace $option $*"
  echo >&"${who[1]}"
  wait "$pid"
  "$work/c"
  trcstop
  expect 0 print --where 'kind == "hook" && id == 0x0100' "$log" --format jsonl
  got=$(python3 -c '
import json, sys
hooks = [json.loads(line) for line in open(sys.argv[1])][1:]
print(*sorted(int(h["words"][0], 16) if len(h["words"]) == 1 and not h["generic"] else 9
              for h in hooks))' "$work/out")
  [ "$got" = "$wanted" ] || fail "trace $option $*: $got, not $wanted"
}
chosen '1 2' -A
chosen '1 2' -A -P n
chosen '1 2 3 9 9 9' -A -P p
chosen '1' -t
chosen '1 2' -t -P t
trace -a -A 0 2>"$work/err" && fail "-A 0"
has "'0' is no number" err
for option in -A -t; do
  trace -a "$option" 1999999999 -o "$work/nobody" 2>"$work/err"
  [ $? = 2 ] || fail "$option of nobody"
  has "$option: there is no " err
  has ' 1999999999' err
  [ ! -e "$work/nobody" ] || fail "$option of nobody: a log"
done
trace -a -P p 2>"$work/err" && fail "-P alone"
has "-P needs -A or -t" err

# What is refused, by name.
refused() {  # OPTION TEXT [VALUE]
  trace -a "$1" ${3:+"$3"} -o "$log" 2>"$work/err"
  [ $? = 2 ] || fail "trace $1"
  has "$1: " err
  has "$2" err
}
refused -r 'are POWER'"'"'s; -p records the processor' PURR
refused -M 'keep /proc/PID/maps beside it'
refused -N '-n notes the system'
refused -I 'perf record -e irq'
refused -h '`report -h` leaves it out'
refused -W '-A and -t choose'
refused -@ '-A and -t choose' all
refused -b '-T says how large'
refused -B '-T says how large'
trace -a -j 01g 2>"$work/err" && fail "no hook"
has "'01g' is no hook" err
trace -a -L much 2>"$work/err" && fail "no size"
has "'much' is no size" err
trace -a -s 2>"$work/err" && fail "-s without -L"
mkdir "$work/mine"
trace -a -o "$work/mine" 2>"$work/err" && fail "a folder that is no log"
has 'is no log of trace hooks' err
chmod 777 "$work/run/tracewell"
trace -a -o "$log" 2>"$work/err" && fail "a folder that is open to others"
has 'is open to others' err
"$work/c" || fail "a program whose control file is open to others"
chmod 700 "$work/run/tracewell"

# Each site left a note.
readelf -n "$work/c" >"$work/out"
[ "$(grep -c "^  tracewell" "$work/out")" = 5 ] || fail "notes of hook sites"

finish
