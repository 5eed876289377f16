/* Ids of trace hooks, under AIX's name and for its programs. A hook word is 0xhhhhssss: the hook
 * id in four digits, of which the last is 0 for ids of three, and the subhook. */
#ifndef TRACEWELL_AIX_SYS_TRCHKID_H
#define TRACEWELL_AIX_SYS_TRCHKID_H

/* Free for programs: 010 to 0FF. */
#define HKWD_USER1 0x01000000
#define HKWD_USER2 0x02000000
#define HKWD_USER3 0x03000000
#define HKWD_USER4 0x04000000
#define HKWD_USER5 0x05000000
#define HKWD_USER6 0x06000000
#define HKWD_USER7 0x07000000
#define HKWD_USER8 0x08000000
#define HKWD_USER9 0x09000000
#define HKWD_USERA 0x0A000000
#define HKWD_USERB 0x0B000000
#define HKWD_USERC 0x0C000000
#define HKWD_USERD 0x0D000000
#define HKWD_USERE 0x0E000000
#define HKWD_USERF 0x0F000000

#include "trcmacros.h"

#endif
