#!/usr/bin/env bash
# trcevgrp: groups are made, listed, changed and removed; trace -J and -K take them.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/hooks_common.sh"
export TRACEWELL_EVENT_GROUPS=$work/groups/evgrp

is() {  # TEXT: the output is that
  diff - "$work/out" <<<"$1" || fail "other output"
}
expect 0 trcevgrp -l
is 'facility - the trace facility itself (reserved) "00"'
expect 0 trcevgrp -a -d 'requests of the server' -h 010,02 net
expect 0 trcevgrp -a -h '1230 055' odd.ones
expect 0 trcevgrp -l net,odd.ones
is 'net - requests of the server (normal) "010,02"
odd.ones -  (normal) "1230 055"'
cp "$TRACEWELL_EVENT_GROUPS" "$work/before"
expect 2 trcevgrp -a -h 010 net
has "the group 'net' is there already" err
expect 2 trcevgrp -a -h 01x new
has "'01x' is no hook" err
expect 2 trcevgrp -a new
has '-h is missing' err
expect 2 trcevgrp -a -h 010 'a name'
has 'which group' err
expect 2 trcevgrp -a -h 010 'a(name'
has 'is no name of a group' err
expect 2 trcevgrp -a -h 010 -d 'say "this"' new
has 'without quotes' err
expect 2 trcevgrp -u -h 010 facility
has 'is reserved' err
expect 1 trcevgrp -u -h 010 none
has "there is no event group 'none'" err
expect 1 trcevgrp -r net none
expect 2 trcevgrp -l -r net
cmp -s "$work/before" "$TRACEWELL_EVENT_GROUPS" || fail "a mistake changed the groups"
expect 0 trcevgrp -u -h 010 net
expect 0 trcevgrp net
is 'net - requests of the server (normal) "010"'

cat >"$work/four.c" <<'C'
#include <sys/trchkid.h>
int main(void) {
  TRCHKL0(HKWD_USER1); TRCHKL0(0x01100000); TRCHKL0(HKWD_USER2); TRCHKL0(0x05500000);
  return 0;
}
C
cc -I"$TRACEWELL_SOURCE/include/tracewell/aix" "$work/four.c" -o "$work/four" \
  -L"$TRACEWELL_BIN/../lib" -lrts -Wl,-rpath,"$TRACEWELL_BIN/../lib" || fail "four.c"
hooks_of() {  # OPTIONS…: which hooks are recorded
  trace "$@" -o "$work/log" -x "$work/four" || fail "trace $*"
  expect 0 print --where 'kind == "hook"' "$work/log" --format csv
  grep -o '0[0-9][0-9]0,0' "$work/out" | cut -c1-3 | paste -sd' '
}
for case in '-J net|010' '-J net,odd.ones|010 055' '-J net -j 02|010 020' '-K net|011 020 055' \
    '-J net -K net|' '-K net -k 055|011 020'; do
  read -ra options <<<"${case%|*}"
  got=$(hooks_of "${options[@]}")
  [ "$got" = "${case#*|}" ] || [ -z "${case#*|}" ] || fail "trace ${options[*]}: $got"
done
trace -a -J none 2>"$work/err" && fail "a group that is not there"
has "there is no event group 'none'" err

# The report reads the same file; what else stands in it stays when it is changed.
expect 0 report -G
cp "$work/out" "$work/groups.txt"
expect 0 trcevgrp -l
is "$(cat "$work/groups.txt")"
sed -i -e '1i# of the server' -e '$i\\' -e '$a# the end' "$TRACEWELL_EVENT_GROUPS"
expect 0 trcevgrp -u -d 'all requests' net
expect 0 trcevgrp -a -h 03 third
diff - "$TRACEWELL_EVENT_GROUPS" <<'END' || fail "what stands between groups"
# of the server
net - all requests (normal) "010"

odd.ones -  (normal) "1230 055"
# the end
third -  (normal) "03"
END

expect 0 trcevgrp -r net odd.ones third
diff - "$TRACEWELL_EVENT_GROUPS" <<<$'# of the server\n\n# the end' || fail "what stays"
expect 0 trcevgrp -l
lines 1
echo 'late - hooks (normal) "0x1"' >"$TRACEWELL_EVENT_GROUPS"
expect 3 trcevgrp -l
has "evgrp:1: '0x1' is no hook" err
echo nonsense >"$TRACEWELL_EVENT_GROUPS"
expect 3 trcevgrp -l
has 'evgrp:1: expected name - description' err
finish
