// The same as forged_ring, for 32-bit processors.
// build: -m32
// libs: -lrts
#include "forged_ring.c"
