#!/usr/bin/env bash
# labels: timing
# A trace of many steps and modules takes the time of the steps and that of the modules, not their
# product. Only the processor's time counts.
. "$(dirname "$0")/common.sh"
trace() {  # FILE MODULES STEPS
  python3 - "$1" "$2" "$3" <<'PYTHON'
import sys
path, modules, steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
with open(path, "w") as out:
    out.write('{"catalog":{"machine":"x86-64","modules":[' + ",".join(
        f'{{"path":"m{i}","start":{0x1000 + 2 * i},"size":1}}' for i in range(modules)) + "]}}\n")
    out.write('{"kind":"step","tid":1,"pc":"0x1"}\n' * steps)
PYTHON
}
seconds() {  # ARGS...
  python3 - "$tracewell" "$@" <<'PYTHON'
import resource, subprocess, sys
subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime)
PYTHON
}
trace "$work/both.jsonl" 100000 100000
trace "$work/modules.jsonl" 100000 1
trace "$work/steps.jsonl" 1 100000
for command in 'convert --format csv' 'print --json' 'print --columns module'; do
  read -r both modules steps <<<"$(for one in both modules steps; do
    case $command in
      convert*) seconds $command "$work/$one.jsonl" /dev/null ;;
      *) seconds $command "$work/$one.jsonl" ;;
    esac
  done | tr '\n' ' ')"
  python3 -c "import sys; sys.exit($both > 2 * ($modules + $steps))" ||
    fail "$command: $both s of both, $modules s of modules and $steps s of steps"
done

# Where modules overlap, all commands say the same: it is the one that begins later.
modules='{"path":"outer","start":4096,"size":4096},{"path":"/lib/inner","start":4352,"size":256}'
printf '{"catalog":{"machine":"x86-64","modules":[%s]}}\n' "$modules" >"$work/over.jsonl"
echo '{"kind":"step","tid":1,"pc":"0x1180"}' >>"$work/over.jsonl"
expect 0 print --columns module "$work/over.jsonl"
has inner
expect 0 convert --format modoff "$work/over.jsonl" -
has inner
finish
