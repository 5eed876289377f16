// The same as hammer, for 32-bit processors.
// build: -m32
#include "hammer.c"
