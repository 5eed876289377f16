#!/usr/bin/env bash
# --image: a trace that records build-ids says when an image is of another build than the module at
# its place, to every command that takes both. Names are wrong then, and nothing else shows it.
. "$(dirname "$0")/common.sh"
for n in 1 2; do
  echo "int first$n(void) { return $n; } int second$n(void) { return first$n(); }" >"$work/b$n.c"
  for kind in shared no-pie; do
    flags="-$kind"
    [ "$kind" = no-pie ] && flags="-no-pie -Wl,-e,first$n"
    # shellcheck disable=SC2086
    cc -O0 -nostdlib $flags -Wl,--build-id -o "$work/$kind$n" "$work/b$n.c"
  done
  cc -O0 -nostdlib -no-pie "-Wl,-e,first$n" -Wl,--build-id=none -o "$work/nameless$n" "$work/b$n.c"
done
id_of() { readelf -n "$1" | sed -n 's/.*Build ID: //p'; }
base=0x7ff000000000
code=0x$(nm "$work/no-pie1" | awk '$3 == "first1" { print $1 }')
library_code=$((0x$(nm "$work/shared1" | awk '$3 == "first1" { print $1 }') + base))

# trace NAME MODULES PC: a frame and a step there, as JSON lines, as a trace file and as steps.
trace() {
  local catalog="{\"catalog\":{\"machine\":\"x86-64\",\"modules\":[$2]}}"
  printf '%s\n{"kind":"frame","tracepoint":1,"pc":%d}\n' "$catalog" "$3" >"$work/$1.jsonl"
  printf '%s\n{"kind":"step","tid":1,"pc":%d}\n' "$catalog" "$3" >"$work/$1-steps.jsonl"
  expect 0 convert "$work/$1.jsonl" "$work/$1.tf"
}
# module FILE START SIZE
module() {
  printf '{"path":"%s","bias":"%s","start":"%s","size":%d,"build_id":"%s"}' \
    "/opt/$(basename "$1")" "${4:-$2}" "$2" "$3" "$(id_of "$1")"
}
trace program "$(module "$work/no-pie1" 0x400000 20480 0)" "$code"
trace library "$(module "$work/shared1" $base 20480)" "$library_code"

commands() {  # NAME IMAGE
  local frames steps=$work/$1-steps.jsonl
  for frames in "$work/$1.jsonl" "$work/$1.tf"; do
    echo "print $frames --image $2"
    echo "info $frames --image $2"
    echo "info --json $frames --image $2"
    echo "convert $frames $work/out.jsonl --image $2"
  done
  echo "print $work/$1.tf --where pc>5 --image $2"
  echo "print $steps --image $2"
  echo "at $steps 0 --image $2"
  echo "hits $steps --image $2"
  echo "find $steps exec $(printf '0x%x' "$3") --image $2"
  echo "check $steps --image $2"
}
told=' is another build than /opt/'
# says NAME IMAGE CODE FILE MODULE: each command, once, and whose build-ids these are.
says() {
  while read -r command; do
    # shellcheck disable=SC2086
    expect 0 $command
    has "$4 is another build than /opt/$5 of the trace: its build-id is $(id_of "$4"), and the \
trace has $(id_of "$work/$5")" err
    [ "$(grep -c "$told" "$work/err")" = 1 ] || fail "$command: not told once"
    case $command in info*) has "$4$told" ;; esac
  done < <(commands "$1" "$2" "$3")
}
silent() {
  while read -r command; do
    # shellcheck disable=SC2086
    expect 0 $command
    ! grep "another build" "$work/err" "$work/out" || fail "$command: nothing is wrong"
  done < <(commands "$1" "$2" "$3")
}
says program "$work/no-pie2" "$code" "$work/no-pie2" no-pie1
expect 0 print "$work/program.tf" --image "$work/no-pie2"
has '<first2' # it is used all the same
silent program "$work/no-pie1" "$code"
silent program "$work/nameless2" "$code"
says library "$work/shared2@$base" "$library_code" "$work/shared2" shared1
# Of another place within the module, too.
says library "$work/shared2@0x7ff000001000" "$library_code" "$work/shared2" shared1
silent library "$work/shared1" "$library_code"
silent library "$work/shared1@$base" "$library_code"
silent library "$work/shared2@0x7ee000000000" "$library_code"
# By the module's name, where the image is nowhere.
mkdir "$work/new"
cp "$work/shared2" "$work/new/shared1"
says library "$work/new/shared1" "$library_code" "$work/new/shared1" shared1
# Two modules whose ranges overlap: the image is one of them.
trace both "$(module "$work/shared1" $base 20480),$(module "$work/shared2" 0x7ff000001000 20480)" \
  "$library_code"
silent both "$work/shared1" "$library_code"
silent both "$work/shared2" "$library_code"
# Without a size or an address there is less to go by, and capital digits are the same ones.
trace sizeless "$(module "$work/shared1" $base 0)" "$library_code"
says sizeless "$work/shared2@$base" "$library_code" "$work/shared2" shared1
sed -i 's/"build_id":"\([^"]*\)"/"build_id":"\U\1"/' "$work"/sizeless*.jsonl
silent_capitals=$("$tracewell" print "$work/sizeless.jsonl" --image "$work/shared1@$base" 2>&1)
case $silent_capitals in *another\ build*) fail 'capital digits' ;; esac
# Who records no build-id says nothing.
sed -i 's/"build_id":"[^"]*"/"build_id":""/' "$work/program.jsonl"
expect 0 print "$work/program.jsonl" --image "$work/no-pie2"
[ ! -s "$work/err" ] || fail "unknown: $(cat "$work/err")"

# Those that are not in the lists above.
for name in program program-steps; do
  file=$work/$name.tf
  [ -e "$file" ] || file=$work/$name.jsonl
  "$tracewell" replay "$file" - --image "$work/no-pie2" </dev/null >"$work/out" 2>"$work/err"
  has "no-pie2${told}no-pie1" err
done
cp "$work/program-steps.jsonl" "$work/again.jsonl"
expect 0 diff "$work/program-steps.jsonl" "$work/again.jsonl" --image "$work/no-pie2"
has "no-pie2${told}no-pie1" err
expect 1 calls "$work/program-steps.jsonl" --image "$work/no-pie2"
has "no-pie2${told}no-pie1" err
finish
