/* The shop's trace hooks. shop.trcfmt says how each of them looks. */
#ifndef SHOP_HOOKS_H
#define SHOP_HOOKS_H

#include <string.h>
#include <sys/trchkid.h>

#define HK_SERVER 0x01000000    /* subhook 1 starts, 2 ends */
#define HK_OPTIONS 0x01100000   /* flags, workers */
#define HK_LISTEN 0x01200000    /* port, backlog */
#define HK_ACCEPT 0x01300000    /* connection, IPv4 address as in a packet */
#define HK_READ 0x01400000      /* connection, bytes, so far */
#define HK_REQUEST 0x01500000   /* generic: connection; the request line */
#define HK_METHOD 0x01600000    /* connection, method */
#define HK_HEADER 0x01700000    /* generic: connection; name and value, a length byte before each */
#define HK_KEEP 0x01800000      /* connection, keep alive */
#define HK_ROUTE 0x01900000     /* generic: connection; the route's name */
#define HK_SESSION 0x01a00000   /* generic: connection; the token's bytes */
#define HK_ACCESS 0x01b00000    /* connection, result, rights */
#define HK_CACHE 0x01c00000     /* subhook 0 miss, 1 hit, 2 stored; connection, key, entries */
#define HK_EVICT 0x01d00000     /* key, entries */
#define HK_LOCK 0x01e00000      /* subhook 0 taken, 1 released; lock */
#define HK_QUERY 0x01f00000     /* generic: connection; text */
#define HK_ROW 0x02000000       /* connection, row, price in cents */
#define HK_RENDER 0x02100000    /* connection, name of the page in one word */
#define HK_PACK 0x02200000      /* connection, bytes, packed bytes */
#define HK_STATUS 0x02300000    /* connection, status */
#define HK_FLAGS 0x02400000     /* connection, flags of the response */
#define HK_WRITE 0x02500000     /* connection, bytes, errno */
#define HK_BODY 0x02600000      /* generic: connection; first bytes of the body */
#define HK_CLOSE 0x02700000     /* connection, why, requests */
#define HK_TIME 0x02800000      /* connection */
#define HK_ERROR 0x02900000     /* connection, errno, line */
#define HK_MEMORY 0x02a00000    /* address, bytes */
#define HK_TOTALS 0x02b00000    /* requests, bytes in, bytes out, hits, errors */

#define HOOK_TEXT(hook, word, text) TRCGEN(0, hook, word, strlen(text), (char *)(text))

#endif
