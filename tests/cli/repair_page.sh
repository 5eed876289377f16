#!/usr/bin/env bash
# The page about damaged traces: each command of it prints what the page shows, where … stands for
# the rest of a line.
. "$(dirname "$0")/common.sh"
page=$TRACEWELL_SOURCE/docs/how-to/repair-a-trace.md
ln -s "$TRACEWELL_SOURCE/examples" "$work/examples"
cd "$work" || exit 1
export PATH=$TRACEWELL_BIN:$PATH
count=0 command=
run_it() {
  [ -n "$command" ] || return
  count=$((count + 1))
  eval "$command" >got 2>err </dev/null
  python3 -c '
import sys
shown, got = (open(name).read().splitlines() for name in ("shown", "got"))
same = lambda a, b: b.startswith(a[:-1]) if a.endswith("…") else a == b
sys.exit(len(shown) != len(got) or not all(map(same, shown, got)))' ||
    fail "$command: $(diff shown got)"
  [ ! -s err ] || fail "$command: $(cat err)"
}
while IFS= read -r line; do
  case $line in
    '    $ '*)
      run_it
      command=${line#'    $ '}
      : >shown ;;
    '    '*) printf '%s\n' "${line#    }" >>shown ;;
  esac
done <"$page"
run_it
[ "$count" -ge 9 ] || fail "only $count commands in the page"
finish
