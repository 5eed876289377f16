// Where an index comes from: the file beside the trace, or the trace.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/files/beside.h"
#include "base/files/file.h"
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

/// A question may go over all segments, and those of a session are long as a rule. So there are no
/// more than there can be, by far: who forges an index would make them of a few bytes each.
bool has_few_segments(const Index& index, const StepIndex& steps) {
  constexpr uint64_t kMost = 256, kShortest = 128;
  return index.segments.size() <= kMost + steps.sessions().size() + index.steps() / kShortest;
}

/// More than a build makes beside a trace of so many bytes, by far: segments take a quarter of it,
/// where it has some size, and what stands beside them (seams, notes) no more than the trace.
uint64_t sidecar_bytes_max(uint64_t trace_bytes) {
  constexpr uint64_t kAlways = uint64_t{16} << 20;
  return kAlways + 4 * std::min(trace_bytes, UINT64_MAX / 8);
}

/// If `is_wanted(of, shared)`: of the trace that it says it is of; may others put files there?
/// A file of holes costs whoever forges an index nothing, and may say that all of it is to be
/// hashed: so both this and that it is not too large are known before.
template <class IsWanted>
std::optional<Index> read_sidecar(const std::string& path, const FileFacts& trace_file,
                                  const IsWanted& is_wanted) {
  if (path.empty()) return std::nullopt;
  auto file = InputFile::open_beside(path, trace_file);
  if (!file) return std::nullopt;
  const Bytes bytes = (*file)->bytes();
  const auto of = read_index_identity(bytes);
  const bool shared = (*file)->others_put_there();
  if (of && shared && !of->is_of(trace_file, (*file)->facts())) return std::nullopt;
  if (!of || !is_wanted(*of, shared) || bytes.size() > sidecar_bytes_max(of->size_bytes))
    return std::nullopt;
  auto index = read_index(bytes, *std::move(file));
  if (index && index->trace != *of) return std::nullopt;  // it was written to meanwhile
  return index;
}

/// Of this trace, or of what it was when it was shorter. Where others may put an index, an inode
/// alone does not say that it was this file: it may have been theirs before.
std::optional<Index> read_sidecar_of(const std::string& path, const FileFacts& trace_file,
                                     Bytes trace, const TraceIdentity& identity) {
  return read_sidecar(path, trace_file, [&](const TraceIdentity& of, bool shared) {
    return of == identity || ((trace_file.born_ns != 0 || !shared) && of.begins(trace));
  });
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
                     const TraceIdentity& trace, const Original& file_of_trace, const Index* old,
                     const BuildOptions& options) {
  auto created = OutputFile::create_beside(path, file_of_trace);
  if (!created) return Error{Errc::Io, created.error().message, {}};
  OutputFile file = *std::move(created);
  TW_ASSIGN_OR_RETURN(const FileFacts own, file.facts());
  TraceIdentity written = trace;
  written.own_inode = own.inode;
  written.own_born_ns = own.born_ns;
  FileSink sink(file);
  BuildOptions small = options;
  small.small = true;
  TW_RETURN_IF_ERROR(build_index(steps, catalog, written, old, small, sink));
  TW_RETURN_IF_ERROR(file.commit());
  auto index = read_sidecar(path, file_of_trace.facts,
                            [&](const TraceIdentity& of, bool) { return of == trace; });
  if (!index)
    return Error{Errc::Io, path + " was changed by somebody else", {}};
  return *std::move(index);
}

/// Beside the trace; in memory, if that cannot be.
Result<Index> make_anew(const StepIndex& steps, const Catalog& catalog, const TraceIdentity& trace,
                        const std::string& path, const Original& file_of_trace,
                        const BuildOptions& options) {
  if (!path.empty()) {
    auto made = beside(path, steps, catalog, trace, file_of_trace, nullptr, options);
    if (made.ok()) return made;
  }
  return in_memory(steps, catalog, trace, options);
}

/// With nothing left out: in a file beside the sidecar that never gets a name, so that its size
/// matters to nobody for long; in memory, if that cannot be.
Result<Index> make_whole(const StepIndex& steps, const Catalog& catalog, const TraceIdentity& trace,
                         const std::string& sidecar, const Original& file_of_trace,
                         const BuildOptions& options) {
  static std::atomic<uint64_t> number = 0;
  const std::string path = sidecar + "." + std::to_string(getpid()) + "." +
                           std::to_string(number++);
  auto file = OutputFile::create_beside(path, file_of_trace, OutputFile::Existing::Keep);
  if (!file.ok() || !file->can_rewrite()) return in_memory(steps, catalog, trace, options);
  FileSink sink(*file);
  TW_RETURN_IF_ERROR(build_index(steps, catalog, trace, nullptr, options, sink));
  auto back = file->read_back();
  if (!back.ok()) return in_memory(steps, catalog, trace, options);
  const Bytes bytes = (*back)->bytes();
  auto index = read_index(bytes, *std::move(back));
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
  kept->options.build.work.begins = {};
  kept->options.build.work.stop = {};
  Makers out;
  out.whole = [kept, sidecar = options.sidecar] {
    return make_whole(*kept->source->steps(), kept->source->catalog(), kept->trace, sidecar,
                      kept->options.trace_file, kept->options.build);
  };
  out.anew = [kept] {
    const std::string path = std::exchange(kept->options.sidecar, "");
    if (kept->options.damaged) kept->options.damaged();
    return make_anew(*kept->source->steps(), kept->source->catalog(), kept->trace, path,
                     kept->options.trace_file, kept->options.build);
  };
  return out;
}

}  // namespace

std::optional<KeptNotes> read_notes(const std::string& sidecar, Bytes trace, int64_t changed_ns,
                                    const FileFacts& trace_file) {
  const std::optional<Index> index =
      read_sidecar_of(sidecar, trace_file, trace, TraceIdentity::of(trace, changed_ns, trace_file));
  if (!index) return std::nullopt;
  return KeptNotes{index->owner, index->notes, index->trace.size_bytes};
}

std::optional<Timeline> Timeline::find(const StepIndex& steps, Bytes trace,
                                       const TimelineOptions& options) {
  const TraceIdentity identity =
      TraceIdentity::of(trace, options.trace_changed_ns, options.trace_file.facts);
  std::optional<Index> index =
      read_sidecar(options.sidecar, options.trace_file.facts,
                   [&](const TraceIdentity& of, bool) { return of == identity; });
  if (!index || index->steps() != steps.count() || !has_few_segments(*index, steps) ||
      !std::ranges::equal(options.build.notes, index->notes))
    return std::nullopt;
  for (const Segment& one : index->segments)
    if (!one.has(Part::Executions) || !one.has(Part::Registers) || !one.has(Part::Threads))
      return std::nullopt;
  Timeline timeline(*std::move(index));
  const std::span<const uint64_t> stretches = steps.stretches();
  timeline.stretches_.assign(stretches.begin(), stretches.end());
  return timeline;
}

Result<Timeline> Timeline::open(const StepIndex& steps, const Catalog& catalog, Bytes trace,
                                const TimelineOptions& options) {
  const auto made = [&steps](Timeline timeline) {
    const std::span<const uint64_t> stretches = steps.stretches();
    timeline.stretches_.assign(stretches.begin(), stretches.end());
    const std::vector<Segment>& segments = timeline.keeper_->now().segments;
    if (!segments.empty() && segments.back().loss_end == segments.back().count + 1)
      timeline.stretches_.push_back(segments.back().end());
    return timeline;
  };
  const TraceIdentity identity =
      TraceIdentity::of(trace, options.trace_changed_ns, options.trace_file.facts);
  if (options.sidecar.empty()) {
    TW_ASSIGN_OR_RETURN(Index index, in_memory(steps, catalog, identity, options.build));
    return made(Timeline(std::move(index)));
  }
  std::optional<Index> old =
      read_sidecar_of(options.sidecar, options.trace_file.facts, trace, identity);
  if (old && !has_few_segments(*old, steps)) old.reset();
  Makers make = makers(steps, identity, options);
  const bool same = old && old->trace == identity && old->steps() == steps.count();
  const Bytes notes = options.build.notes;
  if (same && (notes.empty() || std::equal(notes.begin(), notes.end(), old->notes.begin(),
                                           old->notes.end())))
    return made(Timeline(*std::move(old), std::move(make.anew), std::move(make.whole)));
  const bool useful = same || (old && old->trace.begins(trace));
  TW_ASSIGN_OR_RETURN(Index index,
                      beside(options.sidecar, steps, catalog, identity, options.trace_file,
                             useful ? &*old : nullptr, options.build));
  return made(Timeline(std::move(index), std::move(make.anew), std::move(make.whole)));
}

}  // namespace tracewell::timeline
