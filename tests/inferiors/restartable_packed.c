// As restartable.c, with relative relocations in the packed form (DT_RELR).
// build: -D_GNU_SOURCE -pthread -Wl,-z,pack-relative-relocs
#include "restartable.c"
