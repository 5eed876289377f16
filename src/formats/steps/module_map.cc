#include "formats/steps/module_map.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text/text.h"

namespace tracewell::formats {
namespace {

/// Behind the last `/` or `\`.
std::string_view file_name(const Module& module) {
  const std::string_view path = module.path;
  const size_t at = path.find_last_of("/\\");
  return at == std::string_view::npos ? path : path.substr(at + 1);
}

}  // namespace

ModuleMap::ModuleMap(const Catalog& catalog) {
  for (uint32_t i = 0; i < catalog.modules.size(); ++i)
    if (const Module& one = catalog.modules[i]; one.size_bytes != 0)
      ranges_.push_back({one.start, one.size_bytes, i});
  std::stable_sort(ranges_.begin(), ranges_.end(),
                   [](const Range& a, const Range& b) { return a.start < b.start; });
  // Cut short what a later one overlaps.
  for (size_t i = 1; i < ranges_.size(); ++i) {
    Range& before = ranges_[i - 1];
    before.size = std::min(before.size, ranges_[i].start - before.start);
  }
}

std::optional<ModuleMap::Place> ModuleMap::find(uint64_t address) const {
  if (ranges_.empty()) return std::nullopt;
  if (address - ranges_[last_].start >= ranges_[last_].size) {
    auto above = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                                  [](uint64_t a, const Range& one) { return a < one.start; });
    if (above == ranges_.begin()) return std::nullopt;
    const auto found = above - 1;
    if (address - found->start >= found->size) return std::nullopt;
    last_ = static_cast<size_t>(found - ranges_.begin());
  }
  const Range& range = ranges_[last_];
  const uint64_t offset = address - range.start;
  return Place{range.module, offset, range.size - offset};
}

std::string ModuleMap::short_name(const Module& module) {
  constexpr size_t kUtf8Max = 4;
  const std::string_view name = file_name(module);
  if (name.size() <= kShortNameBytesMax) return printable(name);
  // Not in the middle of a character.
  size_t end = kShortNameBytesMax;
  while (end > kShortNameBytesMax - kUtf8Max && (static_cast<uint8_t>(name[end]) & 0xc0) == 0x80)
    --end;
  return printable(name.substr(0, end)) + "…";
}

std::vector<std::string> ModuleMap::short_names(const Catalog& catalog, StepsOnly& steps) {
  std::vector<std::string> out;
  uint64_t cut = 0;
  for (const Module& one : catalog.modules) {
    out.push_back(short_name(one));
    cut += file_name(one).size() > kShortNameBytesMax;
  }
  if (cut != 0)
    steps.count(fmt::format("module{{'s name is|s' names are}} cut after {} bytes",
                            kShortNameBytesMax),
                cut);
  return out;
}

std::vector<std::string> ModuleMap::refuses(const Catalog& catalog) {
  std::vector<std::string> out = {
      "only which instructions were executed is kept: no order, no registers, no memory"};
  StepsOnly::refuse_processes(catalog, out);
  if (catalog.modules.empty())
    out.push_back("the trace names no modules, so that no instruction is in any of them");
  for (const Module& one : catalog.modules)
    if (one.size_bytes == 0)
      out.push_back(fmt::format("the size of module {} is not known, so that no instruction counts "
                                "as in it",
                                short_name(one)));
  return out;
}

}  // namespace tracewell::formats
