#!/usr/bin/env bash
# ctctrl where somebody has written to the blocks of a program's components.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/hooks_common.sh"
export TRACEWELL_COMPONENTS=$work/good TRACEWELL_COMPONENT_LOGS=$work/ct
cat >"$work/part.c" <<'C'
#include <stdio.h>
#include <sys/ras_trace.h>
#include <sys/trchkid.h>
int main(void) {
  const ras_block_t part = tracewell_component_register("part", 0, 0);
  do {
    CT_HOOK1(part, 1, MT_PRIV, HKWD_USER1, 1);
    puts("ready");
    fflush(stdout);
  } while (getchar() != EOF);
  return 0;
}
C
cc -O2 -I"$TRACEWELL_SOURCE/include/tracewell/aix" "$work/part.c" -o "$work/part" \
  -L"$build/lib" -lrts -Wl,-rpath,"$build/lib" || fail "part.c does not build"
expect 0 ctctrl -p -c part memtraceon
coproc part { exec "$work/part"; }
pid=$part_PID in=${part[1]}
read -r _ <&"${part[0]}"
file=$(find "$work"/run/tracewell/components-* -maxdepth 1 -type f -name "$pid-*[0-9]")
[ -f "$file" ] || fail "no blocks: $file"
forge() {  # OFFSET BYTES: in the block of the first component that it has registered itself
  python3 - "$file" "$1" "$2" <<'PY'
import sys
with open(sys.argv[1], "r+b") as file:
    file.seek(2 * 4096 + int(sys.argv[2]))
    before = file.read(len(sys.argv[3].encode().decode("unicode_escape")))
    file.seek(2 * 4096 + int(sys.argv[2]))
    file.write(sys.argv[3].encode().decode("unicode_escape").encode("latin-1"))
sys.stdout.write("".join(f"\\x{byte:02x}" for byte in before))
PY
}
told="the block of process $pid does not have what that process registered"

expect 0 ctctrl -q -c part
[ -s "$work/err" ] && fail "it is told for nothing: $(cat "$work/err")"
# Whether it is used, when its process began, its name, its session.
for what in '0 \x00' '44 \x01\x02' '64 .x\x00' '336 \x00\x01'; do
  offset=${what% *}
  before=$(forge "$offset" "${what#* }")
  expect 0 ctctrl -q -c part
  lines 2
  has "$pid"
  has "$told" err
  grep -q '(dead)' "$work/out" && fail "at $offset: dead"
  expect 1 ctctrl --forget
  expect 0 ctctrl -D -c part
  has "$told" err
  expect 0 check "$work/ct/part"
  [ "$("$tracewell" print "$work/ct/part" --where 'kind == "hook"' --format jsonl |
    grep -c '"id"')" = 1 ] || fail "at $offset: the hook is not in the log"
  forge "$offset" "$before" >/dev/null
done
expect 0 ctctrl -q -c part
[ -s "$work/err" ] && fail "it is told still: $(cat "$work/err")"

# A program of a release before has nothing but its blocks; a name decides no path all the same.
rm "$file.registered"
for name in ../x .x; do
  forge 64 "$name\x00" >/dev/null
  expect 3 ctctrl -D -c all
  has "of '$name' of process $pid was left out" err
done
[ ! -e "$work/x" ] || fail "a log elsewhere"

eval "exec $in>&-"
wait "$pid" || fail "the program's end"
# What rules say is shown so that a terminal does nothing of it.
printf 'c \033[31mX memory=2\n' >"$work/rules"
TRACEWELL_COMPONENTS=$work/rules expect 0 ctctrl -q -P
has 'c \x1b[31mX memory=2' out

# Records of threads that could not make a buffer: a program of root's counts them where nobody else
# can write, too, and a dump tells them.
cat >"$work/loses.c" <<'C'
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/ras_trace.h>
#include <sys/resource.h>
#include <sys/trchkid.h>
#include <tracewell/hook_layout.h>
static ras_block_t part;
static void *run(void *unused) {
  for (int i = 0; i < 50; ++i) CT_HOOK1(part, 1, MT_PRIV, HKWD_USER1, i);
  return unused;
}
int main(void) {
  const struct rlimit none = {0, 1024};
  pthread_t thread;
  part = tracewell_component_register("loses", 0, 0);
  CT_HOOK1(part, 1, MT_PRIV, HKWD_USER1, 1);
  setrlimit(RLIMIT_NOFILE, &none);
  pthread_create(&thread, NULL, run, NULL);
  pthread_join(thread, NULL);
  printf("%zu\n", offsetof(struct tracewell_component, lost));
  fflush(stdout);
  getchar();
  return 0;
}
C
cc -O2 -I"$TRACEWELL_SOURCE/include" -I"$TRACEWELL_SOURCE/include/tracewell/aix" "$work/loses.c" \
  -o "$work/loses" -L"$build/lib" -lrts -lpthread -Wl,-rpath,"$build/lib" || fail 'loses.c'
expect 0 ctctrl -p -c loses memtraceon
coproc loses { exec "$work/loses"; }
pid=$loses_PID in=${loses[1]}
read -r offset <&"${loses[0]}"
file=$(find "$work"/run/tracewell/components-* -maxdepth 1 -type f -name "$pid-*[0-9]")
expect 0 ctctrl -q -c loses
has ' 50' out
if [ "$(id -u)" = 0 ]; then
  forge "$offset" '\0' >/dev/null
  expect 0 ctctrl -q -c loses
  has ' 50' out
fi
expect 0 ctctrl -D -c loses
expect 0 check "$work/ct/loses"
has "lost 50 (threads of process $pid could not make a buffer)" out
echo >&"$in"
wait "$pid"
# So when it has ended, and a session meanwhile.
if [ "$(id -u)" = 0 ]; then
  expect 0 trace -a -o "$work/log"
  expect 0 trcstop
  mv "$work/ct/loses" "$work/ct/before"
  expect 0 ctctrl -D -c loses
  expect 0 check "$work/ct/loses"
  has "lost 50 (threads of process $pid could not make a buffer)" out
fi
finish
