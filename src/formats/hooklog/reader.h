// Reads a log of trace hooks: all its streams, merged by time.
#pragma once

#include <memory>
#include <optional>
#include <queue>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files/folder.h"
#include "formats/format.h"
#include "formats/hooklog/metadata.h"
#include "formats/hooklog/processes.h"
#include "formats/hooklog/programs.h"
#include "formats/hooklog/stream.h"

namespace tracewell::formats {

/// What the metadata says of the whole trace, as extras of a catalog.
void describe_hooklog(std::string_view metadata, Catalog& catalog);

class HooklogReader final : public Source, public Summary {
 public:
  /// `file` is the log's `metadata`, or one of its stream files, which is read alone; its times are
  /// then known only if the metadata is beside it.
  static Result<std::unique_ptr<Source>> open(std::shared_ptr<InputFile> file,
                                              const OpenOptions& options, ProblemLog& problems);

  const Catalog& catalog() const override { return catalog_; }
  const Summary* summary() const override { return this; }
  Result<bool> next(Batch& batch) override;
  /// That the log's other files were read from, whatever has its name by now; nullptr: none was.
  const Folder* folder() const override { return folder_.get(); }
  uint64_t thread_count() const override { return threads_; }
  std::vector<std::pair<std::string, std::string>> facts() const override;

 private:
  explicit HooklogReader(ProblemLog& problems) : problems_(problems), programs_(problems) {}
  std::string read_stream(const std::shared_ptr<InputFile>& file);
  void read_metadata(std::string_view text);
  void describe(std::string_view metadata);
  void begin();
  void tell_cut_files();
  void number_last(Batch& batch, uint64_t ticks, size_t cursor, bool foreign);

  ProblemLog& problems_;
  std::shared_ptr<const Folder> folder_;
  std::optional<HooklogClock> clock_;
  HooklogPackets log_;
  Catalog catalog_;
  uint64_t threads_ = 0;
  uint64_t seq_ = 0;
  bool told_cut_ = false;
  std::vector<HooklogRing> rings_;  // of the cursors
  std::vector<uint32_t> of_rings_;  // their processes
  std::vector<HooklogCursor> cursors_;
  HooklogPrograms programs_;
  HooklogProcesses processes_;
  using Place = std::pair<uint64_t, size_t>;  // ticks, cursor
  std::priority_queue<Place, std::vector<Place>, std::greater<>> queue_;
};

}  // namespace tracewell::formats
