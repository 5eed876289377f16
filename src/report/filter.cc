#include "report/filter.h"

#include <algorithm>

namespace tracewell::report {
namespace {

bool takes_process(const ReportFilter& filter, const Entry& entry) {
  if (filter.processes.empty() && filter.process_names.empty()) return true;
  if (entry.pid != 0 && filter.processes.contains(entry.pid)) return true;
  if (entry.process_path.empty()) return false;
  return std::ranges::any_of(filter.process_names, [&](const std::string& name) {
    return name == entry.process_path || name == last_part(entry.process_path);
  });
}

}  // namespace

std::string_view last_part(std::string_view path) {
  path.remove_prefix(path.rfind('/') + 1);
  return path;
}

bool ReportFilter::everything() const {
  return hooks.empty() && without_hooks.empty() && threads.empty() && cpus.empty() &&
         processes.empty() && process_names.empty() && !after_ns && !before_ns;
}

bool ReportFilter::takes(const Entry& entry, bool has_time) const {
  if (!hooks.empty() && !hooks.contains(entry.hook, entry.subhook)) return false;
  if (without_hooks.contains(entry.hook, entry.subhook)) return false;
  if (!threads.empty() && threads.contains(entry.tid) == threads_excluded) return false;
  if (!cpus.empty() && !cpus.contains(entry.cpu)) return false;
  if (has_time && after_ns && entry.time_ns < *after_ns) return false;
  if (has_time && before_ns && entry.time_ns > *before_ns) return false;
  return takes_process(*this, entry);
}

}  // namespace tracewell::report
