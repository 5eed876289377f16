#include "hooks/words/component_words.h"

#include <cstdint>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "base/text/text.h"
#include "hooks/words/sizes.h"

namespace tracewell::hooks {
namespace {

struct LevelWord {
  std::string_view name;  // what stands behind memtrace or systrace
  uint32_t level;
};
constexpr LevelWord kLevels[] = {{"minimal", 1}, {"normal", 3}, {"detail", 7}, {"max", 9}};

std::optional<uint32_t> level_of(std::string_view word) {
  for (const LevelWord& one : kLevels)
    if (one.name == word) return one.level;
  if (!word.starts_with("level=")) return std::nullopt;
  const auto number = parse_number(word.substr(6));
  if (!number || *number > TRACEWELL_COMPONENT_LEVEL_MAX) return std::nullopt;
  return static_cast<uint32_t>(*number);
}

/// false: it is no such word.
Result<bool> obey(std::string_view word, ComponentChange& change) {
  using Memory = ComponentChange::Memory;
  const bool memory = word.starts_with("memtrace");
  if (!memory && !word.starts_with("systrace")) return false;
  word.remove_prefix(8);
  if (const auto level = level_of(word)) {
    (memory ? change.memory_level : change.system_level) = *level;
  } else if (word == "on" || word == "off") {
    if (memory)
      change.memory = word == "on" ? Memory::On : Memory::Off;
    else
      change.system = word == "on";
  } else if (memory && (word == "suspend" || word == "resume")) {
    change.memory = word == "suspend" ? Memory::Suspend : Memory::Resume;
  } else if (memory && word.starts_with("bufsize=")) {
    TW_ASSIGN_OR_RETURN(change.buffer_bytes,
                        size_within(word.substr(8), "memtracebufsize", kComponentBufferLimits));
  } else {
    return false;
  }
  return true;
}

}  // namespace

Result<ComponentChange> component_change(const std::vector<std::string>& words) {
  ComponentChange out;
  for (const std::string& word : words) {
    TW_ASSIGN_OR_RETURN(const bool known, obey(word, out));
    if (!known)
      return {Errc::InvalidArgument,
              fmt::format("'{}' is nothing that can be done: memtrace or systrace, then on, off, "
                          "minimal, normal, detail, max, level=0 to 9; memtrace, then suspend, "
                          "resume, bufsize=SIZE",
                          printable(word))};
  }
  return out;
}

}  // namespace tracewell::hooks
