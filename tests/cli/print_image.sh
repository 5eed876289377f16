#!/usr/bin/env bash
# tracewell print --image: what the addresses are called in the program.
. "$(dirname "$0")/common.sh"
cat >"$work/book.c" <<'EOF'
long matched_total = 1;
int table[8] = {1};
static int match(int n) {
  matched_total += n;
  return n + 1;
}
int main(void) { return match(table[2]); }
EOF
cc -g -O0 -fPIE -pie -o "$work/pie" "$work/book.c"
cc -g -O0 -no-pie -o "$work/fixed" "$work/book.c"
cc -g -O0 -gz -gdwarf-4 -fPIE -pie -o "$work/packed" "$work/book.c"

# address FILE SYMBOL: link-time, as a number.
address() {
  printf '%d' "0x$(nm "$1" | awk -v name="$2" '$3 == name { print $1; exit }')"
}

# trace FILE BIAS [CATALOG]: a frame in match (behind its first instruction), memory in the two
# objects and in none, and a step in main. Written by hand and converted as far as it goes.
trace() {
  local match total table main
  match=$(($(address "$1" match) + $2 + 1))
  total=$(($(address "$1" matched_total) + $2))
  table=$(($(address "$1" table) + $2 + 8))
  main=$(($(address "$1" main) + $2))
  cat >"$work/steps.jsonl" <<EOF
{"catalog":{"machine":"x86-64"${3:-}}}
{"kind":"frame","tracepoint":1,"pc":$match,"memory":[{"addr":$total,"bytes":"0700000000000000"},\
{"addr":$table,"bytes":"$(printf '%034d' 0)"},{"addr":16,"bytes":"68"}]}
{"kind":"step","pc":$main,"opcode":"55"}
EOF
  head -2 "$work/steps.jsonl" >"$work/frames.jsonl"
  expect 0 convert "$work/frames.jsonl" "$work/frames.tf"
  pc=$(printf '0x%x' "$match")
  total=$(printf '0x%x' "$total")
  table_at=$(printf '0x%x' "$table")
  table_next=$(printf '0x%x' "$((table + 16))")
  step=$(printf '0x%x' "$main")
  blank='00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 |................|'
  named="frame 0  tracepoint 1  pc $pc <match+1 at book.c:3>
  $total  07 00 00 00 00 00 00 00                         |........|  <matched_total>
  $table_at  $blank  <table+8>
  $table_next  00                                              |.|
  0x10  68                                              |h|"
}

base=0x555555554000
trace "$work/pie" $((base))
for file in steps.jsonl frames.jsonl frames.tf; do
  expect 0 print --image "$work/pie@$base" "$work/$file"
  [ "$(grep -v -e '^step' -e 'rip  ' -e 'zero)$' "$work/out")" = "$named" ] || {
    fail "$file with names:"
    diff <(echo "$named") "$work/out"
  }
  [ -s "$work/err" ] && fail "$file: $(cat "$work/err")"
done
expect 0 print "$work/steps.jsonl" --image "$work/pie@$base"
has "step 1  pc $step <main at book.c:7>  55"
expect 0 print "$work/steps.jsonl"
has "frame 0  tracepoint 1  pc $pc"
has "step 1  pc $step  55"
if grep -q '[<>]' "$work/out"; then fail 'names without an image'; fi

# Behind a function's first instruction its symbol is not its name.
for where in 'symbol == "match"' '"match" == symbol && pc > 5'; do
  expect 1 print --image "$work/pie@$base" "$work/frames.tf" --where "$where"
  has "fits --where '$where'; a symbol is NAME+OFFSET but at a function's first byte: \
symbol =~ \"^match\"" err
done
expect 0 print --image "$work/pie@$base" "$work/frames.tf" --where 'symbol =~ "^match"'
for where in 'symbol == "match+9"' 'symbol != "match+1"' 'module == "match"'; do
  expect 1 print --image "$work/pie@$base" "$work/frames.tf" --where "$where"
  ! grep OFFSET "$work/err" || fail "$where"
done

# Elsewhere, and without a base that anybody knows.
expect 0 print --image "$work/pie@0x7f0000000000" "$work/steps.jsonl"
if grep -q '[<>]' "$work/out"; then fail 'names at a wrong base'; fi
expect 0 print --image "$work/pie" "$work/steps.jsonl"
has 'could have been anywhere' err
if grep -q '[<>]' "$work/out"; then fail 'names without a base'; fi

# The trace may say where the file was, and which one it was.
id=$(readelf -n "$work/pie" | sed -n 's/.*Build ID: //p')
trace "$work/pie" $((base)) ",\"modules\":[{\"path\":\"$work/pie\",\"bias\":\"$base\",\
\"start\":\"$base\",\"build_id\":\"$id\"}]"
for option in "--image=$work/pie" --images-from-trace; do
  expect 0 print "$option" "$work/steps.jsonl"
  has "pc $pc <match+1 at book.c:3>"
done
cp "$work/fixed" "$work/pie"
expect 0 print --images-from-trace "$work/steps.jsonl"
has 'the file here is another' err
if grep -q '[<>]' "$work/out"; then fail 'names of another file'; fi

# A program that is always at one place; one whose lines are compressed; one that was stripped.
trace "$work/fixed" 0
expect 0 print --image "$work/fixed" "$work/steps.jsonl"
has "pc $pc <match+1 at book.c:3>"
has '|  <matched_total>'
trace "$work/packed" $((base))
expect 0 print --image "$work/packed@$base" "$work/steps.jsonl"
has "pc $pc <match+1 at book.c:3>"
strip --keep-section='.debug*' --strip-unneeded "$work/packed"
expect 0 print --image "$work/packed@$base" "$work/steps.jsonl"
has "pc $pc <book.c:3>"
strip "$work/packed"
expect 0 print --image "$work/packed@$base" "$work/steps.jsonl"
if grep -q '[<>]' "$work/out"; then fail 'names of a stripped program'; fi

# Names cannot speak to the terminal.
trace "$work/fixed" 0
sed 's/matched_total/matched\x1b[31m\x07/g' "$work/fixed" >"$work/evil"
expect 0 print --image "$work/evil" "$work/steps.jsonl"
if grep -q '[[:cntrl:]]' "$work/out"; then fail 'control characters got through'; fi
has '<matched\x1b[31m\x07>'

# What cannot be.
for format in jsonl csv; do
  expect 2 print --format "$format" --image "$work/fixed" "$work/steps.jsonl"
  has "$format carries no names" err
  expect 2 print --format "$format" --images-from-trace "$work/steps.jsonl"
done
expect 4 print --image "$work/none" "$work/steps.jsonl"
expect 3 print --image "$work/book.c" "$work/steps.jsonl"
has 'neither an ELF nor a PE file' err
expect 2 print --image "$work/fixed@0x1000" "$work/steps.jsonl"
has 'not position-independent' err
finish
