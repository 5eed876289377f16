// build: -m32
// libs: -lm
#include "program_32.h"
