#!/usr/bin/env bash
# trcctl: the defaults of trace are listed, set, kept and forgotten.
. "$(dirname "$0")/common.sh"
. "$(dirname "$0")/hooks_common.sh"
export TRACEWELL_DEFAULTS=$work/etc/trace.conf
expect 0 trcctl
has 'log size                    any'
has 'buffer size                 2097152'
cp "$work/out" "$work/always"
(cd "$work" && "$tracewell" trcctl -o logs/mine -L 4m -T 64k -d ct) || fail "trcctl -o -L -T -d"
expect 0 trcctl -l
has "log file                    $work/logs/mine"
has 'log size                    4194304'
has 'buffer size                 65536'
has "folder of component trace   $work/ct"
expect 0 trcctl -L 5m
expect 0 trcctl
has 'log size                    5242880'
has 'buffer size                 65536'

# trace heeds them; its own options and $TRACEWELL_LOG are stronger.
expect 0 trace -a
expect 0 trcstop
expect 0 info "$work/logs/mine"
TRACEWELL_LOG=$work/other expect 0 trace -a
expect 0 trcstop
expect 0 info "$work/other"
expect 2 trace -a -T 4m
has 'half of the log' err

for wrong in '-L much' '-T 0' '-L -1'; do
  read -ra options <<<"$wrong"
  expect 2 trcctl "${options[@]}"
done
expect 0 trcctl
cp "$work/out" "$work/before"
for option in -o -L -T -N -d; do
  expect 2 trcctl "$option" ''
  has "$option: is given, and nothing stands behind it" err
done
for wrong in '-T 1' '-T 100g' '-N 31k' '-N 257m' '-L 31k'; do
  read -ra options <<<"$wrong"
  expect 2 trcctl "${options[@]}"
  has "${options[0]}: ${options[1]} is too " err
done
has '32k to' err
expect 0 trcctl
diff "$work/before" "$work/out" || fail "what was refused changed the defaults"
expect 2 trcctl -M "$work"
if [ "$(id -u)" = 0 ]; then
  expect 0 trcctl -N 1m -l
  has 'largest buffer of users     1048576'
else
  expect 2 trcctl -N 1m
fi
expect 0 trcctl -r -l
diff "$work/always" "$work/out" || fail "trcctl -r"
echo 'log = relative' >"$TRACEWELL_DEFAULTS"
expect 3 trcctl
has 'trace.conf:1:' err
finish
