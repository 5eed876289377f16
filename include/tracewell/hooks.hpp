// Trace hooks for C++20: what hooks.h does, with types.
//
//   constexpr tracewell::HookId kRequest{0x0100};      // hook 010
//   tracewell::hook(kRequest, id, size);               // up to five words
//   tracewell::hook(kRequest.subhook(2), pointer);
//   tracewell::hook_text(kRequest.subhook(3), id, "GET /index.html");
#ifndef TRACEWELL_HOOKS_HPP
#define TRACEWELL_HOOKS_HPP

#include <bit>
#include <concepts>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "hooks.h"

namespace tracewell {

/// A hook word. Wrong ids do not compile: user programs have 0x0100 to 0x0ff0 (010 to 0FF), and
/// below 0x1000 the last digit is 0.
class HookId {
 public:
  consteval explicit HookId(uint16_t id, uint16_t sub = 0)
      : word_(uint32_t{id} << 16 | sub) {
    if (id < 0x0100 || (id < 0x1000 && id % 16 != 0)) wrong_hook_id();
  }
  constexpr HookId subhook(uint16_t sub) const { return HookId((word_ & 0xffff0000u) | sub, 0); }
  constexpr uint32_t word() const { return word_; }

 private:
  constexpr HookId(uint32_t word, int) : word_(word) {}
  static void wrong_hook_id() {}
  uint32_t word_;
};

/// What fits a word and means the same there: integers, enumerations, pointers, floating point (its
/// bits).
template <class T>
concept HookWord = (std::integral<T> || std::is_enum_v<T> || std::is_pointer_v<T> ||
                    std::floating_point<T>) && sizeof(T) <= sizeof(unsigned long);

template <HookWord T>
[[gnu::always_inline]] inline unsigned long hook_word(T value) {
  if constexpr (std::floating_point<T> && sizeof(T) == 8) {
    return static_cast<unsigned long>(std::bit_cast<uint64_t>(value));
  } else if constexpr (std::floating_point<T>) {
    return std::bit_cast<uint32_t>(static_cast<float>(value));
  } else {
    return (unsigned long)(value);
  }
}

namespace detail {
template <class... Words>
[[gnu::noinline]] void fire(unsigned channel, uint32_t state, uint32_t word, Words... words) {
  const unsigned long all[] = {words..., 0, 0, 0, 0, 0};
  tracewell_hook_words(channel, state, 0, word, sizeof...(words), all[0], all[1], all[2], all[3],
                       all[4]);
}
}  // namespace detail

/// Fires on channel 0, or on that which is given as a template argument.
template <unsigned kChannel = 0, HookWord... Words>
  requires(sizeof...(Words) <= TRACEWELL_HOOK_WORDS_MAX && kChannel < TRACEWELL_HOOK_CHANNELS)
[[gnu::always_inline]] inline void hook(HookId id, Words... words) {
  const uint32_t state = TRACEWELL_STATE(kChannel);
  if (TRACEWELL_IS_ON(state)) detail::fire(kChannel, state, id.word(), hook_word(words)...);
}

/// A word and bytes, of which at most TRACEWELL_HOOK_DATA_MAX are kept.
template <unsigned kChannel = 0, HookWord Word>
  requires(kChannel < TRACEWELL_HOOK_CHANNELS)
[[gnu::always_inline]] inline void hook_text(HookId id, Word word, std::string_view text) {
  const uint32_t state = TRACEWELL_STATE(kChannel);
  if (TRACEWELL_IS_ON(state))
    tracewell_hook_data(kChannel, state, 0, id.word(), hook_word(word), text.size(), text.data());
}

}  // namespace tracewell

#endif
