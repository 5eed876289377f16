/* Logs a trace entry with three data words. As for AIX: cc first.c -l rts */
#include <sys/types.h>
#include <sys/trchkid.h>
#include <stdio.h>
#include <stdlib.h>

#define HKWD_CUSTOM 0x01000000
int *i;

int main(void)
{
  i = (int *)malloc(10 * sizeof(int));
  TRCHKL3(HKWD_CUSTOM, sizeof(int), i, 10);
  return 0;
}
