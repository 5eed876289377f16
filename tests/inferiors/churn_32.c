// The same as churn, for 32-bit processors.
// build: -m32
#include "churn.c"
