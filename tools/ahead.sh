# To be sourced: builds what a later step needs, in the background at idle priority. Tests wait a
# third of their time; the build has what they leave of the processors.
#   build_ahead COMMAND...   begins it; what it prints goes to build/ahead.log
#   await_ahead              returns when it has ended
# It decides nothing: the step that needs the build makes it again, in no time where it was whole.
# It does not outlive the script that began it.
ahead=

build_ahead() {
  set -m  # a process group of its own, to be stopped as a whole
  chrt --idle 0 "$@" >build/ahead.log 2>&1 &
  set +m
  ahead=$!
  trap stop_ahead EXIT
}

stop_ahead() {
  if kill -0 -- "-$ahead" 2>/dev/null; then
    kill -- "-$ahead"
  fi
}

await_ahead() {
  if [ -z "$ahead" ]; then
    return
  fi
  if ! wait "$ahead"; then
    echo "building ahead failed, and the next step builds the same; the end of build/ahead.log:"
    tail -n 20 build/ahead.log
  fi
  trap - EXIT
  ahead=
}
