// Where an index comes from: the file beside the trace, or the trace.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/file.h"
#include "timeline/timeline.h"

namespace tracewell::timeline {
namespace {

class FileSink final : public IndexSink {
 public:
  explicit FileSink(OutputFile& file) : file_(file) {}
  Status append(Bytes bytes) override { return file_.write(bytes); }
  Status rewrite_head(Bytes bytes) override { return file_.rewrite_at(0, bytes); }
  uint64_t size() const override { return file_.size(); }

 private:
  OutputFile& file_;
};

class MemorySink final : public IndexSink {
 public:
  explicit MemorySink(std::vector<uint8_t>& bytes) : bytes_(bytes) {}
  Status append(Bytes bytes) override {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return {};
  }
  Status rewrite_head(Bytes bytes) override {
    std::copy(bytes.begin(), bytes.end(), bytes_.begin());
    return {};
  }
  uint64_t size() const override { return bytes_.size(); }

 private:
  std::vector<uint8_t>& bytes_;
};

/// Only a regular file is opened: another may have no end.
std::optional<Index> read_sidecar(const std::string& path) {
  std::error_code ignored;
  if (path.empty() || !std::filesystem::is_regular_file(path, ignored)) return std::nullopt;
  auto file = InputFile::open(path);
  if (!file) return std::nullopt;
  const Bytes bytes = (*file)->bytes();
  return read_index(bytes, *std::move(file));
}

Result<Index> in_memory(const StepIndex& steps, const Catalog& catalog, const TraceIdentity& trace,
                        const BuildOptions& options) {
  auto bytes = std::make_shared<std::vector<uint8_t>>();
  MemorySink sink(*bytes);
  TW_RETURN_IF_ERROR(build_index(steps, catalog, trace, nullptr, options, sink));
  auto index = read_index(*bytes, bytes);
  TW_CHECK(index);
  return *std::move(index);
}

Result<Index> beside(const std::string& path, const StepIndex& steps, const Catalog& catalog,
                     const TraceIdentity& trace, const Index* old, const BuildOptions& options) {
  // A pipe that somebody has put there would be waited for, and a link is nobody's to follow.
  std::error_code none;
  const auto there = std::filesystem::symlink_status(path, none).type();
  using Type = std::filesystem::file_type;
  if (there != Type::not_found && there != Type::regular && there != Type::none)
    return Error{Errc::Io, path + " is no regular file; an index cannot be there", {}};
  TW_ASSIGN_OR_RETURN(OutputFile file, OutputFile::create(path));
  FileSink sink(file);
  BuildOptions small = options;
  small.small = true;
  TW_RETURN_IF_ERROR(build_index(steps, catalog, trace, old, small, sink));
  TW_RETURN_IF_ERROR(file.commit());
  auto index = read_sidecar(path);
  if (!index || index->trace != trace)
    return Error{Errc::Io, path + " was changed by somebody else", {}};
  return *std::move(index);
}

/// Beside the trace; in memory, if that cannot be.
Result<Index> make_anew(const StepIndex& steps, const Catalog& catalog, const TraceIdentity& trace,
                        const std::string& path, const BuildOptions& options) {
  if (!path.empty()) {
    auto made = beside(path, steps, catalog, trace, nullptr, options);
    if (made.ok()) return made;
  }
  return in_memory(steps, catalog, trace, options);
}

/// With nothing left out: in a file beside the sidecar that is gone as soon as it is open, so that
/// its size matters to nobody for long; in memory, if that cannot be.
Result<Index> make_whole(const StepIndex& steps, const Catalog& catalog, const TraceIdentity& trace,
                         const std::string& sidecar, const BuildOptions& options) {
  static std::atomic<uint64_t> number = 0;
  const std::string path = sidecar + "." + std::to_string(getpid()) + "." +
                           std::to_string(number++);
  auto file = OutputFile::create(path, OutputFile::Existing::Keep);
  if (!file.ok() || !file->can_rewrite()) return in_memory(steps, catalog, trace, options);
  FileSink sink(*file);
  TW_RETURN_IF_ERROR(build_index(steps, catalog, trace, nullptr, options, sink));
  if (!file->commit().ok()) return in_memory(steps, catalog, trace, options);
  auto index = read_sidecar(path);
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
  if (!index || index->trace != trace)
    return Error{Errc::Io, path + " was changed by somebody else", {}};
  return *std::move(index);
}

/// What make_anew() and make_whole() take, kept. A sidecar that has been made anew, and is damaged,
/// is not trusted again. Empty when the trace cannot be read a second time.
struct Makers {
  IndexKeeper::Make anew, whole;
};
Makers makers(const StepIndex& steps, const TraceIdentity& trace,
              const TimelineOptions& options) {
  auto opened = steps.open_at(0);
  if (!opened || (*opened)->steps() == nullptr) return {};
  struct Kept {
    std::unique_ptr<Source> source;
    TraceIdentity trace;
    TimelineOptions options;
    std::vector<uint8_t> notes;
  };
  const Bytes notes = options.build.notes;
  auto kept = std::make_shared<Kept>(
      Kept{*std::move(opened), trace, options, {notes.begin(), notes.end()}});
  kept->options.build.notes = kept->notes;
  kept->options.build.progress = {};
  Makers out;
  out.whole = [kept, sidecar = options.sidecar] {
    return make_whole(*kept->source->steps(), kept->source->catalog(), kept->trace, sidecar,
                      kept->options.build);
  };
  out.anew = [kept] {
    const std::string path = std::exchange(kept->options.sidecar, "");
    if (kept->options.damaged) kept->options.damaged();
    return make_anew(*kept->source->steps(), kept->source->catalog(), kept->trace, path,
                     kept->options.build);
  };
  return out;
}

}  // namespace

std::optional<KeptNotes> read_notes(const std::string& sidecar, Bytes trace, int64_t changed_ns) {
  const std::optional<Index> index = read_sidecar(sidecar);
  if (!index) return std::nullopt;
  if (index->trace != TraceIdentity::of(trace, changed_ns) && !index->trace.begins(trace))
    return std::nullopt;
  return KeptNotes{index->owner, index->notes, index->trace.size_bytes};
}

Result<Timeline> Timeline::open(const StepIndex& steps, const Catalog& catalog, Bytes trace,
                                const TimelineOptions& options) {
  const auto made = [&steps](Timeline timeline) {
    const std::span<const uint64_t> stretches = steps.stretches();
    timeline.stretches_.assign(stretches.begin(), stretches.end());
    return timeline;
  };
  const TraceIdentity identity = TraceIdentity::of(trace, options.trace_changed_ns);
  if (options.sidecar.empty()) {
    TW_ASSIGN_OR_RETURN(Index index, in_memory(steps, catalog, identity, options.build));
    return made(Timeline(std::move(index)));
  }
  std::optional<Index> old = read_sidecar(options.sidecar);
  Makers make = makers(steps, identity, options);
  const bool same = old && old->trace == identity && old->steps() == steps.count();
  const Bytes notes = options.build.notes;
  if (same && (notes.empty() || std::equal(notes.begin(), notes.end(), old->notes.begin(),
                                           old->notes.end())))
    return made(Timeline(*std::move(old), std::move(make.anew), std::move(make.whole)));
  const bool useful = same || (old && old->trace.begins(trace));
  TW_ASSIGN_OR_RETURN(Index index, beside(options.sidecar, steps, catalog, identity,
                                          useful ? &*old : nullptr, options.build));
  return made(Timeline(std::move(index), std::move(make.anew), std::move(make.whole)));
}

}  // namespace tracewell::timeline
