#!/usr/bin/env bash
# --images-from-trace: a file that a trace names again and again is loaded once, whatever it is
# called; and how many are opened is bounded, which is said.
. "$(dirname "$0")/common.sh"
# AddressSanitizer reserves far more address space than any limit that would mean something.
limit=400000
[ -z "$sanitized" ] || limit=unlimited

# A library of 20000 functions, a byte each.
python3 - >"$work/lib.s" <<'PYTHON'
print('.text')
for i in range(20000):
    print(f'.globl function_{i}\n.type function_{i},@function\nfunction_{i}: nop\n'
          f'.size function_{i}, 1')
PYTHON
as "$work/lib.s" -o "$work/lib.o"
ld -shared --build-id -o "$work/lib.so" "$work/lib.o"
printf '.text\nsmall: nop\n' | as -o "$work/small.o"
ld -shared --build-id -o "$work/small.so" "$work/small.o"

# trace LIBRARY SYMBOL COUNT HOW: modules of the library, each with a step in it. HOW: "same" file,
# in two "spellings", or "copies".
trace() {
  python3 - "$work" "$@" >"$work/run.jsonl" <<'PYTHON'
import json, os, re, shutil, subprocess, sys
work, library, symbol, count, how = sys.argv[1:]
path = f'{work}/{library}'
def said(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
build_id = re.search('Build ID: ([0-9a-f]+)', said('readelf', '-n', path)).group(1)
at = int(re.search(f'([0-9a-f]+) . {symbol}\n', said('nm', path)).group(1), 16)
modules, steps = [], []
for i in range(int(count)):
    bias = 0x10000000 * (i + 1)
    name = path
    if how == 'spellings' and i % 2:
        name = f'{work}/./{library}'
    if how == 'copies':
        name = f'{work}/copy{i}.so'
        shutil.copyfile(path, name)
    modules.append({"path": name, "bias": hex(bias), "start": hex(bias), "size": 0x10000,
                    "build_id": build_id})
    steps.append({"kind": "step", "pc": hex(bias + at), "opcode": "90"})
print(json.dumps({"catalog": {"endian": "little", "machine": "x86-64", "modules": modules}}))
for step in steps:
    print(json.dumps(step))
PYTHON
}

# shown COUNT ARGS...: so many steps have their symbol.
shown() {
  local wanted=$1 got
  shift
  (ulimit -v "$limit"; "$tracewell" print "$work/run.jsonl" --images-from-trace \
    --limit 100000 --columns step,symbol "$@") >"$work/out" 2>"$work/err" </dev/null ||
    fail "print: $(tail -2 "$work/err")"
  got=$(grep -cE ' (function_777|small)$' "$work/out")
  [ "$got" = "$wanted" ] || fail "$got symbols, not $wanted: $(head -3 "$work/out" "$work/err")"
}

for how in same spellings; do
  trace lib.so function_777 300 "$how"
  shown 300
  [ -s "$work/err" ] && fail "$how: $(head -c 500 "$work/err")"
done
trace small.so small 4100 same
shown 4096
has "4 of the trace's modules are not used: no more than 1024 files, of 4 GiB" err
lines_of_err=$(wc -l <"$work/err")
[ "$lines_of_err" = 1 ] || fail "$lines_of_err lines: $(head -3 "$work/err")"
trace small.so small 1025 copies
shown 1024
has "1 of the trace's modules is not used" err
finish
