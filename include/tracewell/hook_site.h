/* A note in the ELF file for each hook site: section .note.tracewell.hooks, name "tracewell",
 * type 1. Its description: the address of the site (as large as the file's addresses are), then
 * three texts with a zero each: the label, where the hook word is, where the words are ("8@%rdi
 * 8@$10 8@-24(%rbp)": bytes@place as the assembler spells it).
 *
 * The address is that of five bytes that do nothing, passed when the hook is on: room for a jump,
 * so that a debugger can put a tracepoint there. */
#ifndef TRACEWELL_HOOK_SITE_H
#define TRACEWELL_HOOK_SITE_H

#ifdef __x86_64__
#define TRACEWELL_PLACE(n) "8@%" #n
#else
#define TRACEWELL_PLACE(n) "4@%" #n
#endif

#define TRACEWELL_SITE(label, places, ...)                                                      \
  __asm__ __volatile__(                                                                         \
      "990: .byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n"                                               \
      ".pushsection .note.tracewell.hooks,\"\",@note\n"                                         \
      ".balign 4\n.4byte 992f-991f, 994f-993f, 1\n"                                             \
      "991: .asciz \"tracewell\"\n992: .balign 4\n"                                             \
      "993: .dc.a 990b\n.asciz \"" label "\"\n.asciz \"4@%0\"\n.asciz \"" places "\"\n"         \
      "994: .balign 4\n.popsection"                                                             \
      :                                                                                         \
      : __VA_ARGS__)

#define TRACEWELL_SITE_0(label, word)                                                             \
  TRACEWELL_SITE(label, "", "nor"(word))
#define TRACEWELL_SITE_1(label, word, a)                                                          \
  TRACEWELL_SITE(label, TRACEWELL_PLACE(1), "nor"(word), "nor"(a))
#define TRACEWELL_SITE_2(label, word, a, b)                                                       \
  TRACEWELL_SITE(label, TRACEWELL_PLACE(1) " " TRACEWELL_PLACE(2), "nor"(word), "nor"(a),         \
                 "nor"(b))
#define TRACEWELL_SITE_3(label, word, a, b, c)                                                    \
  TRACEWELL_SITE(label, TRACEWELL_PLACE(1) " " TRACEWELL_PLACE(2) " " TRACEWELL_PLACE(3),         \
                 "nor"(word), "nor"(a), "nor"(b), "nor"(c))
#define TRACEWELL_SITE_4(label, word, a, b, c, d)                                                 \
  TRACEWELL_SITE(label, TRACEWELL_PLACE(1) " " TRACEWELL_PLACE(2) " " TRACEWELL_PLACE(3) " "      \
                 TRACEWELL_PLACE(4), "nor"(word), "nor"(a), "nor"(b), "nor"(c), "nor"(d))
#define TRACEWELL_SITE_5(label, word, a, b, c, d, e)                                              \
  TRACEWELL_SITE(label, TRACEWELL_PLACE(1) " " TRACEWELL_PLACE(2) " " TRACEWELL_PLACE(3) " "      \
                 TRACEWELL_PLACE(4) " " TRACEWELL_PLACE(5), "nor"(word), "nor"(a), "nor"(b),      \
                 "nor"(c), "nor"(d), "nor"(e))

#endif
