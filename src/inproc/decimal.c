/* Numbers in names: the library's own functions for that may not be called in a signal handler. */
#include "inproc/runtime.h"

char* put_decimal(char* at, uint32_t number) {
  char digits[10];
  int count = 0;
  do digits[count++] = (char)('0' + number % 10);
  while ((number /= 10) != 0);
  while (count > 0) *at++ = digits[--count];
  return at;
}
