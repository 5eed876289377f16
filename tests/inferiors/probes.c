/* Static tracepoint markers: USDT probes, with notes as <sys/sdt.h> has the assembler write them.
 * Prints how often somebody wanted the one with a semaphore: "wanted N of M", once when it has been
 * wanted and is no more, and at the end. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define PROBE(name, semaphore, places, ...)                                                     \
  __asm__ __volatile__(                                                                         \
      "990: nop\n"                                                                              \
      ".pushsection .note.stapsdt,\"\",@note\n"                                                 \
      ".balign 4\n.4byte 992f-991f, 994f-993f, 3\n"                                             \
      "991: .asciz \"stapsdt\"\n992: .balign 4\n"                                               \
      "993: .dc.a 990b\n.dc.a _.stapsdt.base\n.dc.a " semaphore "\n"                            \
      ".asciz \"shop\"\n.asciz \"" name "\"\n.asciz \"" places "\"\n"                           \
      "994: .balign 4\n.popsection\n"                                                           \
      ".ifndef _.stapsdt.base\n"                                                               \
      ".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n"                   \
      ".weak _.stapsdt.base\n.hidden _.stapsdt.base\n"                                          \
      "_.stapsdt.base: .space 1\n.size _.stapsdt.base, 1\n.popsection\n.endif"                 \
      :                                                                                         \
      : __VA_ARGS__)

__attribute__((section(".probes"))) volatile unsigned short shop_order_semaphore;

struct order {
  long number;
  short items[4];
};

__attribute__((noinline)) static void order(struct order* one, int price, unsigned char kind) {
  if (shop_order_semaphore)
    PROBE("order", "shop_order_semaphore", "-4@%0 8@%1 1@%b2 -2@4+%3 4@$77 8@symbol(%%rip)",
          "r"(price), "r"(one), "q"(kind), "o"(one->items[0]));
  one->number += price;
}

__attribute__((noinline)) static void closed(void) { PROBE("closed", "0", "", "r"(0)); }

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? atoi(argv[1]) : 10;
  struct order one = {1000, {1, 2, -3, 4}};
  int wanted = 0;
  for (int i = 0; i < rounds; ++i) {
    wanted += shop_order_semaphore;
    order(&one, -i, (unsigned char)(200 + i));
  }
  closed();
  printf("wanted %d of %d, %d now\n", wanted, rounds, shop_order_semaphore);
  return 0;
}
