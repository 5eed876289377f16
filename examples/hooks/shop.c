/* A shop's small web server, with a trace hook at each stage of a request. Requests come from
 * standard input, one a line, such as `GET /item/3 token=cafe`; each is served over a socket as if
 * somebody had connected. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "hooks.h"

enum { OPT_CACHE = 1, OPT_PACK = 2, OPT_LOG = 4 };
enum { FLAG_PACKED = 0x01, FLAG_CACHED = 0x02, FLAG_CLOSE = 0x10 };
#define CACHE_ENTRIES 2
#define PRICES 5

static const long g_prices[PRICES] = {1999, 250, 89900, 5, 12000};
static unsigned long g_cache[CACHE_ENTRIES];
static int g_cached, g_requests, g_hits, g_errors, g_in, g_out;

struct request {
  int connection, socket, status, flags;
  char method[8], path[64], token[32];
  char body[512];
};

static unsigned long key_of(const char *path) {
  unsigned long key = 5381;
  while (*path) key = (key * 33 ^ (unsigned char)*path++) & 0xffff;
  return key;
}

static int look_up(struct request *r) {
  const unsigned long key = key_of(r->path);
  int i;
  for (i = 0; i < g_cached; ++i)
    if (g_cache[i] == key) {
      TRCHKL3(HK_CACHE | 1, r->connection, key, g_cached);
      r->flags |= FLAG_CACHED;
      return ++g_hits;
    }
  TRCHKL3(HK_CACHE, r->connection, key, g_cached);
  return 0;
}

static void keep(struct request *r) {
  if (g_cached == CACHE_ENTRIES) {
    TRCHKL2(HK_EVICT, g_cache[0], g_cached);
    g_cache[0] = g_cache[--g_cached];
  }
  g_cache[g_cached++] = key_of(r->path);
  TRCHKL3(HK_CACHE | 2, r->connection, key_of(r->path), g_cached);
}

/* Name and value, each behind its length. */
static void tell_header(struct request *r, const char *name, const char *value) {
  char data[128];
  const size_t a = strlen(name), b = strlen(value);
  data[0] = (char)a;
  memcpy(data + 1, name, a);
  data[1 + a] = (char)b;
  memcpy(data + 2 + a, value, b);
  TRCGEN(0, HK_HEADER, r->connection, 2 + a + b, data);
}

static int allowed(struct request *r) {
  unsigned char token[4];
  size_t bytes = 0;
  unsigned byte;
  while (bytes < sizeof token && sscanf(r->token + 2 * bytes, "%2x", &byte) == 1)
    token[bytes++] = (unsigned char)byte;
  if (bytes == 0) {
    TRCHKL3(HK_ACCESS, r->connection, 0, 04);
    return 1;
  }
  TRCGEN(0, HK_SESSION, r->connection, bytes, (char *)token);
  TRCHKL3(HK_ACCESS, r->connection, token[0] == 0xca ? 1 : 2, token[0] == 0xca ? 06 : 0);
  return token[0] == 0xca;
}

static void item(struct request *r) {
  const int number = atoi(r->path + 6);
  char query[64];
  HOOK_TEXT(HK_ROUTE, r->connection, "item");
  if (look_up(r)) return;
  TRCHKL1(HK_LOCK, 7);
  snprintf(query, sizeof query, "select price from items where id=%d", number);
  HOOK_TEXT(HK_QUERY, r->connection, query);
  if (number < 0 || number >= PRICES) {
    TRCHKL3(HK_ERROR, r->connection, ENOENT, __LINE__);
    r->status = 404;
  } else {
    TRCHKL3(HK_ROW, r->connection, number, g_prices[number]);
    snprintf(r->body, sizeof r->body, "item %d costs %ld cents", number, g_prices[number]);
  }
  TRCHKL1(HK_LOCK | 1, 7);
  if (r->status == 200) keep(r);
}

static void home(struct request *r) {
  char *page = malloc(4096);
  int i;
  TRCHKL2(HK_MEMORY, page, 4096);
  HOOK_TEXT(HK_ROUTE, r->connection, "home");
  TRCHKL2(HK_RENDER, r->connection, *(unsigned long *)"home\0\0\0\0");
  for (i = 0; i < 12; ++i) strcat(r->body, "welcome to the shop ");
  TRCHKL3(HK_PACK, r->connection, strlen(r->body), 31);
  r->flags |= FLAG_PACKED;
  free(page);
}

static void parse(struct request *r, char *text) {
  static const char *const kMethods[] = {"GET", "HEAD", "POST"};
  unsigned method = 0;
  HOOK_TEXT(HK_REQUEST, r->connection, text);
  sscanf(text, "%7s %63s token=%31s", r->method, r->path, r->token);
  while (method < 3 && strcmp(r->method, kMethods[method]) != 0) ++method;
  TRCHKL2(HK_METHOD, r->connection, method);
  tell_header(r, "Host", "shop.example");
  tell_header(r, "Accept", "*/*");
  r->status = method == 0 ? 200 : 405;
}

static void serve(int connection, int client, int server) {
  struct request r;
  char text[256];
  const unsigned char address[8] = {127, 0, 0, (unsigned char)(1 + connection)};
  ssize_t bytes;
  memset(&r, 0, sizeof r);
  r.connection = connection;
  r.socket = server;
  TRCHKL2(HK_ACCEPT, connection, *(const uint64_t *)address);
  bytes = read(server, text, sizeof text - 1);
  text[bytes < 0 ? 0 : bytes] = 0;
  g_in += (int)bytes;
  TRCHKL3(HK_READ, connection, bytes, g_in);
  parse(&r, text);
  TRCHKL2(HK_KEEP, connection, 0);
  if (r.status == 200 && !allowed(&r)) r.status = 403;
  if (r.status == 200 && strncmp(r.path, "/item/", 6) == 0)
    item(&r);
  else if (r.status == 200 && strcmp(r.path, "/") == 0)
    home(&r);
  else if (r.status == 200)
    r.status = 404;
  r.flags |= FLAG_CLOSE;
  TRCHKL2(HK_STATUS, connection, r.status);
  TRCHKL2(HK_FLAGS, connection, r.flags);
  if (r.body[0]) TRCGEN(0, HK_BODY, connection, 20, r.body);
  if (r.status == 405) shutdown(server, SHUT_WR);
  bytes = send(server, r.body, strlen(r.body) + 1, MSG_NOSIGNAL);
  TRCHKL3(HK_WRITE, connection, bytes, bytes < 0 ? errno : 0);
  if (bytes > 0) g_out += (int)bytes;
  g_errors += r.status != 200;
  TRCHKL3(HK_CLOSE, connection, r.status == 200 ? 0 : 1, ++g_requests);
  TRCHKL1T(HK_TIME, connection);
  close(server);
  close(client);
}

int main(void) {
  char line[256];
  int connection = 0;
  TRCHKL0(HK_SERVER | 1);
  TRCHKL2(HK_OPTIONS, OPT_CACHE | OPT_PACK, 1);
  TRCHKL2(HK_LISTEN, 8080, 16);
  while (fgets(line, sizeof line, stdin)) {
    int ends[2];
    line[strcspn(line, "\n")] = 0;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return 1;
    if (write(ends[0], line, strlen(line)) < 0) return 1;
    serve(++connection, ends[0], ends[1]);
  }
  TRCHKL5(HK_TOTALS, g_requests, g_in, g_out, g_hits, g_errors);
  TRCHKL0(HK_SERVER | 2);
  return 0;
}
