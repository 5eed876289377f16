// The same as failing, for 32-bit processors.
// build: -m32
#include "failing.c"
