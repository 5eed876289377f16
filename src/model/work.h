// Work: how whoever asks for something that takes long, and the code that does it, speak to each
// other meanwhile.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace tracewell {

/// A part of the work that is under way. It has ended when this is destroyed.
class Stage {
 public:
  virtual ~Stage() = default;
  /// So much of its total is done. Called often, by one thread at a time.
  virtual void at(uint64_t done) = 0;
};

/// Handed into every question and every operation that may take long, and copied by what goes on
/// afterwards. Each function may be empty, and is called by any thread; what it refers to outlives
/// the work and its results. One that has none of them is work that nobody watches.
struct Work {
  /// true: nobody waits for the answer any more. Asked often, so it should be quick; the work then
  /// ends soon, with Errc::Stopped.
  std::function<bool()> stop;
  /// A part begins that people may have to wait for: what it is ("reading", "indexing"), and its
  /// total (bytes, steps, events), if that is known.
  std::function<std::unique_ptr<Stage>(std::string_view what, std::optional<uint64_t> total)>
      begins;
  /// What whoever reads the answer should know beside it: one sentence, without a full stop, safe
  /// to print.
  std::function<void(std::string_view)> notice;
  /// What an index that is built may hold in memory meanwhile, all threads together.
  uint64_t memory_bytes = uint64_t{200} << 20;

  bool is_stopped() const { return stop && stop(); }
  /// Errc::Stopped when nobody waits any more.
  Status go_on() const;
  void tell(std::string_view sentence) const {
    if (notice) notice(sentence);
  }
  /// Never null.
  std::unique_ptr<Stage> stage(std::string_view what, std::optional<uint64_t> total = {}) const;
};

}  // namespace tracewell
