#include "formats/trace64/write/reasons.h"

#include <algorithm>

namespace tracewell::formats::trace64 {
namespace {

constexpr std::string_view kBetween = "; ";

}  // namespace

void Reasons::add(std::string_view why, StepsOnly& left_out) {
  if (why.empty() || std::ranges::find(said_, why) != said_.end()) return;
  const size_t bytes = bytes_ + kBetween.size() + why.size();
  if (!said_.empty() && bytes > kBytesMax)
    return left_out.count("reason{|s} why instructions are missing {is|are} left out, because "
                          "others are told at the same place");
  said_.emplace_back(why);
  bytes_ = bytes;
}

std::string Reasons::text() const {
  std::string out;
  for (const std::string& one : said_) {
    if (!out.empty()) out += kBetween;
    out += one;
  }
  return out;
}

}  // namespace tracewell::formats::trace64
