#include "hooks/programs/nested_processes.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "base/files/file.h"
#include "base/files/folder.h"
#include "base/files/owners.h"
#include "base/text/text.h"
#include "hooks/programs/own_process.h"

namespace tracewell::hooks {
namespace {

/// proc(5): its numbers in all namespaces from that of /proc down to its own. 0: it has one alone.
uint32_t number_for_itself(const std::string& process) {
  const auto status = InputFile::open(process + "/status");
  if (!status.ok()) return 0;
  constexpr std::string_view kKey = "\nNSpid:\t";
  std::string_view text = as_text((*status)->bytes());
  const size_t at = text.find(kKey);
  if (at == text.npos) return 0;
  text.remove_prefix(at + kKey.size());
  const auto numbers = split(text.substr(0, text.find('\n')), '\t');
  if (numbers.size() < 2) return 0;
  return static_cast<uint32_t>(parse_number(numbers.back()).value_or(0));
}

}  // namespace

NestedProcesses NestedProcesses::look() {
  NestedProcesses out;
  const auto proc = Folder::named("/proc");
  const auto names = proc.ok() ? proc->names() : Result<std::vector<std::string>>(proc.error());
  if (!names.ok()) return out;
  for (const std::string& name : *names) {
    const auto pid = parse_number(name);
    if (!pid || *pid > INT32_MAX) continue;
    // Other users may have as many as they like.
    const auto facts = proc->facts_of_name(name);
    if (!facts || !is_own_user(facts->owner)) continue;
    if (const uint32_t inner = number_for_itself(proc->path_of(name)); inner != 0)
      out.here_.emplace(inner, static_cast<uint32_t>(*pid));
  }
  return out;
}

uint32_t NestedProcesses::find(uint32_t pid, const std::string& end, uint64_t inode) const {
  const auto [first, last] = here_.equal_range(pid);
  const auto found = std::find_if(first, last, [&](const auto& one) {
    return has_mapped(one.second, end, inode).value_or(false);
  });
  return found == last ? 0 : found->second;
}

}  // namespace tracewell::hooks
