// Thread-local variables of a program that is linked statically.
// build: -static -pthread
#include "static_locals.h"
