#!/usr/bin/env bash
# Trace files that we write open in stock GDB and show what was put in.
# timeout: 120
set -u
: "${TRACEWELL_BIN:?set it to the folder of the built programs}"
: "${TRACEWELL_SOURCE:?set it to the root of the source tree}"
command -v gdb >/dev/null || { echo "gdb is not installed"; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0
fail() {
  echo "FAILED: $*"
  failures=$((failures + 1))
}

# A hand-written trace with all that GDB cannot hold: times, threads, registers that were not
# collected, modules. They go behind the end, where GDB must not mind them.
cat >"$work/hand.jsonl" <<EOF
{"catalog":{"machine":"x86-64",\
"status":{"stop":"requested","stop_text":"by hand","user_name":"me","notes":"a note"},\
"variables":[{"number":1,"name":"n","initial_value":5}],\
"tracepoints":[{"number":3,"address":"0x401000","actions":["R010000"],\
"sources":[{"type":"at","text":"*0x401000"},{"type":"cmd","text":"collect \$rip"}],\
"usage":{"hits":16,"bytes":32}}],\
"modules":[{"path":"/bin/true","bias":"0x1000","start":"0x1000","size":4096}],"auxv":"00"}}
{"kind":"frame","tracepoint":3,"tid":7,"time_ns":1,\
"registers":{"rip":"0x401136","rax":"0x77","xmm1":"0x3ff0000000000000"},"variables":{"1":-2}}
{"kind":"frame","tracepoint":3,"tid":8,"time_ns":2,\
"memory":[{"addr":"0x404034","bytes":"07000000"}]}
EOF
"$TRACEWELL_BIN/tracewell" convert "$work/hand.jsonl" "$work/hand.tf" || fail 'convert'
timeout 60 gdb -nx -batch -ex "target tfile $work/hand.tf" -ex tstatus -ex 'info tracepoints' \
  -ex 'tfind 0' -ex 'p/x $rip' -ex 'p/x $rax' -ex 'p $xmm1.v2_double[0]' -ex 'p $n' \
  -ex 'tfind' -ex 'x/1dw 0x404034' -ex 'x/1xb 0x404040' -ex 'tfind' >"$work/gdb.out" 2>&1 </dev/null
has() {
  grep -qF -- "$1" "$work/gdb.out" || fail "GDB did not say \"$1\""
}
has 'Trace stopped by a tstop command (by hand).'
has 'Collected 2 trace frames.'
has 'Trace notes: a note'
has 'already hit 16 times'
has 'collect $rip'
has 'Found trace frame 0'
has '= 0x401136'
has '= 0x77'
has '= 1'
has '= -2'
has 'Found trace frame 1'
has "0x404034:$(printf '\t')7"
has "0x404040:$(printf '\t')<unavailable>"
if grep -qiE 'warning: (Ignoring|No traceframes)|Premature' "$work/gdb.out"; then
  fail 'GDB complains'
fi
[ "$failures" = 0 ] || cat "$work/gdb.out"

# Texts longer than a line of GDB's, and a description with a long line.
python3 - "$work" <<'EOF'
import json, sys

def regs(names, bits, rest):
    return " ".join(f"<reg name='{name}' bitsize='{bits}' {rest}/>" for name in names.split()) + " "

xml = ("<target><architecture>i386</architecture><feature name='org.gnu.gdb.i386.core'>" +
       regs("eax ecx edx ebx esp ebp esi edi eip eflags cs ss ds es fs gs", 32, "type='int32'") +
       regs("st0 st1 st2 st3 st4 st5 st6 st7", 80, "type='i387_ext'") +
       regs("fctrl fstat ftag fiseg fioff foseg fooff fop", 32, "type='int' group='float'") +
       "</feature></target>")
sources = [{"type": "at", "text": "*0x10"},
           {"type": "cmd", "text": "collect " + "$eip, " * 400 + "$eip"}]
catalog = {"machine": "i386", "target_description": xml,
           "tracepoints": [{"number": 1, "address": "0x10", "sources": sources}]}
frame = {"kind": "frame", "tracepoint": 1, "registers": {"eip": "0x1234", "edi": "0x99"}}
with open(sys.argv[1] + "/long.jsonl", "w") as out:
    print(json.dumps({"catalog": catalog}), json.dumps(frame), sep="\n", file=out)
EOF
"$TRACEWELL_BIN/tracewell" convert "$work/long.jsonl" "$work/long.tf" || fail 'long lines'
timeout 60 gdb -nx -batch -ex "target tfile $work/long.tf" -ex 'tfind 0' -ex 'p/x $eip' \
  -ex 'p/x $edi' >"$work/gdb.out" 2>&1 </dev/null
has '= 0x1234'
has '= 0x99'
[ "$failures" = 0 ] || cat "$work/gdb.out"

# A file that GDB wrote, cut: GDB shows of the parts what it shows of the whole.
whole=$TRACEWELL_SOURCE/tests/formats/tfile/gdb-tsave/input.tf
"$TRACEWELL_BIN/tracewell" convert "$whole" "$work/part.tf" --from 8 || fail 'a part'
show() {
  timeout 60 gdb -nx -batch -ex "target tfile $1" -ex "tfind $2" -ex 'p/x $rip' -ex 'p/x $rsp' \
    -ex 'p $n' 2>&1 </dev/null | grep '^\$'
}
[ "$(show "$whole" 8)" = "$(show "$work/part.tf" 0)" ] || fail 'a part shows something else'
show "$work/part.tf" 0 | grep -q '= 0x401131' || fail 'no registers of the part'

[ "$failures" = 0 ] || exit 1
echo ok
