#!/bin/bash
# tools/fuzz prints executions and coverage, and fails when a target found something or ran nothing.
set -euo pipefail
fail() { echo "FAILED: $*"; exit 1; }
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree"/{tools,fuzz/seeds/good,path,build/fuzz/bin}
cp "$TRACEWELL_SOURCE/tools/fuzz" "$tree/tools/"
touch "$tree/fuzz/good.cc"
printf '#!/bin/sh\nexit 0\n' >"$tree/path/cmake"
chmod +x "$tree/path/cmake"
export PATH="$tree/path:$PATH"

# What libFuzzer prints, as far as the runner reads it.
target() {
  printf '#!/bin/bash\n%s\n' "$2" >"$tree/build/fuzz/bin/fuzz_$1"
  chmod +x "$tree/build/fuzz/bin/fuzz_$1"
}
good='echo "$@" >args; echo "#2 INITED cov: 5 ft: 6 corp: 1/1b"
echo "#9 DONE   cov: 12 ft: 40 corp: 7/90b lim: 4 exec/s: 0"
echo "stat::number_of_executed_units: 4711"'

target good "$good"
said=$("$tree/tools/fuzz" --seconds 3) || fail "a good target fails: $said"
grep -q '^fuzz good: executions=4711 cov=12 features=40 corpus=7 ok$' <<<"$said" || fail "$said"
args=$(cat "$tree/build/fuzz/artifacts/good/args")
for word in -max_total_time=3 "$tree/build/fuzz/corpus/good" "$tree/fuzz/seeds/good"; do
  grep -q -e "$word" <<<"$args" || fail "the target is not told $word"
done

target good "$good
echo 'Test unit written to /x/crash-1'; exit 77"
said=$("$tree/tools/fuzz" --seconds 3) && fail "a crash is no failure"
grep -q 'input: /x/crash-1' <<<"$said" || fail "the input is not named: $said"

target good 'echo "stat::number_of_executed_units: 0"'
"$tree/tools/fuzz" --seconds 3 >/dev/null && fail "a target that ran nothing is no failure"

target good "$good"
touch "$tree/fuzz/other.cc"
said=$("$tree/tools/fuzz" good) || fail "one of two targets cannot be picked: $said"
grep -q '1 targets, 60 s each, 0 failed' <<<"$said" || fail "$said"
