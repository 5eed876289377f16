#!/bin/bash
# skips; user
# Logs, rings and core files of another user, which root looks at: nothing of theirs is written
# through, waited for, or read without end. What is refused here was followed once.
. "${BASH_SOURCE%/*}/common.sh"
. "${BASH_SOURCE%/*}/hooks_common.sh"

cat >"$work/hooks.c" <<'C'
#include <signal.h>
#include <sys/trchkid.h>
#include <unistd.h>
int main(void) {
  int i;
  for (i = 0; i < 100; ++i) TRCHKL1(HKWD_USER1, i);
  return kill(getpid(), SIGKILL);
}
C
cc -I"$TRACEWELL_SOURCE/include" -I"$TRACEWELL_SOURCE/include/tracewell/aix" -o "$work/hooks" \
  "$work/hooks.c" "$build/lib/librts.a" || fail "no program with hooks"

# A log whose session nobody ended: $1.
leave_log() {
  trace -a -f -o "$1" || fail "trace -o $1"
  "$work/hooks" 2>/dev/null
  rm -rf "$work/run/tracewell"
}
# Every reader, in seconds, and small: "$@" is what it is of.
read_all() {  # WHAT LOG
  local reader status
  for reader in info print check 'convert --format csv -o /dev/null' report 'report --follow' \
    'report --format csv' 'trcdead -o '"$work/reader.log"; do
    rm -rf "$work/reader.log"
    # shellcheck disable=SC2086
    (
      [ -n "$sanitized" ] || ulimit -v 4000000
      exec timeout 60 "$tracewell" $reader "$2" >"$work/out" 2>"$work/err"
    )
    status=$?
    [ $status -lt 124 ] || fail "$1: $reader ended with $status: $(head -c 300 "$work/err")"
  done
}

hooks_in() {
  [ "$("$tracewell" print --format csv "$1" 2>/dev/null | grep -c ',hook,')" = 100 ]
}

# What no log has, under the names that a log has. Readers say so, and show the rest.
leave_log "$work/log"
for name in 9-9.0 0-0.0 .rings/9-9 metadata; do
  for kind in fifo device link big hole; do
    rm -rf "$work/odd" && cp -r "$work/log" "$work/odd" && rm -f "$work/odd/$name"
    case $kind in
      fifo) mkfifo "$work/odd/$name" ;;
      device) mknod "$work/odd/$name" c 1 5 2>/dev/null || continue ;;
      link) ln -s /dev/zero "$work/odd/$name" ;;
      big) truncate -s 40G "$work/odd/$name" ;;
      hole) truncate -s 900M "$work/odd/$name" ;;
    esac
    read_all "$name as $kind" "$work/odd"
    [ "$name" = metadata ] && continue
    hooks_in "$work/odd" || fail "$name as $kind: the other hooks"
    "$tracewell" check "$work/odd" >"$work/out" 2>&1 && fail "$name as $kind: check says sound"
    grep -q "${name##*/}\|no packet\|no-ring" "$work/out" ||
      fail "$name as $kind: $(cat "$work/out")"
  done
done

be_two_users
chmod 755 "$work"
mkdir -m 777 "$work/theirs"
own() { chown -hR 65534:65534 "$@"; }
secret=$work/secret
echo 'root only' >"$secret" && chmod 600 "$secret"
untouched() {  # WHAT
  [ "$(cat "$secret")" = 'root only' ] && [ "$(stat -c %a:%U:%h "$secret")" = 600:root:1 ] ||
    fail "$1: root's file was changed"
  [ "$(find "$work/roots" -type f 2>/dev/null | wc -l)" = 0 ] || fail "$1: files in root's folder"
}
mkdir -m 700 "$work/roots"
their=$work/theirs/log

# Links at each name of a log of theirs: root writes nothing there, with or without them.
ring=$(cd "$work/log/.rings" && echo *)
for name in 0-0.0 metadata .lock .rings ".rings/$ring" "${ring/-*}-9.0" .; do
  rm -rf "$their" "$work/theirs/aside" && cp -r "$work/log" "$their"
  if [ "$name" = . ]; then
    mv "$their" "$work/theirs/aside" && ln -s "$work/roots" "$their"
  elif [ "$name" = .rings ]; then
    mv "$their/.rings" "$work/theirs/aside" && ln -s "$work/roots" "$their/.rings"
  else
    rm -f "$their/$name" && ln -s "$secret" "$their/$name"
  fi
  own "$work/theirs"
  find "$their" -printf '%p %s %l\n' | sort >"$work/before"
  timeout 60 "$tracewell" trcdead "$their" >"$work/out" 2>"$work/err" && fail "$name: trcdead"
  find "$their" -printf '%p %s %l\n' | sort >"$work/after"
  cmp -s "$work/before" "$work/after" || fail "$name: their log changed"
  untouched "$name"
  "$tracewell" trace -a -f -o "$their" >"$work/out" 2>"$work/err" && fail "$name: trace -o"
  "$tracewell" trace -a -f -c -o "$their" >"$work/out" 2>"$work/err" && fail "$name: trace -c"
  untouched "$name: trace"
done

# Without any link it is theirs still. Elsewhere it may go.
rm -rf "$their" && cp -r "$work/log" "$their" && own "$their"
expect 2 trcdead "$their"
has "is somebody else's log" err
expect 0 trcdead -o "$work/rescued" "$their"
[ -f "$their/.rings/$ring" ] || fail "their ring went"
hooks_in "$work/rescued" || fail "hooks of their log"

# A log of root's that others may write to, and hard links into it.
cp -r "$work/log" "$work/open" && chmod 777 "$work/open"
expect 2 trcdead "$work/open"
has 'others may write' err
cp -r "$work/log" "$work/hard" && ln "$secret" "$work/hard/7-7.0" && rm -f "$work/hard/0-0.0" &&
  ln "$secret" "$work/hard/0-0.0"
expect 2 trcdead "$work/hard"
has 'hard links' err
rm -rf "$work/hard"
untouched 'hard links'

# Swapped all the time: a folder, a link to root's.
rm -rf "$their" && cp -r "$work/log" "$their" && own "$their"
"${user[@]}" bash -c "cd '$work/theirs' && while :; do
    mv log aside; ln -s '$work/roots' log; rm -f log; mv aside log
  done" >/dev/null 2>&1 &
swapper=$!
for _ in {1..40}; do
  timeout 60 "$tracewell" trcdead "$their" >/dev/null 2>&1 && fail "trcdead of what is swapped"
  timeout 60 "$tracewell" print "$their" >/dev/null 2>&1
done
kill $swapper && wait $swapper 2>/dev/null
untouched swapped

# A core file says where its rings are: where they go is for the operator to say.
if command -v gdb >/dev/null; then
  trace -a -f -o "$work/core.log"
  gdb -q -nx -batch -ex 'catch syscall kill' -ex run -ex "generate-core-file $work/core" \
    "$work/hooks" >"$work/gdb" 2>&1
  rm -rf "$work/run/tracewell"
  expect 2 trcdead "$work/core"
  has '-o LOG' err
  expect 0 trcdead -o "$work/of_core" "$work/core"
  hooks_in "$work/of_core" || fail "hooks of the core file"
  [ -n "$(ls -A "$work/core.log/.rings")" ] || fail "rings that the core file names went"
fi
finish
