// The trailer: what GDB's trace file cannot hold, behind the zero tracepoint number that ends the
// frames, where GDB no longer reads. Layout: docs/formats/tfile.md, "The trailer".
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "formats/steps/one_process.h"
#include "model/catalog.h"
#include "model/event.h"

namespace tracewell::formats {

/// Read: borrows from the file. All numbers are little endian, whatever the trace's order.
class TfileTrailer {
 public:
  struct Frame {
    std::optional<int64_t> time_ns;
    uint64_t tid = 0;
    int32_t cpu = -1;
    Bytes registers_valid;
  };

  /// Looks at the end of `file`. An empty optional = there is none (or not one of this version);
  /// an Error = there is one, but it contradicts itself.
  static Result<std::optional<TfileTrailer>> find(Bytes file);

  /// Where it begins in the file.
  uint64_t offset() const { return offset_; }
  Bytes auxv() const { return auxv_; }
  const std::vector<Module>& modules() const { return modules_; }
  /// Whose all frames are, as a catalog has it: there is one, or none.
  const std::vector<Process>& processes() const { return processes_; }
  /// Of tracepoints that the description tells otherwise, for GDB: a piece a line.
  std::string_view tracepoints() const { return as_text(points_); }

  /// How many frames it describes; 0 = it has no table of frames.
  uint64_t frame_count() const { return frames_.size() / kFrameBytes; }
  /// All unknown for frames past frame_count().
  Frame frame(uint64_t seq) const;
  /// The program counter of frames that hold none; by seq, ascending.
  std::optional<uint64_t> pc(uint64_t seq) const;
  uint64_t thread_count() const;

 private:
  friend class TfileTrailerWriter;
  static constexpr size_t kFrameBytes = 24;
  static constexpr size_t kPcBytes = 16;
  Status read_section(std::string_view tag, Bytes section);
  Status read_modules(Bytes section);
  Status read_process(Bytes section);

  uint64_t offset_ = 0;
  Bytes auxv_, frames_, masks_, pcs_, points_;
  uint32_t mask_bytes_ = 0;
  std::vector<Module> modules_;
  std::vector<Process> processes_;
};

/// Collects while frames are written; renders at the end. A trace that has nothing to say here
/// costs nothing and gets no trailer.
class TfileTrailerWriter {
 public:
  static constexpr size_t kMaskBytesMax = 64 << 20;

  /// `description`: what was written of the catalog for GDB.
  void begin(const Catalog& catalog, std::string_view description);
  /// `derived_pc`: what a reader will find without our help. Limit when there are too many
  /// different masks: kMaskBytesMax of them, which are in memory until render().
  Status add(const Event& event, const Frame& frame, std::optional<uint64_t> derived_pc);
  /// A change between frames may say who a process is.
  void learn(const Event& event) { whose_.learn(event); }
  const OneProcess& whose() const { return whose_; }
  /// Empty = no trailer needed.
  std::vector<uint8_t> render() const;

 private:
  Result<uint32_t> mask_index(Bytes mask);
  void append_frame(const TfileTrailer::Frame& frame, uint32_t mask);
  std::vector<uint8_t> process() const;

  std::vector<uint8_t> auxv_, modules_, frames_, masks_, pcs_, points_;
  uint64_t plain_frames_ = 0;  // at the head, all unknown; not yet in frames_
  size_t register_count_ = 0;
  size_t mask_bytes_ = 0;
  std::map<std::string, uint32_t, std::less<>> mask_table_;  // to its number, from 1
  OneProcess whose_;
};

}  // namespace tracewell::formats
