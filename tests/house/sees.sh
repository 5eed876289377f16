#!/bin/bash
# An include that LAYERS forbids does not even compile.
# timeout: 120
set -euo pipefail
fail() { echo "FAILED: $*"; exit 1; }
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree"/src/{base,model,ax,cli}
cp -r "$TRACEWELL_SOURCE/cmake" "$tree/"
cat >"$tree/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.24)
project(tracewell LANGUAGES CXX VERSION 1.0.0)
set(CMAKE_CXX_STANDARD 20)
add_library(tracewell_options INTERFACE)
include(cmake/layers.cmake)
include(cmake/rooms.cmake)
END
printf 'base :\nmodel : base\nax : base/freestanding\ncli : *\n' >"$tree/LAYERS"
printf '// Text.\n' >"$tree/src/base/text.h"
printf '// base/freestanding\n' >"$tree/src/base/bytes.h"
printf '#include "base/text.h"\n' | tee "$tree/src/base/a.cc" >"$tree/src/model/a.cc"
printf '#include "base/bytes.h"\n' >"$tree/src/ax/a.cc"
printf '// Event.\n' >"$tree/src/model/event.h"
printf '#include "base/text.h"\n#include "model/event.h"\n' >"$tree/src/cli/a.cc"

build() { cmake --build "$tree/build" >"$tree/log" 2>&1; }
refused() { grep -q "fatal error: $1: No such file" "$tree/log"; }
cmake -S "$tree" -B "$tree/build" -G Ninja >/dev/null
build || { cat "$tree/log"; fail "what LAYERS allows does not compile"; }

printf '#include "model/event.h"\n' >"$tree/src/base/a.cc"
build && fail "base included model"
refused model/event.h || fail "refused for another reason: $(cat "$tree/log")"
printf '\n' >"$tree/src/base/a.cc"

printf '#include "base/text.h"\n' >"$tree/src/ax/a.cc"
build && fail "ax included what is not freestanding"
refused base/text.h || fail "refused for another reason: $(cat "$tree/log")"
printf '\n' >"$tree/src/ax/a.cc"

printf 'model : base\nbase :\n' >"$tree/LAYERS"
cmake "$tree/build" >"$tree/log" 2>&1 && fail "LAYERS may name a room above itself"
grep -q 'model names base' "$tree/log" || fail "refused for another reason: $(cat "$tree/log")"
