#!/usr/bin/env bash
# A log whose disk becomes full, and is not full any more later: all hooks are in the log, or it
# says that they are lost.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/hooks_common.sh"
# Other users' processes must be able to fill it: it is a file system of its own.
case ${1:-} in
  '')
    for way in -m -Urm; do
      unshare $way mount -t tmpfs none "$work" 2>/dev/null || continue
      exec unshare $way "$0" inside
    done
    echo 'not tested: no file system may be mounted here'
    finish
    exit
    ;;
esac

disk=$work/disk
log=$disk/log
mkdir "$disk"
# fires NAME HOOKS: how the program ends does not depend on the disk.
fires() { "$TRACEWELL_INFERIORS/hook_lives" "$1" >/dev/null || fail "$1 ends with $?"; }
told() {
  expect 0 check "$log"
  has "sound, $1 events"
  has "lost: $2"
  expect 0 print "$log"
  has "$2 records lost: their threads could not make a ring"
}

for mode in '' -l; do
  mount -t tmpfs -o size=6m none "$disk" || fail 'mount'
  # shellcheck disable=SC2086
  trace -a $mode -o "$log" || fail 'trace'
  # 30 hooks; even a collector leaves what is in a packet that is not full until the end.
  fires clone
  dd if=/dev/zero of="$disk/full" bs=4k 2>/dev/null
  fires errno  # 3000 hooks
  trcstop 2>"$work/err" && fail 'what was in the rings cannot be in the log'
  has 'No space left on device' err
  rm "$disk/full"
  expect 0 trcdead "$log"
  told 30 3000
  [ "$(stat -c %b "$log/0-0.0")" -le 8 ] || fail 'room for more marks is kept'
  umount "$disk"
done
finish
