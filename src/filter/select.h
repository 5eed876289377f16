// Source -> Source: a part of the events.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "filter/expression.h"
#include "model/stream.h"
#include "model/work.h"

namespace tracewell::filter {

struct Selection {
  uint64_t from = 0;         // first event number
  uint64_t to = UINT64_MAX;  // last one, inclusive
  std::optional<Expression> where;
  /// Say by a Lost where steps were dropped between two of one thread that stay: the second one
  /// does not go on from the first.
  bool tells_gaps = false;
  /// How many of these there are, told or not; nullptr = nobody asks.
  std::shared_ptr<uint64_t> gaps = nullptr;
  /// Called when there are more threads than registers are kept of. Those of all threads are then
  /// not known until steps tell them again, and the steps that stay begin another session.
  std::function<void()> forgets = nullptr;
  /// Asked whether to go on for each event that `where` is asked of; the stream ends with an error.
  Work work = {};

  bool everything() const { return from == 0 && to == UINT64_MAX && !where; }
};

/// Events keep their numbers. A step that stays tells in `before` what dropped steps of its thread
/// told, and in `gap_before` that steps in front of it were dropped, where no Lost says so. What
/// people noted at steps that stay, stays; so does, in front of such steps, the mark of the session
/// that they are of. What was lost is told in front of the next event that stays, with its number,
/// and behind the last one. A change that says who a process is stays, as one in which nothing
/// happened where it is no answer; what it says of threads, their events say themselves. A seekable
/// source is not read outside of from..to.
std::unique_ptr<Source> select(std::unique_ptr<Source> source, Selection selection);

}  // namespace tracewell::filter
