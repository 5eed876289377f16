/* AIX's functions: hooks, and the control of tracing by way of the program `tracewell`. */
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/wait.h>

#include <tracewell/aix/sys/trcctl.h>
#include <tracewell/aix/sys/trcmacros.h>
#include "inproc/system.h"

#define WORDS_MAX 64
#define ARGUMENTS_MAX 4096

extern char** environ;

void utrchook(unsigned int word, unsigned long d1, unsigned long d2, unsigned long d3,
              unsigned long d4, unsigned long d5) {
  TRCHKL5(word, d1, d2, d3, d4, d5);
}

void trchook(unsigned int word, unsigned long d1, unsigned long d2, unsigned long d3,
             unsigned long d4, unsigned long d5) {
  TRCHKL5(word, d1, d2, d3, d4, d5);
}

void trcgen(unsigned int channel, unsigned int word, unsigned long d1, unsigned int length,
            char* bytes) {
  TRCGEN(channel, word, d1, length, bytes);
}

void trcgent(unsigned int channel, unsigned int word, unsigned long d1, unsigned int length,
             char* bytes) {
  TRCGENT(channel, word, d1, length, bytes);
}

/* Its exit status, or -1. */
static int run(char* const* words) {
  const char* program = secure_getenv("TRACEWELL");
  pid_t child;
  int status = 0;
  long waited;
  /* A program that was given rights of another user would give them to what its caller put into
   * $TRACEWELL or $PATH. */
  if (getauxval(AT_SECURE)) return -1;
  if (posix_spawnp(&child, program ? program : "tracewell", NULL, NULL, words, environ) != 0)
    return -1;
  /* A thread that is cancelled meanwhile ends behind this: the child is not left. */
  while ((waited = call(SYS_wait4, child, (long)&status, 0, 0, 0, 0)) < 0)
    if (waited != -EINTR) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* What follows a backslash; in double quotes only some characters are meant by it. */
static int is_escape(const char* at, char quote) {
  if (at[0] != '\\' || at[1] == 0 || quote == '\'') return 0;
  return quote == 0 || at[1] == '"' || at[1] == '\\' || at[1] == '$' || at[1] == '`';
}

/* Cuts the next word off, as a shell does: quotes and backslashes are taken away in place. NULL: no
 * more. `*rest` is NULL when a quote is not closed. */
static char* next_word(char** rest) {
  char* at = *rest + strspn(*rest, " \t\n");
  char* const word = at;
  char* to = at;
  char quote = 0;
  if (*at == 0) return NULL;
  for (; *at && (quote || !strchr(" \t\n", *at)); ++at) {
    if (is_escape(at, quote))
      *to++ = *++at;
    else if (quote ? *at == quote : *at == '\'' || *at == '"')
      quote = quote ? 0 : *at;
    else
      *to++ = *at;
  }
  *rest = quote ? NULL : at + (*at != 0);
  *to = 0;
  return word;
}

int trcstart(char* arguments) {
  char text[ARGUMENTS_MAX];
  char* words[WORDS_MAX + 5] = {(char*)"tracewell", (char*)"trace", (char*)"-a",
                                (char*)"--status-channel"};
  int count = 4;
  char* rest = text;
  char* word;
  int status;
  if (strlen(arguments) >= sizeof text) return -1;
  strcpy(text, arguments);
  while ((word = next_word(&rest))) {
    if (!rest || count >= WORDS_MAX + 4) return -1;
    words[count++] = word;
  }
  words[count] = NULL;
  /* The channel is told behind the statuses that mean failure. */
  status = run(words);
  return status >= 64 && status < 64 + TRACEWELL_HOOK_CHANNELS ? status - 64 : -1;
}

/* `how`: one more option, or NULL. */
static int control(const char* command, int channel, const char* how) {
  char option[] = "-0";
  char* const words[] = {(char*)"tracewell", (char*)command, option, (char*)how, NULL};
  if (channel < 0 || channel >= TRACEWELL_HOOK_CHANNELS) return -1;
  option[1] = (char)('0' + channel);
  return run(words) == 0 ? 0 : -1;
}

int trcon(int channel) { return control("trcon", channel, NULL); }
int trcoff(int channel) { return control("trcoff", channel, NULL); }

int trcstop(int channel) {
  const int how = channel & (TRCSTOP_SERIAL | TRCSTOP_DISCARDBUFS);
  if (how == (TRCSTOP_SERIAL | TRCSTOP_DISCARDBUFS)) return -1;
  return control("trcstop", channel & ~how, how == TRCSTOP_DISCARDBUFS ? "--discard" : NULL);
}
