// What a FastTrace tells of hits, and to whom.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "agent/engine/collector.h"
#include "base/bytes.h"
#include "fast/unchanged_pages.h"

namespace tracewell::agent {

/// The place of hits. Whoever takes them remembers there what it has found out about it.
struct FastPlace {
  uint32_t number = 0;  // of the tracepoint
  uint64_t address = 0;
  size_t index = 0;
  std::optional<uint32_t> shape;  // of this generation
  uint64_t generation = 0;
};

struct FastHit {
  int64_t tid = 0;
  int64_t time_ns = 0;
  Bytes data;  // a frame's blocks
  CollectFault fault;
  bool condition = false;  // it is the condition that failed: there is no frame
};

/// A hit whose record may be a frame's blocks as it stands.
struct PlainHit {
  FastPlace* place = nullptr;
  int64_t tid = 0;
  int64_t time_ns = 0;
  Bytes unstable;  // may change at any time: to be copied before they are looked at
};

class FastHits {
 public:
  struct Plain {
    enum class Next : uint8_t {
      NotPlain,  // it has to be made into a frame: hit() is called
      Unwanted,  // this one and all others
    };
    size_t kept = 0;  // the first ones: there are frames of them
    Next next = Next::NotPlain;  // of the one behind those, if there is one
  };
  virtual ~FastHits() = default;
  virtual Plain plain(std::span<const PlainHit> hits, fast::UnchangedPages& pages) = 0;
  /// False: no more of them are wanted.
  virtual bool hit(FastPlace& place, const FastHit& hit) = 0;
};

}  // namespace tracewell::agent
