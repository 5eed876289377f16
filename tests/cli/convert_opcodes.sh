#!/usr/bin/env bash
# tracewell convert, of traces without opcodes: they come from images, and where they are missing it
# is told, and nothing is written over.
. "$(dirname "$0")/common.sh"
cat >"$work/prog.s" <<'EOF'
.globl _start
_start: mov $5, %eax
        add %rax, %rbx
        nop
EOF
cc -nostdlib -static -no-pie -Wl,-Ttext=0x401000 -o "$work/prog" "$work/prog.s"
printf '%s\n' rax=0x0,rbx=0x1,rip=0x401000 rax=0x5,rip=0x401005 rbx=0x6,rip=0x401008 \
  rip=0x401009 >"$work/run.tenet"
head -3 "$work/run.tenet" >"$work/inside.tenet"

echo precious >"$work/out.trace64"
expect 3 convert "$work/run.tenet" "$work/out.trace64"
has 'does not tell the opcode of step 0 at 0x401000, and a trace64 has all opcodes; --image' err
expect 3 convert "$work/run.tenet" "$work/out.trace64" --image "$work/prog"
has 'opcode of step 3 at 0x401009' err
has 'give another --image FILE@BASE, or leave such steps out by --where disassembly' err
[ "$(cat "$work/out.trace64")" = precious ] || fail 'what was there is written over'

expect 0 convert "$work/inside.tenet" "$work/inside.trace64" --image "$work/prog"
expect 0 convert "$work/run.tenet" "$work/part.trace64" --image "$work/prog" --where disassembly
for name in inside part; do
  expect 0 print "$work/$name.trace64"
  has 'step 0  pc 0x401000  b805000000  mov eax, 0x05  rax=0x5'
  has 'step 1  pc 0x401005  4801c3  add rbx, rax  rbx=0x6'
  has 'step 2  pc 0x401008  90  nop'
done
# Other formats take them, too, but do without.
expect 0 convert "$work/run.tenet" - --format jsonl --image "$work/prog"
has '"opcode":"b805000000"'
expect 0 convert "$work/run.tenet" - --format csv
finish
