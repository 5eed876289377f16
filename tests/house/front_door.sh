#!/bin/bash
# The front door's own parts: help names every goal, what is missing is named, tools say usage.
set -euo pipefail
cd "$TRACEWELL_SOURCE"
fail() { echo "FAILED: $*"; exit 1; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

help=$(make help)
for goal in demo test deep soak bench install fuzz tidy; do
  grep -q "make $goal " <<<"$help" || fail "make help does not name $goal"
done

# A dpkg-query that knows nothing but cmake, and neither root nor sudo: named, exit 2.
mkdir "$scratch/bin"
printf '#!/bin/sh\necho "installed cmake"\nexit 1\n' >"$scratch/bin/dpkg-query"
printf '#!/bin/sh\necho 1000\n' >"$scratch/bin/id"
printf '#!/bin/sh\nexit 1\n' >"$scratch/bin/sudo"
printf '#!/bin/sh\necho touched >"%s/apt"\n' "$scratch" >"$scratch/bin/apt-get"
chmod +x "$scratch"/bin/*
status=0
said=$(PATH="$scratch/bin:$PATH" tools/install_deps </dev/null 2>&1) || status=$?
[ $status -eq 2 ] || fail "install_deps without root ended with $status"
grep -q 'apt-get install .*gdbserver' <<<"$said" || fail "install_deps does not name: $said"
grep -q ' cmake' <<<"$said" && fail "install_deps names what is there"
[ ! -e "$scratch/apt" ] || fail "install_deps called apt-get without root"

# As root it installs what is missing, updating the lists first, and nothing that is there.
printf '#!/bin/sh\necho 0\n' >"$scratch/bin/id"
# shellcheck disable=SC2016
printf '#!/bin/sh\necho "$DEBIAN_FRONTEND $*" >>"%s/apt"\n' "$scratch" >"$scratch/bin/apt-get"
PATH="$scratch/bin:$PATH" tools/install_deps deep </dev/null 2>/dev/null || fail "install_deps"
head -1 "$scratch/apt" | grep -q '^noninteractive .*update' || fail "no apt-get update first"
tail -1 "$scratch/apt" | grep -q 'install .*gdbserver.* clang-16' || fail "no apt-get install"

status=0
tools/install_deps everything 2>/dev/null || status=$?
[ $status -eq 2 ] || fail "install_deps does not refuse a goal that it does not know"
status=0
tools/fuzz no-such-target 2>/dev/null || status=$?
[ $status -eq 2 ] || fail "tools/fuzz does not refuse a target that is not there"

# The runner of benchmarks: passes figures on, says what failed, is content with none.
tree=$scratch/tree
mkdir -p "$tree/tools" "$tree/build"
cp tools/bench "$tree/tools/"
"$tree/tools/bench" "$tree/build" || fail "tools/bench wants a bench folder"
mkdir "$tree/bench"
printf '#!/bin/sh\necho "bench a ours=1 peer=4 ratio=4"\necho noise\n' >"$tree/bench/bench_a"
chmod +x "$tree/bench/bench_a"
[ "$("$tree/tools/bench" "$tree/build" 2>/dev/null)" = "bench a ours=1 peer=4 ratio=4" ] ||
  fail "tools/bench does not pass the figures on"
printf '#!/bin/sh\necho nothing\n' >"$tree/bench/bench_b"
chmod +x "$tree/bench/bench_b"
if "$tree/tools/bench" "$tree/build" >/dev/null 2>&1; then
  fail "a silent benchmark is no failure"
fi
