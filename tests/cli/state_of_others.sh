#!/usr/bin/env bash
# labels: answers
# Where a user's templates, groups, defaults and usual log are, $XDG_STATE_HOME says, or $HOME. What
# another user decides there is not used, and nothing is written there; commands say so. Needs root,
# to be two users.
# skips; user
# timeout: 240
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/hooks_common.sh"
be_two_users
unset TRACEWELL_LOG TRACEWELL_TEMPLATES TRACEWELL_DEFAULTS TRACEWELL_EVENT_GROUPS
unset TRACEWELL_COMPONENTS TRACEWELL_COMPONENT_LOGS
me=65531 other=65534
chmod 711 "$work"
cp "$tracewell" "$work/tool"
chmod 755 "$work/tool"
mine=$work/mine his=$work/his
mkdir -m 700 "$mine" "$mine/run" "$mine/log"
mkdir -m 711 "$work/shown"
mkdir -m 755 "$his"
cp "$TRACEWELL_SOURCE/tests/cli/hooks.jsonl" "$mine/hooks.jsonl"
printf '* /etc/trcfmt\n+ 066 1.0 "x"\n' >"$mine/list.trc"
# What would hide hooks, have a log of mine cleared, and make a group of everything.
fill() {  # FOLDER
  mkdir -p "$1"
  echo '010 1.0 L=APPL "his" $SKIP' >"$1/trcfmt"
  printf 'log = %s\ncomponent_folder = %s\n' "$mine/keep" "$mine/keep" >"$1/trace.conf"
  echo 'his - groups (normal) "01"' >"$1/evgrp"
  echo 'c * system=1 system_level=9' >"$1/components"
}
cat >"$work/part.c" <<'C'
#include <sys/ras_trace.h>
#include <sys/trchkid.h>
int main(void)
{
  ras_block_t part = tracewell_component_register("part", 0, 0);
  CT_HOOK1(part, 9, MT_SYSTEM, HKWD_USER1, 7);
  return 0;
}
C
cc -static -I"$TRACEWELL_SOURCE/include/tracewell/aix" "$work/part.c" -o "$work/part" \
  -L"$build/lib" -lrts || fail 'part.c'
chmod 755 "$work/part"
# Does a program of mine do what the rules there say?
obeys() {  # WANTED: 1 or 0 hooks of its component
  rm -rf "$mine/log/part"
  mine_runs 0 trace -a -o "$mine/log/part"
  as_me "$work/part" || fail "$state: a program"
  mine_runs 0 trcstop
  mine_runs $((1 - $1)) print --where 'kind == "hook"' "$mine/log/part"
  [ "$(wc -l <"$work/out")" = "$1" ] || fail "$state: not $1 hooks: $(cat "$work/out")"
}
fill "$his/tracewell"
chown -R $other:$other "$his"
state=XDG_STATE_HOME=
as_me() {  # COMMAND…
  (cd "$mine" && setpriv --reuid=$me --regid=$me --clear-groups \
    env -u XDG_STATE_HOME HOME="$mine" XDG_RUNTIME_DIR="$mine/run" "$state" "$@")
}
mine_runs() {  # STATUS ARGS…
  local wanted=$1
  shift
  as_me "$work/tool" "$@" >"$work/out" 2>"$work/err" </dev/null
  local got=$?
  [ "$got" = "$wanted" ] || fail "$state $*: exit status $got, not $wanted: $(cat "$work/err")"
}
chown -R $me:$me "$mine"
as_me "$work/tool" trace -a -o "$mine/keep" || fail "a log"
as_me "$work/tool" trcstop || fail "a log's end"
kept=$(ls -id "$mine/keep/metadata"; stat -c %y "$mine/keep/metadata")
before=$(cd "$his" && ls -lRi --time-style=full-iso)
# refused NAME=FOLDER WHY: nothing that is there is used, and nothing is made.
refused() {
  state=$1
  local why=$2 variable=\$${1%%=*}
  mine_runs 0 report -h hooks.jsonl
  grep -q '^010 ' "$work/out" || fail "$state: his templates hide hooks: $(cat "$work/out")"
  has "$why" err
  has "$variable" err
  [ "$(wc -l <"$work/err")" = 1 ] || fail "$state: more than a line: $(cat "$work/err")"
  mine_runs 2 report
  has "$why" err
  mine_runs 2 report -h -D his hooks.jsonl
  has "$why" err
  has "there is no event group 'his'" err
  mine_runs 0 trcevgrp
  grep -q 'his - groups' "$work/out" && fail "$state: his groups are listed"
  has "$why" err
  mine_runs 0 trcctl -l
  grep -q "$mine/keep" "$work/out" && fail "$state: his defaults: $(cat "$work/out")"
  has "$why" err
  # Nor is anything written.
  mine_runs 2 trace -a
  has "$why" err
  for command in "trcctl -o $mine/log/x" 'trcevgrp -a -d text -h 010 group' 'trcupdate list' \
    'trcupdate -x 010' 'ctctrl -P -c all memtraceon' 'trcdead' 'report -l all'; do
    # shellcheck disable=SC2086
    mine_runs 2 $command
    has "$why" err
  done
  obeys 0
  # What names all that it needs works, and says why it does not look there.
  mine_runs 0 trace -a -o "$mine/log/one"
  has "$why" err
  mine_runs 0 trcstop
  mine_runs 0 report -h -t /dev/null hooks.jsonl
  [ -s "$work/err" ] && fail "$state: nothing was looked for there: $(cat "$work/err")"
  [ "$(cd "$his" && ls -lRi --time-style=full-iso)" = "$before" ] ||
    fail "$state: something is made"
  [ "$(ls -id "$mine/keep/metadata"; stat -c %y "$mine/keep/metadata")" = "$kept" ] ||
    fail "$state: a log of mine was cleared"
}
# Another user's folder, and one that his link leads to: also where that is mine.
refused XDG_STATE_HOME="$his" "$his belongs to user"
ln -s "$his" "$work/shown/link"
chown -h $other "$work/shown/link"
refused XDG_STATE_HOME="$work/shown/link" "$work/shown/link is a symbolic link of user"
ln -s "$mine/state" "$work/shown/back"
mkdir "$mine/state"
fill "$mine/state/tracewell"
chown -R $me "$mine/state"
chown -h $other "$work/shown/back"
refused XDG_STATE_HOME="$work/shown/back" "$work/shown/back is a symbolic link of user"
mkdir "$mine/his"
ln -s "$his/tracewell" "$mine/his/tracewell"
chown -h $other "$mine/his/tracewell"
chown $me "$mine/his"
refused XDG_STATE_HOME="$mine/his" "$mine/his/tracewell is a symbolic link of user"
# My own link to what is his.
ln -s "$his" "$mine/link"
chown -h $me "$mine/link"
refused XDG_STATE_HOME="$mine/link" "$his belongs to user"
# He was the first to make it, where anybody may.
mkdir -m 1777 "$work/sticky"
cp -a "$his/tracewell" "$work/sticky"
refused XDG_STATE_HOME="$work/sticky" "$work/sticky/tracewell belongs to user"
# As `su` without `-` leaves it.
mkdir "$work/home"
mkdir -p "$work/home/.local"
ln -s "$his" "$work/home/.local/state"
chown -hR $other "$work/home"
refused HOME="$work/home" "$work/home belongs to user"
# Everybody may write to it.
chmod 777 "$mine/state/tracewell"
refused XDG_STATE_HOME="$mine/state" "$mine/state/tracewell may be written by others (mode 777"

# What is mine, or root's, is used: also behind links, where a group may write, and where nothing is
# there yet.
used() {  # NAME=FOLDER
  state=$1
  mine_runs 1 report -h -d 010 hooks.jsonl
  mine_runs 0 trcevgrp -l his
  mine_runs 0 trcctl -l
  has "$mine/keep"
  [ -s "$work/err" ] && fail "$state: $(cat "$work/err")"
  obeys 1
}
for mode in 755 775; do
  chmod $mode "$mine/state/tracewell" "$mine/state"
  used XDG_STATE_HOME="$mine/state"
done
chown -h $me "$work/shown/back"
used XDG_STATE_HOME="$work/shown/back"
chown -h 0 "$work/shown/back"
used XDG_STATE_HOME="$work/shown/back/"
mkdir "$mine/.local"
ln -s ../state "$mine/.local/state"
chown -h $me "$mine/.local" "$mine/.local/state"
used HOME="$mine"
chown -R 0 "$mine/state"
used XDG_STATE_HOME="$mine/state"
rm -r "$work/sticky/tracewell"
for folder in "$mine/deep/new" "$work/sticky/new" "$work/sticky"; do
  state=XDG_STATE_HOME=$folder
  mine_runs 0 report -h -d 010 hooks.jsonl
  [ -s "$work/err" ] && fail "$state: $(cat "$work/err")"
  [ -e "$folder/tracewell" ] && fail "$folder: made by a reader"
  mine_runs 0 trace -a
  mine_runs 0 trcstop
  [ -d "$folder/tracewell/trcfile" ] || fail "$folder: no log"
  mine_runs 0 trcctl -o "$mine/log/x"
  mine_runs 0 trcctl -l
  has "$mine/log/x"
  rm -r "$folder/tracewell"
done
# What a variable names is what it says.
state=TRACEWELL_TEMPLATES=$his/tracewell/trcfmt
mine_runs 1 report -h -d 010 hooks.jsonl
finish
