#!/usr/bin/env bash
# The block on traces of executed instructions in README.md: each line of it works as it stands
# there, with the trace that its first line makes.
. "$(dirname "$0")/common.sh"
ln -s "$TRACEWELL_SOURCE/examples" "$work/examples"
count=0
while IFS= read -r line; do
  count=$((count + 1))
  (cd "$work" && HOME=$work PATH=$TRACEWELL_BIN:$PATH eval "$line") >"$work/out" 2>"$work/err" \
    </dev/null
  got=$?
  wanted=0
  case $line in
    *' info '*) has 'records    46' ;;
    *' at '*) has 'step 16  pc 0x401010' && has '0x404000  02 00 00 00' ;;
    *' print '*) has 'step 2  ' && has 'rax=0x10' ;;
    *' find '*) has 'step 9  ' && has '-> 02000000' && lines 1 ;;
    *' hits '*) has '0x401005' && has 'instructions' ;;
    *' diff '*) wanted=1 && has '4 | 6 times' ;;
    gdb*) has '0x0000000000401000 in ?? ()' ;;
  esac
  [ "$got" = "$wanted" ] || {
    fail "exit status $got: $line"
    cat "$work/err"
  }
done < <(sed -n '/^Of a trace of executed instr/,/^Of a program with trace hooks/s/^    \$ //p' \
  "$TRACEWELL_SOURCE/README.md")
[ "$count" -ge 10 ] || fail "only $count commands in the block"
finish
