#!/bin/sh
# The room ax can be linked where there is no libc: its code wants only what a compiler may always
# want, needs no relocation of its tables, and includes nothing that a hosted library must give.
# timeout: 120
set -eu
source=${TRACEWELL_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
compiler=${CXX:-c++}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
complain() {
  echo "$*" >&2
  failed=1
}

# without OPTIONS PATTERN: the lines that do not match; that none is left is no failure.
without() {
  grep -v "$@" || [ $? = 1 ]
}
free='ax/[a-z_]+\.(h|def)|base/endian\.h|stdint\.h|cstddef|cstdint|span|array'
foreign=$(grep -hE '^ *# *include' "$source"/src/ax/*.h "$source"/src/ax/*.cc |
  without -E "[<\"]($free)[>\"]")
[ -z "$foreign" ] || complain "hosted headers: $foreign"
head -n 1 "$source/src/base/endian.h" | grep -q '^// base/freestanding' ||
  complain "base/endian.h is no longer marked freestanding"

for file in "$source"/src/ax/*.cc "$source/tests/ax/freestanding_probe.cc"; do
  "$compiler" -std=c++20 -O2 -fPIC -ffreestanding -fno-exceptions -fno-rtti -fno-stack-protector \
    -D_GLIBCXX_ASSERTIONS -Wall -Wextra -Werror -I "$source/src" \
    -c "$file" -o "$work/$(basename "$file" .cc).o"
done
# The other side of ax/native.h: C that may touch general registers only.
"${CC:-cc}" -std=c11 -O2 -fPIC -ffreestanding -mgeneral-regs-only -fno-stack-protector \
  -Wall -Wextra -Werror -I "$source/src" -c "$source/tests/ax/native_probe.c" \
  -o "$work/native_probe.o"
ld -r -o "$work/all" "$work"/*.o
wanted=$(nm -u "$work/all" | awk '{print $2}' |
  without -xE '_GLOBAL_OFFSET_TABLE_|memcpy|memmove|memset|memcmp')
[ -z "$wanted" ] || complain "symbols from outside: $wanted"
moved=$(readelf -SW "$work/all" |
  { grep -oE '\.(data\.rel[.a-z]*|init_array|ctors|tbss|tdata)' || [ $? = 1 ]; })
[ -z "$moved" ] || complain "sections that need a loader: $moved"
exit $failed
