#include "agent/engine/markers.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "base/text/text.h"
#include "symbols/elf/elf_file.h"
#include "symbols/elf/markers.h"

namespace tracewell::agent {

namespace {

/// Of one file, and of all of a process: it may have mapped as many as it likes.
constexpr uint64_t kFileBytesMax = uint64_t{512} << 20, kAllBytesMax = uint64_t{2} << 30;
/// Of a process: a file may be mapped by many names.
constexpr size_t kMarkersMax = 1 << 16;
constexpr uint64_t kTextBytesMax = 16 << 20;

}  // namespace

std::vector<Marker> find_markers(target::Target& target, target::Pid pid) {
  std::vector<Marker> out;
  target::ProcessFacts* const facts = target.facts();
  if (facts == nullptr) return out;
  const auto modules = facts->modules(pid);
  if (!modules) return out;
  const auto files = facts->module_files(pid);
  if (!files) return out;
  uint64_t left = kAllBytesMax, text_left = kTextBytesMax;
  for (const Module& module : *modules) {
    if (facts->gives_up() || out.size() == kMarkersMax || text_left == 0) break;
    const auto file = files->read(module, std::min(left, kFileBytesMax));
    if (!file) continue;  // the vDSO, or what was deleted
    left -= std::min<uint64_t>(left, file->size());
    const symbols::ElfFile elf{Bytes(*file)};
    if (!module.build_id.empty() && elf.build_id() != module.build_id) continue;
    for (symbols::Marker& one : symbols::find_markers(elf)) {
      if (out.size() == kMarkersMax || text_left == 0) break;
      text_left -= std::min<uint64_t>(text_left, one.id.size() + one.arguments.size());
      out.push_back({one.address + module.bias, std::move(one.id), std::move(one.arguments),
                     one.kind == symbols::Marker::Kind::Hook,
                     one.semaphore == 0 ? 0 : one.semaphore + module.bias});
    }
  }
  std::ranges::stable_sort(out, {}, &Marker::address);
  return out;
}

MarkerData::MarkerData(const Marker& marker, const RegisterLayout& layout) {
  std::string_view rest = marker.arguments;
  while (!rest.empty()) {
    const std::string_view text = take_until(rest, ' ');
    if (text.empty()) continue;
    const size_t i = arguments_.size();
    const std::string name = !marker.hook ? fmt::format("arg{}", i)
                             : i == 0     ? "hkwd"
                                          : fmt::format("d{}", i);
    auto operand = compile_marker_operand(text, layout);
    arguments_.push_back({name, operand ? *std::move(operand) : MarkerOperand()});
  }
}

}  // namespace tracewell::agent
