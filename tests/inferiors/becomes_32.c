// The same as becomes, for 32-bit processors.
// build: -m32
#include "becomes.c"
