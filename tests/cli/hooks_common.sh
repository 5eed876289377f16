# Sourced after common.sh by what traces hooks: nothing of the caller's is read or written.
export XDG_RUNTIME_DIR=$work/run XDG_STATE_HOME=$work/state TRACEWELL=$tracewell
export PATH=$TRACEWELL_BIN/aix:$PATH
unset TRACEWELL_LOG TRACEWELL_TEMPLATES
mkdir -m 700 "$work/run"
build=$TRACEWELL_BIN/..
wait_until() {  # TEXT COMMAND…: 20 s at most
  local what=$1 tries=0
  shift
  until "$@" >/dev/null 2>&1; do
    tries=$((tries + 1))
    [ $tries -lt 1000 ] || {
      fail "$what"
      return
    }
    sleep 0.02
  done
}
be_two_users() {  # for a script that says `# skips`; user: the words that make a command another's
  user=(setpriv --reuid=65534 --regid=65534 --clear-groups)
  [ "$(id -u)" = 0 ] && "${user[@]}" true 2>/dev/null && return
  echo "skipped: only root can be another user"
  exit 0
}

collectors() {  # their process ids
  local one
  for one in /proc/[0-9]*; do
    [ "$(cat "$one/comm" 2>/dev/null)" = tw-hooks ] || continue
    grep -q "$work/run/tracewell/" "$one/maps" 2>/dev/null && echo "${one#/proc/}"
  done
}

# With SIGKILL, as when memory is short.
kill_collector() {
  local pid
  for pid in $(collectors); do
    kill -KILL "$pid" && wait_until "$pid lives" test ! -e "/proc/$pid"
  done
}
