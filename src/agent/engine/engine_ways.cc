// What a run says of its tracepoints: how their hits are collected, and which have no frame.
#include <fmt/format.h>

#include "agent/engine/engine.h"
#include "rsp/status.h"

namespace tracewell::agent {

using target::because;
using target::TrapReason;

/// As they are now: a breakpoint may have come to a pad's place.
std::vector<PointWay> Engine::ways() const {
  std::vector<PointWay> out;
  for (size_t i = 0; i < points_.size(); ++i) {
    const TracepointDef& definition = definitions_[i];
    out.push_back({definition.number, points_[i].way});
    HitWay& way = out.back().way;
    if (way.kind == HitWay::Kind::Pad && fast_ && !fast_->stands(definition.address))
      way = HitWay::trap(because(TrapReason::Breakpoint));
  }
  return out;
}

/// The one text of a status that GDB shows and saves: the user's, and what the server has to say.
/// Who has written notes is shown those, and beside them only what is wrong; GDB's testsuite wants
/// them as they are. GDB opens no trace file with a line of 1000 bytes.
std::string Engine::notes() const {
  constexpr size_t kNumbers = 200;
  std::string out = notes_;
  const size_t others = kNumbers / 2 + user_name_.size() + stop_note_.size() +
                        error_text_.size() + end_text_.size();
  const auto add = [&](const std::string& text) {
    const size_t all = out.size() + text.size() + 2;
    if (text.empty() || 2 * (others + all) > rsp::kStatusLineMax) return !text.empty();
    out += (out.empty() ? "" : "; ") + text;
    return false;
  };
  const bool is_users = !out.empty();
  const std::string handlers = fast_ ? fast_->text_of_handlers() : handlers_;
  const bool left_out = add(text_of(losses())) || add(handlers);
  if (left_out || (!is_users && add(text_of(ways())))) add("monitor tracepoints tells more");
  return out;
}

HitLosses Engine::losses() const {
  HitLosses out = fast_lost_;
  if (fast_) out += fast_->losses();
  return out;
}

std::vector<std::string> Engine::describe_points() const {
  std::vector<std::string> out;
  const std::vector<PointWay> all = ways();
  for (size_t i = 0; i < all.size(); ++i) {
    std::string line = name_of(definitions_[i]) + ": " + text_of(all[i].way);
    line.front() = 'T';  // of "tracepoint"
    out.push_back(std::move(line));
  }
  if (std::string text = text_of(losses()); !text.empty()) {
    text.front() = 'H';  // of "hits"
    out.push_back(std::move(text));
  }
  return out;
}

}  // namespace tracewell::agent
