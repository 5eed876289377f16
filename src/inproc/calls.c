/* AIX's functions: hooks, and the control of tracing by way of the program `tracewell`. */
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
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
  const char* program = getenv("TRACEWELL");
  pid_t child;
  int status;
  if (posix_spawnp(&child, program ? program : "tracewell", NULL, NULL, words, environ) != 0)
    return -1;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int trcstart(char* arguments) {
  char text[ARGUMENTS_MAX];
  char* words[WORDS_MAX + 5] = {(char*)"tracewell", (char*)"trace", (char*)"-a",
                                (char*)"--status-channel"};
  int count = 4;
  char* rest = NULL;
  char* word;
  int status;
  if (strlen(arguments) >= sizeof text) return -1;
  strcpy(text, arguments);
  for (word = strtok_r(text, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest)) {
    if (count >= WORDS_MAX + 4) return -1;
    words[count++] = word;
  }
  words[count] = NULL;
  /* The channel is told behind the statuses that mean failure. */
  status = run(words);
  return status >= 64 && status < 64 + TRACEWELL_HOOK_CHANNELS ? status - 64 : -1;
}

static int control(const char* command, int channel) {
  char option[] = "-0";
  char* const words[] = {(char*)"tracewell", (char*)command, option, NULL};
  if (channel < 0 || channel >= TRACEWELL_HOOK_CHANNELS) return -1;
  option[1] = (char)('0' + channel);
  return run(words) == 0 ? 0 : -1;
}

int trcon(int channel) { return control("trcon", channel); }
int trcoff(int channel) { return control("trcoff", channel); }
int trcstop(int channel) { return control("trcstop", channel); }
