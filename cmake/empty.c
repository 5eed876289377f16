/* Compiles if the compiler can make programs of that kind. */
#include <stdio.h>
int main(void) { return puts("") < 0; }
