#!/usr/bin/env bash
# The first signal ends `report` while it opens a file, which may take long: nothing is printed yet
# that it could cut. A pipe into which nobody writes is opened for ever.
. "$(dirname "$0")/common.sh"
mkfifo "$work/pipe"
exec 3<>"$work/pipe"
report() {  # ARGS…: the status, once the signal has come while the pipe was read
  timeout 60 python3 - "$work/pipe" "$tracewell" report "$@" <<'PYTHON'
import os, signal, subprocess, sys, time
pipe, command = os.stat(sys.argv[1]), sys.argv[2:]
child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL, close_fds=True)
def reads():
    fds = f"/proc/{child.pid}/fd"
    try:
        return any(os.path.samestat(os.stat(f"{fds}/{fd}"), pipe) for fd in os.listdir(fds))
    except FileNotFoundError:
        return False
while child.poll() is None and not reads():
    time.sleep(0.001)
child.send_signal(signal.SIGTERM)
try:
    ended = child.wait(timeout=20)
except subprocess.TimeoutExpired:
    child.kill()
    sys.exit("it goes on")
sys.exit(0 if ended == -signal.SIGTERM else f"status {ended}")
PYTHON
}
report "$work/pipe" || fail 'one file'
printf '{"catalog":{"endian":"little"}}\n{"kind":"mark","text":"a"}\n' >"$work/first.jsonl"
report "$work/first.jsonl" "$work/pipe" || fail 'behind another one'
finish
