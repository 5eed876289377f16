// build: -m32 -static -pthread
#include "static_locals.h"
