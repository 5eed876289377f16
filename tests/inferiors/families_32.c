// The same as families, for 32-bit processors.
// build: -m32
#include "families.c"
