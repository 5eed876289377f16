// Building an index: segments side by side on all cores, each in bounded memory, written as they
// are finished; at the end what only two of them together show.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "model/catalog.h"
#include "model/stream.h"
#include "model/work.h"
#include "timeline/index/index_file.h"

namespace tracewell::timeline {

struct BuildOptions {
  unsigned workers = 0;  // 0 = as many as there are cores
  uint64_t segment_steps = uint64_t{1} << 22;  // at most
  Bytes notes;  // to be kept with the index; Index::notes
  /// Parts of segments are left out where the index would otherwise be larger than a quarter of the
  /// trace (of which there is something to save).
  bool small = false;
  /// A stage "indexing", in steps. work.memory_bytes is of all workers together; what it takes to
  /// write a segment comes on top (512 MiB in all with the default).
  Work work;
};

/// Where the bytes of an index go.
class IndexSink {
 public:
  virtual ~IndexSink() = default;
  virtual Status append(Bytes bytes) = 0;
  /// In the place of the first bytes.
  virtual Status rewrite_head(Bytes bytes) = 0;
  virtual uint64_t size() const = 0;
};

/// Of the steps that there are. `old`: an index of the same trace when it was shorter, of which all
/// segments but the last are taken over.
Status build_index(const StepIndex& steps, const Catalog& catalog, const TraceIdentity& trace,
                   const Index* old, const BuildOptions& options, IndexSink& sink);

}  // namespace tracewell::timeline
