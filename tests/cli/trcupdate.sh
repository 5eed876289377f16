#!/usr/bin/env bash
# labels: answers
# trcupdate: templates are added, replaced and deleted; what it writes takes that back to the byte.
. "$(dirname "$0")/common.sh"
export TRACEWELL_TEMPLATES=$work/trcfmt
cat >"$work/trcfmt" <<'T'
# Ours.
010 1.0 L=APPL "first" \
  $D1%D4 \
# in the middle
  $D2
# of 020
020 2.5 L=APPL "second"  $D1

030 1.1 "third" BITFLAGS $D1,
& 3 1 "one"
T
printf '040 1.0 "no end of line"' >>"$work/trcfmt"
cp "$work/trcfmt" "$work/before"
cat >"$work/new.trc" <<'T'
* /etc/trcfmt
# A list of changes.
+ 010 1.0 L=APPL "first, again" \
  $D1
+ 020 2.4 "lower"
+ 015 1.0 "between" $D1
- 030
- 999
+ 050 1.0 "last"
T
expect 0 trcupdate -v "$work/new"
diff - "$work/out" <<'T' || fail "what was done"
0100 replaced
0200 not replaced: version 2.5 is there, 2.4 is lower
0150 added
0300 deleted
9990 was not there
0500 added
T
cat >"$work/wanted" <<'T'
# Ours.
010 1.0 L=APPL "first, again" \
  $D1
015 1.0 "between" $D1
# of 020
020 2.5 L=APPL "second"  $D1

040 1.0 "no end of line"
050 1.0 "last"
T
truncate -s -1 "$work/wanted"  # still no end of the last line
cmp "$work/wanted" "$work/trcfmt" || fail "the new file"
expect 0 report --check -t "$work/trcfmt"
cp "$work/trcfmt" "$work/after"
# A second run finds nothing to do, and leaves what takes back the first.
expect 0 trcupdate "$work/new"
cmp "$work/after" "$work/trcfmt" || fail "the same again"
expect 0 trcupdate -o "$work/new.undo"
cmp "$work/before" "$work/trcfmt" || fail "undo"
expect 0 trcupdate -o "$work/new.undo.undo"
cmp "$work/after" "$work/trcfmt" || fail "undo of the undo"
expect 0 trcupdate -o "$work/new.undo.undo.undo"
cmp "$work/before" "$work/trcfmt" || fail "undo of the undo's undo"

# -o does not ask for versions; an equal one always replaces.
expect 0 trcupdate -o -v "$work/new.trc"
has '0200 replaced'
expect 0 trcupdate -o "$work/new.undo.trc"
cmp "$work/before" "$work/trcfmt" || fail "undo of -o"
printf '* /etc/trcfmt\n+ 020 2.5 "same"\n' >"$work/same.trc"
expect 0 trcupdate -v "$work/same"
has '0200 replaced'
expect 0 trcupdate -o "$work/same.undo"
cmp "$work/before" "$work/trcfmt" || fail "undo of an equal version"

# A mistake anywhere: nothing is changed.
wrong() {  # TEXT MESSAGE…
  printf '%b' "$1" >"$work/wrong.trc"
  rm -f "$work/wrong.undo.trc"
  expect 3 trcupdate "$work/wrong"
  shift
  for text in "$@"; do has "$text" err; done
  cmp -s "$work/before" "$work/trcfmt" || fail "a mistake changed the file"
  [ -e "$work/wrong.undo.trc" ] && fail "a mistake has an undo"
}
wrong '+ 050 1.0 "x"\n' 'wrong.trc:1:1: expected the first line to be "* /etc/trcfmt"'
wrong '' 'wrong.trc:1:1:'
wrong '* /etc/trcfmt\n+ 050 1.0 "x"\n+ 060 1.0 "y" { \n' 'wrong.trc:3:' 'error'
wrong '* /etc/trcfmt\n\n- 01z\n' 'wrong.trc:3:1: expected a hook'
wrong '* /etc/trcfmt\n050 1.0 "x"\n' 'wrong.trc:2:1: expected + TEMPLATE'
wrong '* /etc/trcfmt\n@ 0\n' 'wrong.trc:2:1:'
wrong '* /etc/trcfmt\n@ 3\n- 010\n@ 2' 'expected a + behind'
expect 4 trcupdate "$work/none"

# -x gives what -o takes; a file that is not there is made.
expect 0 trcupdate -x 010,030
cp "$work/out" "$work/some.trc"
expect 0 trcupdate -t "$work/fresh/trcfmt" "$work/some"
expect 0 trcupdate -t "$work/fresh/trcfmt" -x '010 030'
diff "$work/some.trc" "$work/out" || fail "what -x printed"
expect 1 trcupdate -x 066
expect 2 trcupdate -x 6
expect 2 trcupdate
# A byte order mark is no part of the first template, and stays.
printf '\xef\xbb\xbf066 1.0 "first"\n' >"$work/marked"
cp "$work/marked" "$work/before"
printf '* /etc/trcfmt\n+ 066 1.1 "second"\n' >"$work/marks.trc"
expect 0 trcupdate -t "$work/marked" "$work/marks"
cmp "$work/marked" <(printf '\xef\xbb\xbf066 1.1 "second"\n') || fail "a byte order mark"
expect 0 trcupdate -t "$work/marked" -o "$work/marks.undo"
cmp "$work/before" "$work/marked" || fail "undo behind a byte order mark"
# A file that is one template and no more, with and without an end of its last line.
for end in '' '\n'; do
  printf "066 1.0 \"only\"$end" >"$work/only"
  cp "$work/only" "$work/before"
  printf '* /etc/trcfmt\n- 066\n' >"$work/gone.trc"
  expect 0 trcupdate -t "$work/only" "$work/gone"
  [ -s "$work/only" ] && fail "what is left of one template: $(cat "$work/only")"
  expect 0 trcupdate -t "$work/only" -o "$work/gone.undo"
  cmp "$work/before" "$work/only" || fail "undo of the deletion of all"
  expect 0 trcupdate -t "$work/only" -o "$work/gone.undo.undo"
  expect 0 trcupdate -t "$work/only" -o "$work/gone.undo.undo.undo"
  cmp "$work/before" "$work/only" || fail "undo of the undo's undo of the deletion of all"
done
# What follows a template and begins with & is part of it.
printf '010 1.0 "x"\n\n& 0 "mask"\n' >"$work/orphan"
cp "$work/orphan" "$work/before"
printf '* /etc/trcfmt\n\n@ 3\n+ 020 1.0 "y"\n' >"$work/adopts.trc"
expect 3 trcupdate -t "$work/orphan" "$work/adopts"
has 'adopts.trc:3:1: line 3 of the template file begins with &' err
cmp "$work/before" "$work/orphan" || fail "a refused change"
sed -i 's/@ 3/@ 2/' "$work/adopts.trc"
expect 0 trcupdate -t "$work/orphan" "$work/adopts"
expect 0 trcupdate -t "$work/orphan" -o "$work/adopts.undo"
cmp "$work/before" "$work/orphan" || fail "undo in front of a line with &"
printf '\x1f\x9d\x90' >"$work/compressed"
expect 3 trcupdate -t "$work/compressed" "$work/some"

# What a terminal would obey is escaped there, and nowhere else. A template's lines stay lines.
printf '066 1.0 "a\tb\033]0;c\a" \\\n  $D1\n' >"$work/evil"
expect 0 trcupdate -t "$work/evil" -x 066
cmp "$work/out" <(printf '* /etc/trcfmt\n+ 066 1.0 "a\tb\033]0;c\a" \\\n  $D1\n') || fail "raw"
script -qec "$tracewell trcupdate -t $work/evil -x 066" /dev/null </dev/null | tr -d '\r' \
  >"$work/out"
cmp "$work/out" <(printf '* /etc/trcfmt\n+ 066 1.0 "a\tb\\x1b]0;c\\x07" \\\n  $D1\n') ||
  fail "on a terminal: $(cat -v "$work/out")"

# Lists and files of tens of thousands of templates took minutes.
{
  echo '* /etc/trcfmt'
  for i in {4096..45055}; do printf '+ %04X 1.0 L=APPL "t%d" "x"\n' "$i" "$i"; done
} >"$work/many.trc"
sed -n 's/^+ //p' "$work/many.trc" | sed 's/t4096"/first"/' >"$work/templates"
sed -n 's/^+ \(....\) .*/- \1/p' "$work/many.trc" | sed '1i* /etc/trcfmt' >"$work/none.trc"
cp "$work/templates" "$work/before"
: >"$work/empty"
for file in empty templates; do
  within 20 "$tracewell" trcupdate -t "$work/$file" "$work/many" || fail "many into $file"
done
cmp "$work/empty" "$work/templates" || fail "many templates"
within 20 "$tracewell" trcupdate -o -t "$work/templates" "$work/many.undo" || fail "taken back"
cmp "$work/before" "$work/templates" || fail "many taken back to the byte"
within 20 "$tracewell" trcupdate -t "$work/templates" "$work/none" || fail "many deleted"
[ -s "$work/templates" ] && fail "some of many are left"
within 20 "$tracewell" trcupdate -o -t "$work/templates" "$work/none.undo" || fail "many put back"
cmp "$work/before" "$work/templates" || fail "many put back to the byte"
# Nobody named the file that takes the changes back: what is there may be somebody's.
rm "$work/none.undo.trc"
mkfifo "$work/none.undo.trc"
timeout 20 "$tracewell" trcupdate -t "$work/templates" "$work/none" 2>"$work/err"
[ $? = 2 ] || fail "into a FIFO"
has 'is no file: what takes the changes back goes there' err
cmp "$work/before" "$work/templates" || fail "changed all the same"

# What it writes is read by those alone who can read what that was made of.
mode() { stat -c %a "$1"; }
mkdir "$work/rights"
cd "$work/rights" || exit 1
printf '010 1.0 "secret"\n' >templates
printf '* /etc/trcfmt\n+ 010 1.1 "changed"\n' >some.trc
change() {  # TEMPLATES LIST: their modes, and the changes are made
  chmod "$1" templates
  chmod "$2" some.trc
  printf '010 1.0 "secret"\n' >templates
  expect 0 trcupdate -t templates some
}
rights() {  # TEMPLATES UNDO
  [ "$(mode templates) $(mode some.undo.trc)" = "$*" ] ||
    fail "templates, undo: $(mode templates) $(mode some.undo.trc), not $*"
}
umask 022
change 600 644
rights 600 600
rm some.undo.trc
change 604 644
rights 604 600
rm some.undo.trc
change 644 600
rights 644 644
chmod 640 some.undo.trc  # nor can it be read by others than before
change 644 644
rights 644 640
chmod 644 some.undo.trc
change 600 644
rights 600 600
rm templates some.undo.trc
chmod 600 some.trc
expect 0 trcupdate -t templates some
rights 600 600
[ "$(id -u)" = 0 ] || {
  finish
  exit
}
rm some.undo.trc
chgrp 65531 templates
change 640 644
rights 640 640
[ "$(stat -c %g some.undo.trc)" = 65531 ] || fail "the undo's group: $(stat -c %g some.undo.trc)"
chgrp 0 some.undo.trc
change 640 644
rights 640 600
# A list of another user's makes no file theirs.
rm templates some.undo.trc
chown 65532:65532 some.trc
chmod 640 some.trc
expect 0 trcupdate -t templates some
rights 640 640
[ "$(stat -c %u:%g templates)" = 0:65532 ] || fail "new: $(stat -c %u:%g templates)"

# What is another user's is not taken from them: not the templates, nor what has the undo's name.
chown 65532:65532 templates
chmod 600 templates
rm some.undo.trc templates.lock
cp -p templates before
refused() {  # FILE
  expect 2 trcupdate -t templates -o some
  has "cannot change $1: it belongs to user" err
  cmp before templates || fail "changed all the same"
}
printf '010 1.0 "theirs"\n' | tee templates >before
refused templates
[ "$(stat -c %u:%g:%a templates)" = 65532:65532:600 ] || fail "it is $(stat -c %u:%g:%a templates)"
[ "$(ls)" = "$(printf '%s\n' before some.trc templates)" ] || fail "something is left: $(ls)"
chown 0 templates
echo theirs >some.undo.trc
chown 65532 some.undo.trc
refused some.undo.trc
[ "$(stat -c %u some.undo.trc) $(cat some.undo.trc)" = '65532 theirs' ] || fail "their undo is gone"
finish
