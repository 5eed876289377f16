#include "report/fields.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace tracewell::report {
namespace {

constexpr std::string_view kBlanks = " \t\n";
/// What ends a field, and is no part of the next one's name.
constexpr std::string_view kBetween = ",;|()[]{}<>\n\t";

std::string_view trimmed(std::string_view text) {
  const size_t from = text.find_first_not_of(kBlanks);
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(kBlanks) + 1 - from);
}

std::string name_in(std::string_view words) {
  words = trimmed(words);
  words.remove_prefix(words.find_last_of(kBetween) + 1);
  return std::string(trimmed(words));
}

class Splitter {
 public:
  void literal(std::string_view words) {
    const size_t sign = words.find_last_of("=:");
    if (sign != std::string_view::npos) {
      flush();
      field_ = {name_in(words.substr(0, sign)), std::string(words.substr(sign + 1))};
    } else if (field_) {
      field_->value += words;
    } else {
      before_ = name_in(words);
    }
  }
  void data(std::string_view text) {
    if (!field_ && trimmed(text).empty()) return;
    if (!field_) field_ = {std::exchange(before_, {}), {}};
    field_->value += text;
  }
  std::vector<Field> take() {
    flush();
    // All names that the template has count as taken, also those of later fields. A taken name
    // stops one counter once, so that the whole is linear.
    std::map<std::string, unsigned> numbers;  // the last one that was given to each name
    for (const Field& field : fields_) numbers.try_emplace(field.name, 0);
    for (Field& field : fields_) {
      unsigned& number = numbers[field.name];
      if (++number == 1) continue;
      std::string name = fmt::format("{}_{}", field.name, number);
      while (!numbers.try_emplace(name, 0).second)
        name = fmt::format("{}_{}", field.name, ++number);
      field.name = std::move(name);
    }
    return std::move(fields_);
  }

 private:
  void flush() {
    if (!field_) return;
    if (field_->name.empty()) field_->name = "value";
    field_->value = std::string(trimmed(field_->value));
    fields_.push_back(*std::move(field_));
    field_.reset();
  }

  std::optional<Field> field_;  // that grows
  std::string before_;          // words without a field
  std::vector<Field> fields_;
};

}  // namespace

std::vector<Field> fields_of(std::string_view text, std::span<const TextSpan> literals) {
  Splitter splitter;
  size_t at = 0;
  for (const TextSpan& one : literals) {
    const size_t begin = std::min(std::max(one.begin, at), text.size());
    const size_t end = std::min(std::max(one.end, begin), text.size());
    if (begin > at) splitter.data(text.substr(at, begin - at));
    splitter.literal(text.substr(begin, end - begin));
    at = end;
  }
  if (at < text.size()) splitter.data(text.substr(at));
  return splitter.take();
}

}  // namespace tracewell::report
