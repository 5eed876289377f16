// The same as syscalls, for 32-bit processors.
// build: -m32
#include "syscalls.c"
