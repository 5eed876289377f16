// The same as ends, for 32-bit processors.
// build: -m32
#include "ends.c"
