/* Logs words, one of which is a string, then bytes, then an entry with a subhook. */
#include <sys/types.h>
#include <sys/trchkid.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HKWD_CUSTOM 0x01000000
char s[8]="malloc";
char s1[]="successful malloc";
int *i;
int j=5;
int k=20;

int main(void)
{
  i = (int *)malloc(10 * sizeof(int));
  TRCHKL4(HKWD_CUSTOM,*(unsigned long *)s,i,sizeof(int),10);
  TRCGEN(0,HKWD_CUSTOM|0x20,strlen(s1),strlen(s1),(char *)s1);
  TRCHKL3(HKWD_CUSTOM|1,i+5,j,k);
  return 0;
}
