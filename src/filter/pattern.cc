// RE2's regular expressions: whatever somebody asks, a search takes time in proportion to the text
// and no more memory than it was given. The texts may be what a trace says.
#include "filter/pattern.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>
#include <re2/re2.h>

#include "base/text/text.h"
#include "filter/pattern_syntax.h"

namespace tracewell::filter {
namespace {

constexpr int64_t kMemoryBytes = int64_t{1} << 20;
/// States of the engine, at most: at worst it looks at each of them at each byte of a text. What is
/// written out needs about one for a character.
constexpr int kStatesMax = 4096;
/// States times bytes of a search, at most. Nothing stops one before it has ended, so that it must
/// end soon.
constexpr size_t kSearchMax = size_t{64} << 20;

/// Texts are in any encoding, and in none, and a byte is a byte. The engine is told of each as of
/// the letter with its number: its own mode for bytes (Latin-1) gets lost where it takes out what
/// alternatives begin with, and "\xc3a|\xc3" is not found then.
std::string as_letters(std::string_view bytes) {
  constexpr unsigned kPlain = 0x80;
  std::string out;
  out.reserve(2 * bytes.size());
  for (const char c : bytes) {
    const unsigned byte = static_cast<uint8_t>(c);
    if (byte < kPlain) {
      out += c;
      continue;
    }
    out += static_cast<char>(0xc0 | (byte >> 6));
    out += static_cast<char>(0x80 | (byte & 0x3f));
  }
  return out;
}

RE2::Options engine_options() {
  RE2::Options out;
  out.set_max_mem(kMemoryBytes);
  out.set_posix_syntax(true);
  out.set_word_boundary(true);
  out.set_one_line(true);  // ^ and $ are those of the text
  out.set_never_capture(true);
  out.set_log_errors(false);
  return out;
}

/// "" when it is not.
std::string why_refused(const RE2& engine) {
  constexpr std::string_view kLarge =
      "it takes too many states; write smaller numbers in { }, or several patterns with && and ||";
  switch (engine.error_code()) {
    case RE2::NoError:
      return std::string(engine.ProgramSize() > kStatesMax ? kLarge : "");
    case RE2::ErrorRepeatSize:
      return "something is repeated more than 1000 times in all, or {M,N} ends before it begins; "
             "write smaller numbers in { }";
    case RE2::ErrorPatternTooLarge:
      return std::string(kLarge);
    default:
      return fmt::format("{}; write a simpler one", printable(engine.error()));
  }
}

Error refused(std::string_view pattern, std::string_view why) {
  return {Errc::InvalidArgument,
          fmt::format("this is no pattern: \"{}\": {}", printable(pattern), why),
          {}};
}

}  // namespace

struct Pattern::Compiled {
  explicit Compiled(const std::string& text) : engine(text, engine_options()) {}
  RE2 engine;
};

Result<Pattern> Pattern::compile(const std::string& text) {
  if (text.size() > kTextMax)
    return {Errc::InvalidArgument,
            fmt::format("the pattern is too long: {} characters, of {} at most", text.size(),
                        kTextMax)};
  const auto words = engine_syntax(text);
  if (!words.ok()) return refused(text, words.error().message);
  auto compiled = std::make_shared<Compiled>(*words);
  if (const std::string why = why_refused(compiled->engine); !why.empty())
    return refused(text, why);
  Pattern out;
  out.compiled_ = std::move(compiled);
  return out;
}

bool Pattern::found_in_letters(std::string_view text, size_t end) const {
  return compiled_->engine.Match(text, 0, end, RE2::UNANCHORED, nullptr, 0);
}

size_t Pattern::states() const {
  return static_cast<size_t>(std::max(compiled_->engine.ProgramSize(), 1));
}

size_t Pattern::searched_max() const { return kSearchMax / states(); }

bool Pattern::found_in(std::string_view text, size_t most) const {
  const size_t end = std::min({text.size(), searched_max(), most});
  text = text.substr(0, end + 1);
  const bool plain =
      std::ranges::all_of(text, [](char c) { return static_cast<uint8_t>(c) < 0x80; });
  if (plain) return found_in_letters(text, end);
  std::string letters = as_letters(text.substr(0, end));
  const size_t letters_end = letters.size();
  letters += as_letters(text.substr(end));
  return found_in_letters(letters, letters_end);
}

}  // namespace tracewell::filter
