#include "trace/lost_files.h"

#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/text/text.h"

namespace tracewell::trace {
namespace {

/// By InputFile::id(): of which lost bytes were told, and which are traces. Of the whole
/// process, as the faults that lose bytes are; several traces may be open at once.
class FilesToldOf {
 public:
  void add_trace(uint64_t id) {
    const std::lock_guard lock(mutex_);
    traces_.insert(id);
  }
  bool is_trace(uint64_t id) {
    const std::lock_guard lock(mutex_);
    return traces_.contains(id);
  }
  bool has_traces() {
    const std::lock_guard lock(mutex_);
    return !traces_.empty();
  }
  /// False: it was told before.
  bool tell(uint64_t id) {
    const std::lock_guard lock(mutex_);
    return told_.insert(id).second;
  }

 private:
  std::mutex mutex_;
  std::set<uint64_t> told_, traces_;
};
FilesToldOf& files_told_of() {
  static FilesToldOf known;
  return known;
}

}  // namespace

std::string lost_bytes_text(const LostBytes& lost) {
  return fmt::format("{} bytes could not be read, and were taken as zeros: the file was cut while "
                     "it was read, or its disk failed",
                     lost.bytes);
}

void note_trace_file(const InputFile& file) { files_told_of().add_trace(file.id()); }

void note_lost_bytes(const InputFile* trace, ProblemLog& problems) {
  FilesToldOf& known = files_told_of();
  for (const LostFile& file : InputFile::all_lost()) {
    const bool own = trace != nullptr && file.id == trace->id();
    if ((!own && known.is_trace(file.id)) || !known.tell(file.id)) continue;
    std::string text = lost_bytes_text(file.lost);
    if (!own) text = fmt::format("{}, from {:#x}: {}", file.path, file.lost.first, text);
    problems.add({own ? std::optional(file.lost.first) : std::nullopt,
                         Problem::Severity::Damage, "file-shrank", std::move(text)});
  }
}

Status no_lost_files() {
  const std::vector<LostFile> lost = InputFile::all_lost();
  if (lost.empty()) return {};
  return Error{Errc::Corrupt, lost_bytes_text(lost[0].lost), {}}.within(printable(lost[0].path));
}

std::vector<LostFile> untold_lost_files() {
  FilesToldOf& known = files_told_of();
  // What writes logs cuts what was half written in them, and has that mapped.
  if (!known.has_traces()) return {};
  std::vector<LostFile> lost = InputFile::all_lost();
  std::erase_if(lost, [&](const LostFile& file) { return !known.tell(file.id); });
  return lost;
}

}  // namespace tracewell::trace
