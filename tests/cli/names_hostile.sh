#!/usr/bin/env bash
# --image: names whose author made them unfold to megabytes, or long as they are, cost neither the
# time nor the text that they ask for; and what is left out is said.
. "$(dirname "$0")/common.sh"

# Function types in each other: 12 references to what stands before, each of which doubles it.
unfolding=$(awk 'BEGIN {
  for (i = 0; i < 880; ++i) name = name "x"
  name = "880" name
  last = "_"
  for (i = 0; i < 12; ++i) {
    name = "PFv" name "S" last "E"
    last = substr("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", 2 * i + 2, 1) "_"
  }
  print "_Z1f" name
}')
long=$(printf 'y%.0s' {1..20000})
{
  echo '.text'
  for i in {1..200}; do printf '%sA%d_i: nop\n' "$unfolding" "$i"; done
  printf '%s: nop\n_ZN4book5matchEi: nop\nplain: nop\n' "$long"
} >"$work/names.s"
as "$work/names.s" -o "$work/names.o"
ld -Ttext 0x401000 -e 0x401000 "$work/names.o" -o "$work/names"
{
  echo '{"catalog":{"endian":"little","machine":"x86-64"}}'
  for i in {0..202} {0..202}; do
    printf '{"kind":"step","tid":1,"pc":"0x%x","opcode":"90"}\n' $((0x401000 + i))
  done
} >"$work/names.jsonl"
over='its C++ names unfold to far more text than such a file has'

expect 0 find --image "$work/names" "$work/names.jsonl" exec plain
has 'step 202' out
[ "$(grep -c "$over" "$work/err")" = 1 ] || fail "find plain: $(head -c 500 "$work/err")"
expect 2 find --image "$work/names" "$work/names.jsonl" exec nosuch
has "$over" err
has 'nothing that is called nosuch' err

expect 0 print --image "$work/names" "$work/names.jsonl"
[ "$(wc -c <"$work/out")" -lt 1000000 ] || fail "$(wc -c <"$work/out") bytes of text"
has "<${unfolding}A1_i>" out
has '<plain>' out
[ "$(grep -c "$over" "$work/err")" = 1 ] || fail "print: $(head -c 500 "$work/err")"
[ "$(grep -c 'longer than 16384 characters are shown up to there' "$work/err")" = 1 ] ||
  fail "print does not say that it cut a name: $(head -c 500 "$work/err")"
if grep -q "${long:0:16385}" "$work/out"; then fail 'a name of 20000 characters is shown'; fi
grep -q "${long:0:16384}…" "$work/out" || fail 'the begin of a long name is not shown'

# Where there is one such name, the others are what they were.
{ printf '%s: nop\n_ZN4book5matchEi: nop\n' "$unfolding"; } >"$work/one.s"
as "$work/one.s" -o "$work/one.o"
ld -Ttext 0x401000 -e 0x401000 "$work/one.o" -o "$work/one"
expect 0 print --image "$work/one" "$work/names.jsonl" --to 4
has "<$unfolding>" out
has '<book::match(int)>' out
[ -s "$work/err" ] && fail "one such name: $(cat "$work/err")"
finish

# 40 MiB of zeros in some kilobytes: more than is unfolded for so small a file.
printf '.text\nnop\n.section .debug_line_str,"",@progbits\n.zero 41943040\n' >"$work/folded.s"
as "$work/folded.s" -o "$work/folded.o"
objcopy --compress-debug-sections "$work/folded.o"
ld -Ttext 0x401000 -e 0x401000 "$work/folded.o" --compress-debug-sections=zlib -o "$work/folded"
printf '%s\n' '{"catalog":{"endian":"little","machine":"x86-64"}}' \
  '{"kind":"step","tid":1,"pc":"0x401000","opcode":"90"}' >"$work/folded.jsonl"
expect 0 print --image "$work/folded" "$work/folded.jsonl"
has 'its compressed section .debug_line_str is damaged, or unfolds to more than such' err
