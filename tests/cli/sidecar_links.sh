#!/usr/bin/env bash
# A trace that is private by its folder alone is opened by a name that another user has made: what
# is kept beside a trace is not put beside that name. docs/threat-model.md. The other user is 65534.
. "$(dirname "$0")/common.sh"
[ "$(id -u)" = 0 ] || { echo 'SKIPPED: other users'\'' links, which takes root'; exit 0; }
chmod 755 "$work"
mkdir -m 700 "$work/private"
mkdir "$work/theirs"
chown 65534:65534 "$work/theirs"
python3 "$TRACEWELL_SOURCE/examples/travel/squares.py" >"$work/steps.jsonl" || fail 'no trace'
expect 0 convert "$work/steps.jsonl" "$work/private/run.trace64"
chmod 644 "$work/private/run.trace64"
ln -s ../private/run.trace64 "$work/theirs/run.trace64"
chown -h 65534:65534 "$work/theirs/run.trace64"
trace=$work/theirs/run.trace64
nothing_there() { [ "$(ls "$work/theirs")" = run.trace64 ] || fail "$1: $(ls "$work/theirs")"; }

# Questions are answered, by an index in memory, and that is said.
expect 0 hits "$work/private/run.trace64"
cp "$work/out" "$work/wanted"
expect 0 hits "$trace"
cmp "$work/out" "$work/wanted" || fail 'another answer'
has 'the index is not kept: ' err
has 'is a symbolic link of user ' err
nothing_there hits
expect 2 note "$trace" 1 text
has 'is a symbolic link of user ' err
nothing_there note
expect 2 note "$trace" --clear
has 'is a symbolic link of user ' err
nothing_there 'note --clear'

# A link of one's own is one's own doing.
ln -s ../private/run.trace64 "$work/theirs/own.trace64"
expect 0 hits "$work/theirs/own.trace64"
[ -s "$work/theirs/own.trace64.tidx" ] || fail 'no index beside a link of one'\''s own'
expect 0 note "$work/theirs/own.trace64" 1 text
finish
