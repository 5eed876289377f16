#!/usr/bin/env bash
# examples/aix: programs as they are written for AIX build as they stand and are traced; their
# report has the lines that it is to have, but for times and addresses.
. "$(dirname "$0")/common.sh"
export XDG_RUNTIME_DIR=$work/run
mkdir -m 700 "$work/run"
"$TRACEWELL_SOURCE/examples/aix/run" >"$work/out" 2>"$work/err" || fail "run: $(cat "$work/err")"
[ -s "$work/err" ] && fail "run complains: $(head -3 "$work/err")"
# Without Tracewell it says what is missing, and not the linker.
for wrong in "TRACEWELL_PREFIX=$work/none" "TRACEWELL_BIN=$work/none"; do
  env "$wrong" "$TRACEWELL_SOURCE/examples/aix/run" >"$work/none.out" 2>&1 && fail "$wrong: it ran"
  [ "$(cat "$work/none.out")" = "no tracewell in $work/none: run make, or set TRACEWELL_PREFIX to \
where it is installed" ] || fail "$wrong: $(head -3 "$work/none.out")"
done
# By the command lines that AIX has for it: only -I and -L are added.
for line in 'trace -aj 010 ; ./a.out ; trcstop' 'trcrpt' 'trcrpt -t mytrace'; do
  grep -qxF "$line" "$TRACEWELL_SOURCE/examples/aix/run" || fail "no line: $line"
done
[ "$(grep -c '^trace -a.*/aix/trace -aj 010\|^trace -aj 010$' "$work/out")" = 3 ] ||
  fail "headings"
python3 - "$work/out" <<'PY' || fail "the report"
import re, sys
lines = [line.split() for line in open(sys.argv[1])]
hooks = [words for words in lines if words and words[0] == "010"]
raw = hooks[0]
assert raw[3:7] == ["UNDEFINED", "TRACE", "ID", "idx"] and raw[7].startswith("0x"), raw
at = lines.index(raw)
assert lines[at + 1] == "traceid 0100 hookword 8000002801000000 type 8000".split(), lines[at + 1]
assert lines[at + 2] == "hookdata 0000 0000000000000004".split(), lines[at + 2]
assert len(lines[at + 3]) == 2 and lines[at + 3][1] == "000000000000000A", lines[at + 3]
address = int(lines[at + 3][0], 16)
assert address != 0
text = [" ".join(words[3:]) for words in hooks[1:]]
assert text[0] == f"Single Unit:0004 Address:{address:X} Count:000A", text[0]
found = re.fullmatch("MyCustomHook Activity=malloc Address=0x([0-9A-F]+) Size=40", text[1])
assert found, text[1]
assert text[2] == "MyCustomHook String Length=17 successful malloc", text[2]
fifth = int(found.group(1), 16) + 5 * 4
assert text[3] == f"MyCustomHook Address=0x{fifth:X} Array Index=5 Value=20", text[3]
assert len(text) == 4, text
for words in hooks:  # seconds, then milliseconds since the entry before
    assert re.fullmatch(r"\d+\.\d{9}", words[1]) and re.fullmatch(r"\d+\.\d{6}", words[2]), words
for before, after in zip(hooks[2:], hooks[3:]):
    assert abs(float(after[1]) - float(before[1]) - float(after[2]) / 1000) < 1.5e-9, after
PY
finish
