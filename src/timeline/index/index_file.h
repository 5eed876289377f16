// The file of an index, FILE.tidx beside the trace: a header that says of which trace it is, then
// segments, then the directory of these. All numbers are little-endian. It can be deleted at will.
//
//   header: 8 bytes magic · u64 size of the trace · i64 its time of change, ns · u64 hash of its
//   first kProbe bytes · u64 hash of the last kProbe bytes covered · u64 device, u64 inode of its
//   file · i64 when that was made, ns, 0 = not known · u64 inode of the index's own file · i64 when
//   that was made · u64 offset, u64 size of the directory · u64 hash of all this and the directory
//   directory, all of it varints: segments · for each: steps, sessions since the one before, offset
//   as a signed distance from behind that one, sizes of its parts (segment.h), which stand one
//   behind the other, and their sums (sums.h) behind them · parts that are left out (a bit each;
//   they have no bytes) · Segment::loss_end · Segment::opened · size of its seams, and if there
//   are any offset, hash of these · size of its call marks, and if there are any their offset;
//   their sums stand behind them · offset, size, hash of the notes of who reads it
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/files/file.h"
#include "base/result.h"
#include "timeline/index/segment.h"

namespace tracewell::timeline {

/// By what a trace is known again.
struct TraceIdentity {
  static constexpr size_t kProbe = 4096;

  uint64_t size_bytes = 0;
  int64_t changed_ns = 0;
  uint64_t head_hash = 0, tail_hash = 0;
  uint64_t device = 0, inode = 0;  // not of the bytes: those of a copy are the same trace
  int64_t born_ns = 0;
  /// Of the file that says so. Who wrote what is in a file need not be whose it is, who may have
  /// made a copy; but nobody writes down what a copy will be.
  uint64_t own_inode = 0;
  int64_t own_born_ns = 0;

  static TraceIdentity of(Bytes trace, int64_t changed_ns, const FileFacts& file = {});
  bool operator==(const TraceIdentity& other) const {
    return size_bytes == other.size_bytes && changed_ns == other.changed_ns &&
           head_hash == other.head_hash && tail_hash == other.tail_hash;
  }
  /// Is it also the very file, and does an index say so that was written as `own`?
  bool is_of(const FileFacts& file, const FileFacts& own) const {
    return device == file.device && inode == file.inode && born_ns == file.born_ns &&
           own_inode == own.inode && own_born_ns == own.born_ns;
  }
  /// Is `trace` what this was, with more behind it? (Not when nothing has been added.)
  bool begins(Bytes trace) const;
};

/// A whole index, read in place.
struct Index {
  std::shared_ptr<const void> owner;  // of the bytes
  Bytes bytes;
  TraceIdentity trace;
  std::vector<Segment> segments;  // by first step, without gaps
  Bytes notes;  // of who reads the trace: what it need not look for again
  /// Somebody has asked for what was left out (Segment::left_out).
  std::shared_ptr<std::atomic<bool>> wanted = std::make_shared<std::atomic<bool>>(false);
  /// Somebody came across bytes that do not agree with their sums.
  std::shared_ptr<std::atomic<bool>> damaged = std::make_shared<std::atomic<bool>>(false);

  uint64_t steps() const { return segments.empty() ? 0 : segments.back().end(); }
};

/// The trace that an index says it is of; nullopt = no index of ours. Nothing else is looked at.
std::optional<TraceIdentity> read_index_identity(Bytes bytes);

/// nullopt = no index of ours, or damaged where it was looked at. What the parts of a segment hold
/// is looked at by who asks for it.
std::optional<Index> read_index(Bytes bytes, std::shared_ptr<const void> owner);

/// Where a segment was put.
struct SegmentPlace {
  uint64_t first = 0, count = 0, session = 0, offset = 0;
  std::array<uint64_t, kParts> sizes = {};
  uint8_t left_out = 0;  // parts, as in Segment
  uint64_t loss_end = 0;
  bool opened = false;
  uint64_t seams_offset = 0, seams_bytes = 0, seams_hash = 0;
  uint64_t marks_offset = 0, marks_bytes = 0;
};
/// Of seams and notes.
uint64_t index_hash(Bytes bytes);
constexpr size_t kIndexHeaderBytes = 104;
/// The directory, and the header that goes with it.
std::vector<uint8_t> make_directory(const std::vector<SegmentPlace>& places, uint64_t notes_offset,
                                    Bytes notes);
std::vector<uint8_t> make_header(const TraceIdentity& trace, uint64_t offset, Bytes directory);

}  // namespace tracewell::timeline
