#!/usr/bin/env bash
# What a user may not read or write: each command says which file or folder that is, and that it is
# forbidden rather than gone. Needs root, to be a user to whom something is forbidden.
# skips
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/hooks_common.sh"
be_two_users
chmod 711 "$work"
cp "$tracewell" "$work/tool"
cat >"$work/fires.c" <<'C'
#include <sys/trchkid.h>
int main(void)
{
  TRCHKL1(HKWD_USER1, 1);
  return 0;
}
C
cc -static -I"$TRACEWELL_SOURCE/include/tracewell/aix" "$work/fires.c" -o "$work/fires" \
  -L"$build/lib" -lrts || fail "fires.c"
chmod 755 "$work/tool" "$work/fires"
his=$work/his
mkdir -m 700 "$his" "$his/run"
chown -R 65534:65534 "$his"
mkdir -m 755 "$work/shown"
mkdir -m 700 "$work/hidden"
him() {  # COMMAND…: as nobody, with his folders
  (cd "$his" && "${user[@]}" env XDG_RUNTIME_DIR="${runtime:-$his/run}" \
    XDG_STATE_HOME="${state:-$his/state}" HOME="$his" "$@")
}
denied() {  # PATH ARGS…: tracewell says that this was forbidden
  local path=$1
  shift
  him "$work/tool" "$@" >"$work/out" 2>"$work/err"
  [ $? = 4 ] || fail "$*: exit status"
  grep -F -- "$path" "$work/err" | grep -q 'Permission denied' ||
    fail "$*: $path is not named: $(cat "$work/err")"
  grep -qE 'removed|no log|no trace|no such' "$work/err" && fail "$*: $(cat "$work/err")"
}

# Folders that he may not write to, or look into.
denied "$work/shown/log (-o names another log)" trace -a -o "$work/shown/log"
denied "$work/hidden/log (-o names another log)" trace -a -o "$work/hidden/log"
state=$work/shown/state denied "$work/shown/state: Permission denied (-o names" trace -a
for folder in shown hidden; do
  for command in 'trace -a -o log' trcstop trcon; do
    # shellcheck disable=SC2086
    runtime=$work/$folder denied \
      "$work/$folder/tracewell (\$XDG_RUNTIME_DIR names the folder that it is in)" $command
  done
done
# Somebody else's log.
trace -a -o "$work/shown/log" && trcstop
for command in 'trace -a -o' report print check info trcdead 'report --follow'; do
  # shellcheck disable=SC2086
  denied "$work/shown/log" $command "$work/shown/log"
done
denied "$work/shown/log" convert "$work/shown/log" "$his/out.jsonl"
# His own, while a trace runs into it: that ends, and nothing that was recorded is gone.
log=$his/log
him "$work/tool" trace -af -o "$log" || fail "his trace"
him "$work/fires"
chmod 000 "$log"
denied "$log" trcoff
denied "$log" trcon
denied "$log" trcstop
has "\`trcdead $log\` takes" err
him "$work/tool" trcstop 2>"$work/err" && fail "it did not end"
denied "$log" report "$log"
denied "$log" trace -a -o "$log"
denied "$log/.rings" trcdead "$log"
chmod 700 "$log"
him "$work/tool" trcdead "$log" >/dev/null || fail "trcdead"
him "$work/tool" print --where 'kind == "hook"' "$log" >"$work/out"
lines 1
chmod 000 "$log/metadata"
denied "$log/metadata" trace -a -o "$log"
denied "$log/metadata" report "$log"
rm -r "$log"
him "$work/tool" trace -af -o "$log" || fail "his trace"
him "$work/fires"
chmod 500 "$log/.rings"
denied "cannot remove $log/.rings/" trcstop
has "trcdead $log" err
# A collector that may not write any more says so to the next command.
rm -r "$log"
him "$work/tool" trace -a -o "$log" || fail "his trace"
chmod 500 "$log"
him "$work/fires"
told="has ended: cannot write $log/[0-9].*denied"
collector_tells() { him "$work/tool" trcctl -l 2>&1 >/dev/null | grep -q "$told"; }
wait_until "the collector is silent" collector_tells
chmod 700 "$log"
him "$work/tool" trcstop 2>"$work/err" || fail "trcstop"
him "$work/tool" print --where 'kind == "hook"' "$log" >"$work/out"
lines 1
# The control file, and the log that is meant where none is named.
chmod 000 "$his/run/tracewell/hooks-2"
for command in 'trace -a -o log2' trcstop trcon; do
  # shellcheck disable=SC2086
  denied "cannot write $his/run/tracewell/hooks-2" $command
done
him "$work/tool" trace -a -o "$log" 2>/dev/null
mkdir -p "$his/state/tracewell"
chmod 000 "$his/state/tracewell"
denied "$his/state/tracewell/trcf" report  # the templates, or the log: what comes first
finish
