// build: -m32 -no-pie
// libs: -lm
#include "program_32.h"
