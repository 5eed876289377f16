#!/usr/bin/env bash
# The page about component trace: its commands, as they are printed there, do what it says.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/hooks_common.sh"
export PATH=$TRACEWELL_BIN:$PATH TRACEWELL_COMPONENTS=$work/good
export TRACEWELL_TEMPLATES=$work/none
page=$TRACEWELL_SOURCE/docs/how-to/trace-components.md
cd "$work" || exit 1

# Its program: what it registers and fires, in a main() that does so for each line it reads.
{
  echo '#include <stdio.h>'
  sed -n '/```c/,/```/s/^   //p' "$page" | grep '^#include\|^static'
  echo 'int main(void) { char line[9]; unsigned fd = 3, size = 5, length = 3; char *bytes = "abc";'
  sed -n '/```c/,/```/s/^   //p' "$page" | grep 'register('
  echo 'while (fgets(line, sizeof line, stdin)) {'
  sed -n '/```c/,/```/s/^   //p' "$page" | grep '^CT_'
  echo 'puts("done"); fflush(stdout); } return 0; }'
} >page.c
cc -O2 -I"$TRACEWELL_SOURCE/include/tracewell/aix" page.c -o page -L"$build/lib" -lrts \
  -Wl,-rpath,"$build/lib" || fail "the program of the page does not build"
coproc parts { exec ./page; }
pid=$parts_PID in=${parts[1]} out=${parts[0]}
fire() { echo >&"$in" && read -r line <&"$out"; }
fire

# run STEP: its commands, DIR being a folder, but for what is only a part of one.
commands() {
  python3 - "$page" "$1" <<'P'
import re, sys
page = open(sys.argv[1]).read()
step = re.search(rf"^{sys.argv[2]}\. (.*?)(?=^\d\. |^\S)", page, re.M | re.S).group(1)
for command in re.findall(r"`((?:ctctrl|tracewell) [^`]+)`", step):
    if "--forget" not in command:
        print(re.sub(r"\s+", " ", command).replace("DIR", "dir"))
P
}
run() {
  local count=0
  while IFS= read -r command; do
    count=$((count + 1))
    eval "$command" >got 2>err </dev/null || fail "step $1: $command: $? $(cat err)"
    echo "$command" >>all
    cat got >>all
  done < <(commands "$1")
  [ "$count" = "$2" ] || fail "step $1 has $count commands, not $2"
}
run 2 1
grep -q '^server.net ' all || fail "step 2 does not list server.net"
run 3 1
fire
run 4 3
[ "$(grep -c '0100\|0101' got)" -ge 1 ] || fail "nothing in the report of step 4: $(cat got)"
grep -q '^server.net  *010 ' got || fail "no hook of server.net: $(cat got)"

# A second snapshot into the same folder: the first one is there still, and that is told.
"$TRACEWELL_BIN/tracewell" print dir/server.net >before || fail "print"
fire
ctctrl -D -c server -r -d dir >got 2>err || fail "a second ctctrl -D"
[ "$(cat got)" = "$work/dir/server.net" ] || fail "what is written: $(cat got)"
grep -qF "what $work/dir/server.net was is $work/dir/server.net.~1~ now" err || fail "$(cat err)"
tracewell print dir/server.net.~1~ >after || fail "print of the first one"
diff before after || fail "the first snapshot is another one"
[ "$(tracewell print dir/server.net | wc -l)" -gt "$(wc -l <before)" ] || fail "the second one"
ctctrl -D -c server -r -d dir >got 2>err || fail "a third ctctrl -D"
grep -qF 'server.net.~2~ now' err || fail "the third: $(cat err)"
diff before <(tracewell print dir/server.net.~1~) || fail "the third snapshot replaced the first"
tracewell report -h -l all:dir >got || fail "report -l all"
[ "$(grep -c '^010' got)" = "$(tracewell report -h dir/server.net | grep -c '^010')" ] ||
  fail "old snapshots are in report -l all"
eval "exec $in>&-"
wait "$pid" 2>/dev/null
finish
