/* The sites of hooks: part of hooks.h. A function for each number of words, so that what is at the
 * site itself is the load, the branch, and a call. */
#ifndef TRACEWELL_HOOK_MACROS_H
#define TRACEWELL_HOOK_MACROS_H

#define TRACEWELL_OUTLINE static __attribute__((noinline, unused)) void

TRACEWELL_OUTLINE tracewell_hook_0(unsigned channel, uint32_t state, uint32_t flags, uint32_t word)
                                   {
  tracewell_hook_words(channel, state, flags, word, 0, 0, 0, 0, 0, 0);
}
TRACEWELL_OUTLINE tracewell_hook_1(unsigned channel, uint32_t state, uint32_t flags, uint32_t word,
                                   unsigned long d1) {
  tracewell_hook_words(channel, state, flags, word, 1, d1, 0, 0, 0, 0);
}
TRACEWELL_OUTLINE tracewell_hook_2(unsigned channel, uint32_t state, uint32_t flags, uint32_t word,
                                   unsigned long d1, unsigned long d2) {
  tracewell_hook_words(channel, state, flags, word, 2, d1, d2, 0, 0, 0);
}
TRACEWELL_OUTLINE tracewell_hook_3(unsigned channel, uint32_t state, uint32_t flags, uint32_t word,
                                   unsigned long d1, unsigned long d2, unsigned long d3) {
  tracewell_hook_words(channel, state, flags, word, 3, d1, d2, d3, 0, 0);
}
TRACEWELL_OUTLINE tracewell_hook_4(unsigned channel, uint32_t state, uint32_t flags, uint32_t word,
                                   unsigned long d1, unsigned long d2, unsigned long d3, unsigned
                                   long d4) {
  tracewell_hook_words(channel, state, flags, word, 4, d1, d2, d3, d4, 0);
}
TRACEWELL_OUTLINE tracewell_hook_5(unsigned channel, uint32_t state, uint32_t flags, uint32_t word,
                                   unsigned long d1, unsigned long d2, unsigned long d3, unsigned
                                   long d4, unsigned long d5) {
  tracewell_hook_words(channel, state, flags, word, 5, d1, d2, d3, d4, d5);
}

#define TRACEWELL_IS_ON(state) __builtin_expect((state) & TRACEWELL_STATE_ON, 0)
#define TRACEWELL_STATE(channel)                                                                  \
  __atomic_load_n(&tracewell_hooks_control.state[(channel) & 7u], __ATOMIC_RELAXED)
#define TRACEWELL_WORD(value) ((unsigned long)(value))
#define TRACEWELL_ON(channel, ...)                                                                \
  do {                                                                                            \
    const unsigned tracewell_channel_ = (unsigned)(channel) & 7u;                                 \
    const uint32_t tracewell_state_ = TRACEWELL_STATE(tracewell_channel_);                        \
    if (TRACEWELL_IS_ON(tracewell_state_)) {                                                      \
      __VA_ARGS__                                                                                 \
    }                                                                                             \
  } while (0)

/* TRACEWELL_HOOKn(label, channel, flags, word, words…): `label` is a string for the note. */
#define TRACEWELL_HOOK0(label, channel, flags, word)                                              \
  TRACEWELL_ON(channel,                                                                           \
               const uint32_t tracewell_word_ = (uint32_t)(word);                                 \
               TRACEWELL_SITE_0(label, tracewell_word_);                                          \
               tracewell_hook_0(tracewell_channel_, tracewell_state_, flags, tracewell_word_);)
#define TRACEWELL_HOOK1(label, channel, flags, word, a)                                           \
  TRACEWELL_ON(channel,                                                                           \
               const uint32_t tracewell_word_ = (uint32_t)(word);                                 \
               const unsigned long tracewell_1_ = TRACEWELL_WORD(a);                              \
               TRACEWELL_SITE_1(label, tracewell_word_, tracewell_1_);                            \
               tracewell_hook_1(tracewell_channel_, tracewell_state_, flags, tracewell_word_,     \
                   tracewell_1_);)
#define TRACEWELL_HOOK2(label, channel, flags, word, a, b)                                        \
  TRACEWELL_ON(channel,                                                                           \
               const uint32_t tracewell_word_ = (uint32_t)(word);                                 \
               const unsigned long tracewell_1_ = TRACEWELL_WORD(a);                              \
               const unsigned long tracewell_2_ = TRACEWELL_WORD(b);                              \
               TRACEWELL_SITE_2(label, tracewell_word_, tracewell_1_, tracewell_2_);              \
               tracewell_hook_2(tracewell_channel_, tracewell_state_, flags, tracewell_word_,     \
                   tracewell_1_, tracewell_2_);)
#define TRACEWELL_HOOK3(label, channel, flags, word, a, b, c)                                     \
  TRACEWELL_ON(channel,                                                                           \
               const uint32_t tracewell_word_ = (uint32_t)(word);                                 \
               const unsigned long tracewell_1_ = TRACEWELL_WORD(a);                              \
               const unsigned long tracewell_2_ = TRACEWELL_WORD(b);                              \
               const unsigned long tracewell_3_ = TRACEWELL_WORD(c);                              \
               TRACEWELL_SITE_3(label, tracewell_word_, tracewell_1_, tracewell_2_, tracewell_3_);\
               tracewell_hook_3(tracewell_channel_, tracewell_state_, flags, tracewell_word_,     \
                   tracewell_1_, tracewell_2_, tracewell_3_);)
#define TRACEWELL_HOOK4(label, channel, flags, word, a, b, c, d)                                  \
  TRACEWELL_ON(channel,                                                                           \
               const uint32_t tracewell_word_ = (uint32_t)(word);                                 \
               const unsigned long tracewell_1_ = TRACEWELL_WORD(a);                              \
               const unsigned long tracewell_2_ = TRACEWELL_WORD(b);                              \
               const unsigned long tracewell_3_ = TRACEWELL_WORD(c);                              \
               const unsigned long tracewell_4_ = TRACEWELL_WORD(d);                              \
               TRACEWELL_SITE_4(label, tracewell_word_, tracewell_1_, tracewell_2_,               \
                                tracewell_3_, tracewell_4_);                                      \
               tracewell_hook_4(tracewell_channel_, tracewell_state_, flags, tracewell_word_,     \
                   tracewell_1_, tracewell_2_, tracewell_3_, tracewell_4_);)
#define TRACEWELL_HOOK5(label, channel, flags, word, a, b, c, d, e)                               \
  TRACEWELL_ON(channel,                                                                           \
               const uint32_t tracewell_word_ = (uint32_t)(word);                                 \
               const unsigned long tracewell_1_ = TRACEWELL_WORD(a);                              \
               const unsigned long tracewell_2_ = TRACEWELL_WORD(b);                              \
               const unsigned long tracewell_3_ = TRACEWELL_WORD(c);                              \
               const unsigned long tracewell_4_ = TRACEWELL_WORD(d);                              \
               const unsigned long tracewell_5_ = TRACEWELL_WORD(e);                              \
               TRACEWELL_SITE_5(label, tracewell_word_, tracewell_1_, tracewell_2_,               \
                                tracewell_3_, tracewell_4_, tracewell_5_);                        \
               tracewell_hook_5(tracewell_channel_, tracewell_state_, flags, tracewell_word_,     \
                   tracewell_1_, tracewell_2_, tracewell_3_, tracewell_4_, tracewell_5_);)

#define TRACEWELL_HOOK_DATA(label, channel, flags, word, d1, length, bytes) TRACEWELL_ON(channel, \
  const uint32_t tracewell_word_ = (uint32_t)(word);                                              \
  const unsigned long tracewell_1_ = TRACEWELL_WORD(d1);                                          \
  const unsigned long tracewell_2_ = TRACEWELL_WORD(length);                                      \
  const void* const tracewell_3_ = (const void*)(bytes);                                          \
  TRACEWELL_SITE_3(label, tracewell_word_, tracewell_1_, tracewell_2_, tracewell_3_);             \
  tracewell_hook_data(tracewell_channel_, tracewell_state_, flags, tracewell_word_, tracewell_1_, \
                      tracewell_2_, tracewell_3_);)

#endif
