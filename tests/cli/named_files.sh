#!/bin/bash
# What the operator names is opened as any tool opens it, and nothing is written through a link that
# belongs to anybody else. docs/threat-model.md
source "$TRACEWELL_SOURCE/tests/cli/common.sh"
python3 "$TRACEWELL_SOURCE/examples/travel/squares.py" >"$work/steps.jsonl" || fail 'no trace'

# In a shell of the user's who runs it: whoever opened a pipe decides who may open it again.
named_files() {
  fail() { echo "FAILED: as uid $(id -u): $*"; bad=1; }
  same() { cmp -s wanted got || fail "$1"; }
  bad=0
  cd "$work/$1" || return 1
  "$tracewell" print "$work/steps.jsonl" >wanted || fail print
  [ -s wanted ] || fail 'nothing printed'
  "$tracewell" print - <"$work/steps.jsonl" >got && same 'standard input'
  cat "$work/steps.jsonl" | "$tracewell" print - >got && same 'a pipe'
  cat "$work/steps.jsonl" | "$tracewell" print /dev/stdin >got && same '/dev/stdin'
  "$tracewell" print <(cat "$work/steps.jsonl") >got && same 'process substitution'
  ln -s "$work/steps.jsonl" link.jsonl
  "$tracewell" print link.jsonl >got && same 'a linked trace'
  mkfifo fifo
  timeout 20 cat "$work/steps.jsonl" >fifo &
  "$tracewell" print fifo >got && same 'a FIFO'
  wait

  "$tracewell" convert "$work/steps.jsonl" - --format csv >wanted 2>err || fail convert
  for to in got /dev/null; do
    "$tracewell" convert "$work/steps.jsonl" /dev/stdout --format csv >$to 2>err || fail "into $to"
  done
  same '/dev/stdout'
  "$tracewell" convert "$work/steps.jsonl" /dev/stdout --format csv 2>err | cat >got
  same '/dev/stdout, a pipe'
  ln -s target.csv out.csv
  "$tracewell" convert "$work/steps.jsonl" out.csv 2>err && cp target.csv got && same 'an own link'
  [ -L out.csv ] || fail 'the link was replaced'
  timeout 20 cat fifo >got &
  "$tracewell" convert "$work/steps.jsonl" fifo --format csv 2>err && wait && same 'to a FIFO'
  "$tracewell" convert "$work/steps.jsonl" >(cat >got) --format csv 2>err && wait $! &&
    same 'to a process substitution'
  # It goes on where the shell is: what it wrote before stays.
  { echo before; "$tracewell" convert "$work/steps.jsonl" /dev/stdout --format csv; } >got 2>err
  [ "$(head -1 got)" = before ] && tail -n +2 got | cmp -s wanted - || fail 'behind other output'
  "$tracewell" report -o /dev/stdout "$work/steps.jsonl" >got 2>err && [ -s got ] ||
    fail 'report -o /dev/stdout'
  "$tracewell" report -o - "$work/steps.jsonl" >wanted 2>err && same 'report -o -'
  # A folder that is named may be behind a link; what is in it is found.
  mkdir folder && ln -s folder linked
  for kind in none fifo device; do
    rm -f folder/metadata
    case $kind in
      fifo) mkfifo folder/metadata ;;
      device) ln -s /dev/zero folder/metadata ;;
    esac
    timeout 20 "$tracewell" info linked >got 2>err
    case $kind-$? in
      none-4) grep -q "that would have a file 'metadata'" err || fail "none: $(cat err)" ;;
      fifo-2 | device-2)
        grep -q 'metadata: it is no regular file' err || fail "$kind: $(cat err)"
        ;;
      *) fail "metadata is a $kind: $(cat err)" ;;
    esac
  done
  return $bad
}
export -f named_files
export work tracewell
chmod 755 "$work"
mkdir "$work/self"
bash -c 'named_files self' || fail 'as this user'

if [ "$(id -u)" = 0 ]; then
  cp "$tracewell" "$work/tracewell"
  chmod 755 "$work/tracewell"
  mkdir "$work/other"
  chown 65534 "$work/other"
  chmod 644 "$work/steps.jsonl"
  HOME=$work/other tracewell=$work/tracewell \
    setpriv --reuid=65534 --clear-groups bash -c 'named_files other' ||
    fail 'as another user'

  # A folder as /tmp is; somebody's links in it lead to what is root's.
  mkdir -m 1777 "$work/sticky"
  echo precious >"$work/precious"
  ln -s "$work/precious" "$work/sticky/run.csv"
  ln -s "$work/new" "$work/sticky/new.csv"
  ln -s "$work" "$work/sticky/folder"
  chown -h 65534 "$work"/sticky/*
  for name in run.csv new.csv folder/made.csv; do
    expect 2 convert "$work/steps.jsonl" "$work/sticky/$name"
    has 'is a symbolic link of user' err
    [ -L "$work/sticky/${name%%/*}" ] || fail "$name: the link is gone"
  done
  [ "$(cat "$work/precious")" = precious ] || fail 'a file was written through a link'
  [ ! -e "$work/new" ] && [ ! -e "$work/made.csv" ] || fail 'a file was made through a link'
  # What somebody else put there first is not written to, be it that others may.
  taken() {  # NAME ARGS…
    local name=$1
    shift
    timeout 20 "$tracewell" "$@" >"$work/out" 2>"$work/err" </dev/null
    [ $? = 2 ] || fail "$*: $(cat "$work/err")"
    has "cannot write $work/sticky/$name: a ${name%.*} of user" err
    has 'remove it, or name another file' err
  }
  mkfifo "$work/sticky/FIFO.jsonl" "$work/sticky/own.csv" "$work/other/FIFO.csv"
  exec 7<>"$work/sticky/FIFO.jsonl"
  echo kept >"$work/sticky/file.log"
  chmod 666 "$work/sticky/FIFO.jsonl" "$work/sticky/file.log"
  chown 65534 "$work"/sticky/FIFO.* "$work"/sticky/file.* "$work/other/FIFO.csv"
  ln -s sticky/FIFO.jsonl "$work/to_it.jsonl"
  taken FIFO.jsonl convert "$work/steps.jsonl" "$work/sticky/FIFO.jsonl"
  taken FIFO.jsonl report -o "$work/sticky/FIFO.jsonl" "$work/steps.jsonl"
  expect 2 convert "$work/steps.jsonl" "$work/to_it.jsonl"
  has 'a FIFO of user' err
  for name in FIFO.jsonl file.log; do
    taken $name serve --debug --debug-file "$work/sticky/$name" localhost:0 /bin/true
  done
  [ "$(cat "$work/sticky/file.log")" = kept ] || fail 'another user'\''s file was written to'
  dd iflag=nonblock bs=64k count=1 <&7 2>/dev/null | grep -q . &&
    fail 'another user'\''s FIFO was written to'
  exec 7>&-
  # Where nobody else may put one, and one's own anywhere, they are meant.
  for fifo in sticky/own.csv other/FIFO.csv; do
    timeout 20 cat "$work/$fifo" >"$work/got" &
    expect 0 convert "$work/steps.jsonl" "$work/$fifo"
    wait
    cmp -s "$work/got" "$work/self/wanted" || [ -s "$work/got" ] || fail "to $fifo"
  done
  # To read what was named, links are followed whosever they are; what was found, is found.
  ln -s "$work/steps.jsonl" "$work/sticky/steps.jsonl"
  mkdir "$work/sticky/log"
  ln -s "$work/precious" "$work/sticky/log/metadata"
  chown -hR 65534 "$work/sticky/steps.jsonl" "$work/sticky/log"
  expect 0 print "$work/sticky/steps.jsonl"
  expect 2 info "$work/sticky/log"
  has 'is a symbolic link of user' err
else
  echo 'SKIPPED: other users'\'' links, which takes root'
fi
finish
