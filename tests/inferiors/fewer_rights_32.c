// The same as fewer_rights, for 32-bit processors.
// build: -m32
// libs: -lrts
#include "fewer_rights.c"
