#!/usr/bin/env bash
# skips; user
# Where programs and commands meet: in the folder that $XDG_RUNTIME_DIR names, unless somebody else
# could exchange it; then in another one, both of them. And no program makes anything where another
# user's links lead. docs/decisions/0008-trace-hooks.md has the rule.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/hooks_common.sh"
be_two_users
me=65531
elsewhere=/tmp/tracewell-$me
[ ! -e "$elsewhere" ] && [ ! -e /run/user/$me ] || {
  echo "skipped: the user $me has folders of hooks here"
  exit 0
}
trap 'rm -rf "$work" "$elsewhere" "$elsewhere"-*' EXIT
chmod 711 "$work"
cat >"$work/fires.c" <<'C'
#include <stdio.h>
#include <sys/ras_trace.h>
#include <sys/trchkid.h>
int main(int argc, char **argv)
{
  if (argc > 1) {
    const ras_block_t block = tracewell_component_register(argv[1], 0, 0);
    puts(block ? "ready" : "none");
    fflush(stdout);
    getchar();
    return 0;
  }
  TRCHKL1(HKWD_USER1, 7);
  return 0;
}
C
cc -static -I"$TRACEWELL_SOURCE/include/tracewell/aix" "$work/fires.c" -o "$work/fires" \
  -L"$build/lib" -lrts || fail "fires.c"
cp "$tracewell" "$work/tool"
chmod 755 "$work/tool" "$work/fires"
mine=$work/mine his=$work/his log=$work/mine/log
mkdir -m 700 "$mine" "$mine/run" "$mine/taken" "$mine/secret"
mkdir -m 777 "$his" "$mine/open"
chown -R $me:$me "$mine"
chown 65534 "$his"
chmod 711 "$mine"
first=()
as_me() {  # COMMAND…
  (cd / && "${first[@]}" setpriv --reuid=$me --regid=$me --clear-groups \
    env XDG_RUNTIME_DIR="$runtime" XDG_STATE_HOME="$mine/state" HOME="$mine" "$@")
}
hooks() {  # COUNT: of the log
  expect 0 print --where 'kind == "hook"' "$log"
  lines "$1"
}
meet() {  # RUNTIME FOLDER [WHY]: both meet in FOLDER, and the command says why
  runtime=$1
  rm -rf "$elsewhere" "$log"
  as_me "$work/fires" || fail "$1: the program"
  compgen -G "$2/hooks-*" >/dev/null || fail "$1: the program is not in $2"
  as_me "$work/tool" trace -af -o "$log" 2>"$work/err" || fail "$1: $(cat "$work/err")"
  if [ $# = 3 ]; then
    has "$3" err
    has "so $2 is used instead" err
  else
    [ -s "$work/err" ] && fail "$1: it says $(cat "$work/err")"
  fi
  as_me "$work/fires"
  as_me "$work/tool" trcstop 2>"$work/err" || fail "$1: $(cat "$work/err")"
  hooks 1
}

# Folders that are the user's own, or where others cannot take away what is the user's.
meet "$mine/run" "$mine/run/tracewell"
ln -s run "$mine/link"
chown -h $me "$mine/link"
meet "$mine/link/" "$mine/link//tracewell"
ln -s "$mine/run/" "$work/link"
meet "$work/link" "$work/link/tracewell"
rm -r "$mine/run/tracewell"

# Folders that are not, or where others can make something, and take it away. Nothing is made there.
meet "$his" "$elsewhere" "$his belongs to user"
ln -s "$mine/taken" "$his/link"
chown -h 65534 "$his/link"
meet "$his/link" "$elsewhere" "$his belongs to user"
mkdir -m 711 "$work/kept"
ln -s "$mine/taken" "$work/kept/link"
chown -h 65534 "$work/kept/link"
meet "$work/kept/link" "$elsewhere" "$work/kept/link is a symbolic link of user"
meet "$mine/open" "$elsewhere" "$mine/open may be written by others (mode 777; chmod go-w)"
mkdir -m 700 "$mine/open/inner"
chown $me "$mine/open/inner"
meet "$mine/open/inner" "$elsewhere" "$mine/open may be written by others (mode 777; chmod go-w)"
rmdir "$mine/open/inner"
# Whatever is in a sticky one, and whatever comes and goes in it.
mkdir -m 1777 "$work/sticky"
for kind in none mine folder link; do
  case $kind in
    mine) mkdir -m 700 "$work/sticky/tracewell" ;;
    folder) mkdir -m 777 "$work/sticky/tracewell" ;;
    link) ln -s "$mine/secret" "$work/sticky/tracewell" ;;
  esac
  case $kind in
    mine) chown $me "$work/sticky/tracewell" ;;
    folder | link) chown -h 65534 "$work/sticky/tracewell" ;;
  esac
  meet "$work/sticky" "$elsewhere" "$work/sticky may be written by others (mode 1777)"
  if [ $kind = none ]; then
    [ -e "$work/sticky/tracewell" ] && fail "something is made in a sticky one"
    continue
  fi
  [ -z "$(find "$work/sticky/tracewell/" -mindepth 1)" ] || fail "$kind: something is made in it"
  rm -r "$work/sticky/tracewell"
done
meet "$work/sticky/run" "$elsewhere" "$work/sticky/run is not there, and others may make it"
mkdir -m 700 "$work/sticky/run"
chown 65534 "$work/sticky/run"
meet "$work/sticky/run" "$elsewhere" "$work/sticky/run belongs to user"
chown $me "$work/sticky/run"
meet "$work/sticky/run" "$work/sticky/run/tracewell"  # nobody can take that away
rm -r "$work/sticky/run"
for folder in "$mine/taken" "$mine/open" "$mine/secret"; do
  [ -z "$(ls -A "$folder")" ] || fail "there is something in $folder: $(ls -A "$folder")"
done
[ "$(ls -A "$his")" = link ] || fail "in another user's folder: $(ls -A "$his")"

# Such as /run/user/UID is: nobody else may look into it.
chmod 700 "$his"
meet "$his" "$elsewhere" "$his belongs to user"
# Nor does it matter what is in it, as long as it is another's to make and take away: not there,
# hidden, and this user's own.
meet "$his/deep/run" "$elsewhere" "$his belongs to user"
chmod 777 "$his"
meet "$his/deep/run" "$elsewhere" "$his belongs to user"
mkdir -p "$his/deep/run"
chown -R $me "$his/deep"
meet "$his/deep/run" "$elsewhere" "$his belongs to user"
chmod 000 "$his/deep"
meet "$his/deep/run" "$elsewhere" "$his belongs to user"
rm -r "$his/deep"
# /run/user/UID goes when that user logs out.
for has_it in no yes; do
  unshare -m true 2>/dev/null || break
  first=(unshare -m sh -c "mount -t tmpfs none /run && mkdir -p /run/user && { [ $has_it = no ] ||
    { mkdir -m 700 /run/user/65534 && chown 65534 /run/user/65534; }; } && exec \"\$@\"" sh)
  meet /run/user/65534 "$elsewhere" "/run/user/65534 is another user's"
done
first=()

# Components meet there, too; and so do servers and those who look for their trace buffers.
runtime=$his
as_me "$work/tool" buffers >"$work/out" 2>&1 || fail "buffers: $(cat "$work/out")"
has "no trace buffers in $elsewhere"
mkfifo "$work/in"
chmod 666 "$work/in"
as_me "$work/fires" part.of <"$work/in" >"$work/said" &
exec 7>"$work/in"
wait_until "no component" grep -q . "$work/said"
grep -q ready "$work/said" || fail "it could not register"
as_me "$work/tool" ctctrl -q >"$work/out" 2>"$work/err" || fail "ctctrl: $(cat "$work/err")"
has part.of
as_me "$work/tool" ctctrl -c part.of memtraceon || fail "ctctrl memtraceon"
[ -n "$(find "$elsewhere" -name .rings 2>/dev/null)" ] || fail "no rings of it"
exec 7>&-
wait

# A program that chose another folder, as those of an older librts may: it is told, unless its
# variable is another one.
rm -rf "$elsewhere" "$log"
mkdir -m 700 "$elsewhere-5"
chown $me "$elsewhere-5"
as_me "$work/fires" part.of <"$work/in" >"$work/said" &
exec 7>"$work/in"
wait_until "no program" grep -q . "$work/said"
mkdir -m 700 "$elsewhere"
chown $me "$elsewhere"
as_me "$work/tool" trace -af -o "$log" 2>"$work/err" || fail "trace beside another place"
has "is not traced: it looks at $elsewhere-5/hooks-2, and commands at $elsewhere. Start" err
as_me "$work/tool" trcstop 2>/dev/null || fail "trcstop beside another place"
runtime=$mine/run
as_me "$work/tool" trace -af -o "$log" 2>"$work/err" || fail "trace with another variable"
[ -s "$work/err" ] && fail "another variable: it says $(cat "$work/err")"
as_me "$work/tool" trcstop 2>/dev/null || fail "trcstop with another variable"
exec 7>&-
wait
rm -r "$mine/run/tracewell" "$elsewhere-5"

# What is not there, or not to be written to, is no other user's: nobody looks elsewhere.
rm -rf "$elsewhere"
for runtime in "$work/none" "$work"; do
  as_me "$work/fires" || fail "$runtime: the program"
  as_me "$work/tool" trace -af -o "$log" 2>"$work/err" && fail "$runtime: trace"
  has "$runtime/tracewell" err
  [ -e "$elsewhere" ] && fail "$runtime: a folder elsewhere"
done

# In a user namespace where this user has the number that stands for all others, too, nothing is
# known to be this user's: nobody meets anywhere, and nothing is made, each time anew.
mkdir -m 1777 "$work/tmp"
mkdir -m 700 "$work/tmp/run"
cp "$work/fires" "$work/tool" "$work/tmp"
in_namespace() {  # COMMAND…: $work/tmp is its /tmp
  unshare -m sh -c 'mount --make-rprivate / && mount --bind "$1/tmp" /tmp && cd / && shift &&
    exec unshare -U env "$@"' in "$work" "$@"
}
if in_namespace true 2>/dev/null; then
  for runtime in XDG_RUNTIME_DIR=/tmp/run XDG_RUNTIME_DIR=; do
    in_namespace $runtime /tmp/fires || fail "a program in a namespace"
    in_namespace $runtime /tmp/tool trace -af -o /tmp/log 2>"$work/err" && fail "trace in one"
    has 'in this user namespace user' err
  done
  made=$(find "$work/tmp" -mindepth 1 ! -name run ! -name fires ! -name tool)
  [ -z "$made" ] || fail "in a namespace: $made is made"
else
  echo "not tested: no user namespace can be made"
fi

# A log in another user's folder, who puts something else into its place while it is written.
runtime=$mine/run
log=$his/log
exchanged() {  # COMMAND…: makes $his/log, which the program then finds
  as_me "$work/tool" trace -af -o "$log" || fail "trace"
  mv "$log" "$log.away"
  "$@"
  chown -hR 65534 "$log"
  as_me "$work/fires" || fail "$*: the program"
  [ -z "$(find "$mine/secret" "$log" -name '[0-9]*-[0-9]*')" ] || fail "$*: there is a ring"
  rm -r "$log"
  mv "$log.away" "$log"
  as_me "$work/tool" trcstop || fail "trcstop"
  expect 0 print "$log"
  has 'could not make a ring'
  rm -r "$log"
}
link_to_rings() { mkdir "$log" && ln -s "$mine/secret" "$log/.rings"; }
other_rings() { mkdir "$log" && mkdir -m 777 "$log/.rings"; }
link_to_log() { ln -s "$mine/secret/log" "$log"; }
exchanged link_to_rings
exchanged other_rings
mkdir -p "$mine/secret/log/.rings"
chown -R $me "$mine/secret"
exchanged link_to_log
finish
