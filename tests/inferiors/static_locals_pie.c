// build: -static-pie -pthread
#include "static_locals.h"
