/* What commands have said holds for components that come later: lines of two files. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "inproc/runtime.h"

#define RULES_NAME "rules"
#define LINE_BYTES 1024

/* `KEY=NUMBER` of a rule. What is unknown is left out: a later version may have written it. */
static void obey_word(struct tracewell_component* block, const char* word) {
  const char* const value = strchr(word, '=');
  uint64_t number;
  size_t length;
  if (!value) return;
  number = strtoull(value + 1, NULL, 10);
  length = (size_t)(value - word);
#define IS(key) (length == sizeof key - 1 && memcmp(word, key, length) == 0)
  if (IS("memory") && number <= TRACEWELL_MEMORY_SUSPENDED) block->memory_mode = (uint32_t)number;
  if (IS("system")) block->system_mode = number != 0;
  if (IS("memory_level") && number <= TRACEWELL_COMPONENT_LEVEL_MAX)
    block->memory_level = (uint32_t)number;
  if (IS("system_level") && number <= TRACEWELL_COMPONENT_LEVEL_MAX)
    block->system_level = (uint32_t)number;
  if (IS("buffer") && number > 0) block->buffer_bytes = number;
#undef IS
}

/* A line: c|l|t, a pattern, words. */
static void obey_rule(struct tracewell_component* block, char* line) {
  char* rest = NULL;
  const char* const kind = strtok_r(line, " \n", &rest);
  const char* const pattern = strtok_r(NULL, " \n", &rest);
  const char* what;
  const char* word;
  if (!kind || !pattern) return;
  what = *kind == 'c' ? block->name : *kind == 'l' ? block->alias : block->type;
  if (fnmatch(pattern, what, 0) != 0) return;
  while ((word = strtok_r(NULL, " \n", &rest)) != NULL) obey_word(block, word);
}

/* As long as it was when it was opened. Signals are held back: it must not wait. */
static void obey_file(struct tracewell_component* block, int fd) {
  char text[LINE_BYTES + 1];
  size_t have = 0;
  struct stat about;
  off_t left;
  if (fd < 0) return;
  for (left = look_at(fd, &about) ? about.st_size : 0; left > 0;) {
    const size_t room = LINE_BYTES - have;
    const long got = call(SYS_read, fd, (long)(text + have),
                          (long)((off_t)room < left ? room : (size_t)left), 0, 0, 0);
    char* line = text;
    char* end;
    if (got <= 0) break;
    left -= got;
    have += (size_t)got;
    text[have] = 0;
    for (; (end = memchr(line, '\n', (size_t)(text + have - line))) != NULL; line = end + 1) {
      *end = 0;
      obey_rule(block, line);
    }
    if (line == text && have == LINE_BYTES) {
      obey_rule(block, line);
      line += have;
    }
    have = (size_t)(text + have - line);
    memmove(text, line, have);
  }
  text[have] = 0;
  obey_rule(block, text);
  close_file(fd);
}

/* Those that outlive a restart first, so that those of now are stronger. Neither is believed that
 * somebody else may have put there. */
void obey_rules(struct tracewell_component* block, int folder) {
  char path[PATH_MAX];
  const char* const named = secure_getenv("TRACEWELL_COMPONENTS");
  const char* const state = secure_getenv("XDG_STATE_HOME");
  const char* const home = secure_getenv("HOME");
  int now;
  if (named && *named)
    snprintf(path, sizeof path, "%s", named);
  else if (geteuid() == 0)
    snprintf(path, sizeof path, "/etc/tracewell/components");
  else if (state && *state == '/')
    snprintf(path, sizeof path, "%s/tracewell/components", state);
  else
    snprintf(path, sizeof path, "%s/.local/state/tracewell/components", home ? home : "");
  obey_file(block, named && *named ? open_trusted(path, sizeof path)
                                   : open_kept(path, sizeof path));
  now = open_file(folder, RULES_NAME, O_RDONLY | O_NONBLOCK, 0);
  obey_file(block, now);
}
