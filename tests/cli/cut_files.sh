#!/usr/bin/env bash
# timeout: 300
# labels: answers
# A file that is cut while it is mapped reads as zeros from there on. Each command says so: a trace,
# its index and images. docs/threat-model.md
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/hooks_common.sh"
chmod 755 "$work"
data=$TRACEWELL_SOURCE/tests/formats
sample=$data/data/synthetic_threads_fixed.trace64
page=4096
python3 "$(dirname "$0")/cut_when_mapped.py" "$sample" 0 true
[ $? = 99 ] || {
  echo 'SKIPPED: ptrace is not allowed here'
  exit 0
}

# cut FILE BYTES ARGS…: as expect() does it, and without a word about the status.
cut() {
  local file=$1 bytes=$2
  shift 2
  python3 "$TRACEWELL_SOURCE/tests/cli/cut_when_mapped.py" "$file" "$bytes" "$tracewell" "$@" \
    >"$work/out" 2>"$work/err" </dev/null
  status=$?
  [ "$status" != 99 ] || fail "$*: did not map $file"
}
# told ARGS: of what was just run.
told() {
  grep -q 'file-shrank\|bytes could not be read' "$work/out" "$work/err" && return
  fail "$*: not a word (status $status)"
  head -3 "$work/err"
}

# Steps with an index, and without one; in all formats that are read.
mkdir "$work/in"
cp "$sample" "$work/in/steps.trace64"
for name in steps.jsonl steps.tenet steps.tvt; do
  expect 0 convert "$sample" "$work/in/$name"
done
cp "$data/tfile/gdb-tsave/input.tf" "$work/in/frames.tf"
cp "$data/tracebuffer/all-dropped/input.twb" "$work/in/frames.twb"
for original in "$work"/in/*; do
  file=$work/${original##*/}
  size=$(stat -c %s "$original")
  [ "$size" -gt $((2 * page)) ] || fail "$file: too small to be cut"
  # In the middle, and within the last page, where no access fails.
  for bytes in $((size / 2 / page * page)) $((size - 10)); do
    [ -z "$sanitized" ] || [[ $file == *.trace64 ]] || [ "$bytes" != $((size - 10)) ] || continue
    [ $((size % page)) -gt 10 ] || [ $((size - bytes)) != 10 ] || continue
    for command in info check print repair 'convert'; do
      cp "$original" "$file"
      to=
      case $command in
        repair) [[ $file == *.twb ]] && continue; to=$work/repaired.${file##*.} ;;
        convert) to=$work/converted.jsonl ;;
      esac
      cut "$file" "$bytes" $command "$file" $to
      told "$command ${file##*/} $bytes"
      [ "$command" != check ] || [ "$status" = 1 ] || fail "check ${file##*/}: status $status"
      rm -f "$file.tidx"
    done
    cp "$original" "$file"
    rm -f "$work/converted.jsonl"
    cut "$file" "$bytes" convert --strict "$file" "$work/converted.jsonl"
    [ "$status" = 3 ] || fail "convert --strict ${file##*/}: status $status"
    [ ! -e "$work/converted.jsonl" ] || fail "convert --strict ${file##*/} wrote its output"
    [[ $file == *steps* ]] || continue
    for command in 'at FILE 5' 'find FILE exec 0x0,0xffffffffffffffff --limit 2' 'hits FILE' \
                   'calls FILE' "diff FILE $sample"; do
      cp "$original" "$file"
      cut "$file" "$bytes" ${command//FILE/$file}
      told "$command ${file##*/} $bytes"
      rm -f "$file.tidx"
    done
  done
done

# The index.
trace=$work/steps.trace64
cp "$sample" "$trace"
expect 0 at "$trace" 5
size=$(stat -c %s "$trace.tidx")
cut "$trace.tidx" $((size / 2 / page * page)) find "$trace" write 0x0,0xffffffffffffffff
grep -q 'file-shrank\|is damaged; making it anew' "$work/err" || fail 'nothing about the index'

# An image.
cat >"$work/main.c" <<'C'
char text[100000] = "x";
int main(void) { return text[1]; }
C
cc -g -no-pie -o "$work/program" "$work/main.c" || fail cc
cat >"$work/one.jsonl" <<EOF
{"catalog":{"machine":"x86-64"}}
{"kind":"step","pc":$((0x$(nm "$work/program" | awk '$3 == "main" { print $1 }'))),"opcode":"55"}
EOF
expect 0 print "$work/one.jsonl" --image "$work/program"
[ ! -s "$work/err" ] || fail "an image that is whole: $(cat "$work/err")"
cut "$work/program" $page print "$work/one.jsonl" --image "$work/program"
told image

# A log: the file of a stream.
cat >"$work/fires.c" <<'C'
#include <sys/trchkid.h>
int main(void)
{
  int i;
  for (i = 0; i < 2000; ++i) TRCHKL2(HKWD_USER1, i, 7);
  return 0;
}
C
cc -I"$TRACEWELL_SOURCE/include/tracewell/aix" "$work/fires.c" -o "$work/fires" \
  -L"$build/lib" -lrts -Wl,-rpath,"$build/lib" || fail "fires.c"
"$tracewell" trace -a -o "$work/log" || fail trace
"$work/fires" || fail fires
"$tracewell" trcstop || fail trcstop
part=$(basename "$(ls -S "$work"/log/*-*.* | head -1)")
size=$(stat -c %s "$work/log/$part")
[ "$size" -gt $((2 * page)) ] || fail "$part: too small to be cut"
for command in info check print report; do
  rm -rf "$work/copy"
  cp -r "$work/log" "$work/copy"
  cut "$work/copy/$part" $page $command "$work/copy"
  told "$command of a log"
  [ "$command" != check ] || [ "$status" = 1 ] || fail "check of a log: status $status"
done
finish
