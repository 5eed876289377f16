#!/usr/bin/env bash
# trace -p and -C: hooks say on which processor they were, and are chosen by that: 64-bit, 32-bit
# and static programs, components; what babeltrace2 reads of it.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/hooks_common.sh"
log=$work/log

# On each of the processors that are named, one after the other.
cat >"$work/where.c" <<'C'
#define _GNU_SOURCE
#include <sched.h>
#include <stdlib.h>
#include <sys/ras_trace.h>
#include <sys/trchkid.h>
int main(int argc, char **argv)
{
  int i;
  ras_block_t part = tracewell_component_register("part", 0, 0);
  for (i = 1; i < argc; ++i) {
    const int cpu = atoi(argv[i]);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0) return 1;
    TRCHKL0(0x01100000);
    TRCHKL5(0x01000005, cpu, 2, 3, 4, 5);
    TRCHKL1T(0x01000001, cpu);
    TRCGEN(0, 0x01000020, cpu, 5, "hello");
    TRCGENT(0, 0x01000021, cpu, 0, "");
    CT_HOOK1(part, 1, MT_SYSTEM, 0x01000031, cpu);
  }
  return 0;
}
C
build() {  # NAME FOLDER OPTION…
  local name=$1 folder=$2
  shift 2
  cc -O2 -Wall -Werror "$@" -I"$TRACEWELL_SOURCE/include/tracewell/aix" "$work/where.c" \
    -o "$work/$name" -L"$build/$folder" -lrts "-Wl,-rpath,$build/$folder" ||
    fail "$name does not build"
}
build wide lib
programs=(wide static)
if runs_32_bit_programs; then
  build narrow lib32 -m32
  programs+=(narrow)
fi
build static lib -static
mapfile -t cpus < <(python3 -c 'import os; print(*sorted(os.sched_getaffinity(0))[:2], sep="\n")')
first=${cpus[0]}
all=$(printf %04X "$(getconf _NPROCESSORS_CONF)")

# Each hook's word is the processor that it was on. CHECK PROGRAMS×HOOKS FILE: and so say all.
cat >"$work/check.py" <<'PY'
import json, subprocess, sys
wanted, log, given = int(sys.argv[1]), sys.argv[2], sys.argv[3]
hooks = [e for e in map(json.loads, open(given)) if e.get("kind") == "hook"]
assert len(hooks) == wanted, len(hooks)
for hook in hooks:
    assert "cpu" in hook, hook
    assert not hook["words"] or int(hook["words"][0], 16) == hook["cpu"], hook
others = subprocess.run(["babeltrace2", log], capture_output=True, text=True)
assert others.returncode == 0 and not others.stderr, others.stderr
lines = [line for line in others.stdout.splitlines() if " TRC" in line]
assert len(lines) == wanted, len(lines)
for line, hook in zip(lines, hooks):
    assert f"cpu = {hook['cpu']} }}" in line, (line, hook)
PY
check() {
  expect 0 print "$log" --format jsonl
  python3 "$work/check.py" "$1" "$log" "$work/out" || fail "$2"
}

trace -a -p -o "$log" || fail "trace -p"
for name in "${programs[@]}"; do "$work/$name" "${cpus[@]}" || fail "$name"; done
trcstop || fail "trcstop"
check $((${#programs[@]} * 5 * ${#cpus[@]})) "trace -p"
cat >"$work/mine" <<'T'
011 1.0 "" on $CPUID of $TRACEDCPUS of $TOTALCPUS
T
expect 0 report "$log" -O cpuid=on -t "$work/mine" -d 011
[ "$(grep -c '^ID    CPU ' "$work/out")" = 1 ] || fail "no column"
wanted=$(printf '^011 *%d  .*on %04X of %s of %s$' "$first" "$first" "$all" "$all")
[ "$(grep -c "$wanted" "$work/out")" = ${#programs[@]} ] || fail "report -O cpuid=on"
expect 0 report "$log" -C "$first" -d 011
[ "$(grep -c '^ID    CPU ' "$work/out")" = 1 ] || fail "report -C has no column"
[ "$(grep -c '^011 ' "$work/out")" = ${#programs[@]} ] || fail "report -C"
expect 0 print --where "cpu == $first && id == 0x0110" "$log"
lines ${#programs[@]}

# A component's hooks in the system trace, too.
ctctrl -p -c part systraceon || fail "ctctrl -p"
trace -a -p -j 010 -o "$log" || fail "trace -p -j"
"$work/wide" "${cpus[@]}" || fail "with a component"
trcstop
check $((5 * ${#cpus[@]})) "trace -p -j with a component"
has '"subhook":49'
ctctrl -x -p -c part

# Only some.
trace -a -C "$first" -j 010 -o "$log" || fail "trace -C"
for name in "${programs[@]}"; do "$work/$name" "${cpus[@]}" || fail "$name"; done
trcstop
check $((${#programs[@]} * 4)) "trace -C $first"
trace -a -C all -o "$log" || fail "trace -C all"
"$work/wide" "${cpus[@]}"
trcstop
check $((5 * ${#cpus[@]})) "trace -C all"

# A session without it has neither the numbers nor their classes.
trace -a -o "$log"
"$work/wide" "${cpus[@]}"
trcstop
grep -q 'cpu' "$log/metadata" && fail "classes with processors in a session without"
expect 0 print "$log" --format jsonl
grep -q '"cpu"' "$work/out" && fail "a processor in a session without"

trace -a -C 99999 2>"$work/err" && fail "trace -C 99999"
has "'99999' is no processor of this machine" err
trace -a -C , 2>"$work/err" && fail "trace -C ,"
has "nothing stands behind it" err

finish
