// What QTDP, QTDPsrc, QTEnable and QTDisable do to the engine's tracepoints.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "agent/engine/engine.h"
#include "agent/engine/experiment_bounds.h"

namespace tracewell::agent {

namespace {

Error unknown_tracepoint(uint32_t number, uint64_t address) {
  return {Errc::NotFound, fmt::format("there is no tracepoint {} at 0x{:x}", number, address), {}};
}

Status check_definition(const TracepointDef& definition) {
  // A frame's header has 16 bits for the number, signed, and 0 ends the stream of frames.
  if (definition.number == 0 || definition.number > std::numeric_limits<int16_t>::max())
    return {Errc::Unsupported,
            fmt::format("tracepoint {}: trace frames can name 1 to 32767 only", definition.number)};
  return {};
}

/// What it takes of our memory, roughly.
uint64_t definition_bytes(const TracepointDef& one) {
  uint64_t bytes = sizeof one + one.condition.size();
  for (const std::string& text : one.actions) bytes += sizeof text + text.size();
  for (const std::string& text : one.step_actions) bytes += sizeof text + text.size();
  for (const auto& source : one.sources)
    bytes += sizeof source + source.type.size() + source.text.size();
  return bytes;
}

/// Is it the same experiment, so that counting goes on? GDB sends its definitions again when a
/// shared library is loaded during a run.
bool same_collection(const TracepointDef& a, const TracepointDef& b) {
  return a.step_count == b.step_count && a.pass_count == b.pass_count &&
         a.condition == b.condition && a.actions == b.actions && a.step_actions == b.step_actions;
}

}  // namespace

/// Their indices.
std::ranges::iota_view<size_t, size_t> Engine::definitions_at(uint64_t address) const {
  const auto here = std::ranges::equal_range(definitions_, address, {}, &TracepointDef::address);
  const auto begin = static_cast<size_t>(here.begin() - definitions_.begin());
  return {begin, begin + here.size()};
}

std::optional<size_t> Engine::find(uint32_t number, uint64_t address) const {
  for (const size_t i : definitions_at(address))
    if (definitions_[i].number == number) return i;
  return std::nullopt;
}

bool Engine::opened(uint32_t number, uint64_t address) const {
  return open_ && open_->definition.number == number && open_->definition.address == address;
}

Status Engine::define(rsp::QtdpDefinition packet) {
  TW_RETURN_IF_ERROR(settle());
  TW_RETURN_IF_ERROR(check_definition(packet.definition));
  TW_RETURN_IF_ERROR(room_for(definition_bytes(packet.definition)));
  if (definitions_.size() >= ExperimentBounds::kTracepoints &&
      !find(packet.definition.number, packet.definition.address))
    return {Errc::Limit,
            fmt::format("tracepoint {}: there are {} locations of tracepoints already, and no more "
                        "are kept",
                        packet.definition.number, ExperimentBounds::kTracepoints)};
  if (packet.definition.fast_length && target_.trace_sites()->fast() == nullptr)
    return {Errc::Unsupported, fmt::format("tracepoint {}: there are no fast tracepoints here",
                                           packet.definition.number)};
  TW_ASSIGN_OR_RETURN(CollectPlan plan, plan_condition(packet.definition));
  for (uint32_t number : plan.variables) variables_.mention(number);
  Opened tracepoint{std::move(packet.definition), std::move(plan)};
  if (!running_ || !packet.more) return put(std::move(tracepoint));
  kept_bytes_ += definition_bytes(tracepoint.definition);
  open_ = std::move(tracepoint);
  return {};
}

Status Engine::room_for(uint64_t bytes) const {
  if (kept_bytes_ + bytes <= ExperimentBounds::kDefinitionBytes) return {};
  return {Errc::Limit, fmt::format("what tracepoints are and do is kept up to {} MiB, all together",
                                   ExperimentBounds::kDefinitionBytes >> 20)};
}

Status Engine::add_actions(const rsp::QtdpActions& packet) {
  const bool to_open = opened(packet.number, packet.address);
  const auto index = to_open ? std::optional<size_t>(0) : find(packet.number, packet.address);
  if (!index) return unknown_tracepoint(packet.number, packet.address);
  TracepointDef& definition = to_open ? open_->definition : definitions_[*index];
  CollectPlan& plan = to_open ? open_->plan : points_[*index].plan;
  const bool was_fast =
      running_ && !to_open && fast_ && fast_->has(packet.number, packet.address);
  if (was_fast) withdraw(packet.number, packet.address);
  if (Status status = append_actions(packet, definition, plan); !status) {
    forget(packet.number, packet.address);
    return status;
  }
  if (running_ && !to_open) {
    if (was_fast) TW_RETURN_IF_ERROR(insert_site(packet.address));
    fit_masks(plan);
    publish_soon();
  }
  return to_open && !packet.more ? settle() : Status();
}

Status Engine::append_actions(const rsp::QtdpActions& packet, TracepointDef& definition,
                              CollectPlan& plan) {
  // Once the stepping actions have begun, all that follow are stepping actions too.
  const bool stepping = packet.stepping_start || !definition.step_actions.empty();
  uint64_t bytes = 0;
  for (const std::string& text : packet.actions) bytes += sizeof text + text.size();
  TW_RETURN_IF_ERROR(room_for(bytes));
  TW_RETURN_IF_ERROR(plan_actions(definition, packet.actions, stepping, plan));
  auto& texts = stepping ? definition.step_actions : definition.actions;
  texts.insert(texts.end(), packet.actions.begin(), packet.actions.end());
  kept_bytes_ += bytes;
  for (uint32_t number : plan.variables) variables_.mention(number);
  plan.variables.clear();
  return {};
}

Status Engine::add_source(const rsp::SourcePiece& piece) {
  if (opened(piece.number, piece.address)) TW_RETURN_IF_ERROR(settle());
  const auto index = find(piece.number, piece.address);
  if (!index) return unknown_tracepoint(piece.number, piece.address);
  const uint64_t bytes = sizeof(TracepointDef::Source) + piece.type.size() + piece.text.size();
  TW_RETURN_IF_ERROR(room_for(bytes));
  TW_RETURN_IF_ERROR(rsp::append_source(definitions_[*index].sources, piece));
  kept_bytes_ += piece.start == 0 ? bytes : piece.text.size();
  if (running_) publish_soon();
  return {};
}

Status Engine::enable(uint32_t number, uint64_t address, bool enabled) {
  if (opened(number, address)) TW_RETURN_IF_ERROR(settle());
  const auto index = find(number, address);
  if (!index) return unknown_tracepoint(number, address);
  if (running_ && !enabled && fast_ && fast_->has(number, address)) {
    withdraw(number, address);
    TW_RETURN_IF_ERROR(insert_site(address));
    points_[*index].way = HitWay::trap(target::because(target::TrapReason::Disabled));
  }
  definitions_[*index].enabled = enabled;
  if (running_) publish_soon();
  return {};
}

// A series that announced actions may bring none (its commands were comments): whatever comes next
// ends it.
Status Engine::settle() {
  if (!open_) return {};
  Opened tracepoint = std::move(*open_);
  open_.reset();
  kept_bytes_ -= definition_bytes(tracepoint.definition);
  return put(std::move(tracepoint));
}

Status Engine::put(Opened tracepoint) {
  const uint32_t number = tracepoint.definition.number;
  const uint64_t address = tracepoint.definition.address;
  if (running_) {
    Status status = look_at_marker(tracepoint.definition, tracepoint.plan);
    if (status) status = insert_while_running(tracepoint);
    if (!status) {
      drop(number, address);
      return std::move(status).error().within(name_of(tracepoint.definition));
    }
    want_probe(tracepoint.plan, true);
    fit_masks(tracepoint.plan);
  }
  enter(std::move(tracepoint));
  if (running_) publish_soon();
  return {};
}

/// One that is there already as it is to be stays fast: a debugger sends all again when a library
/// is loaded.
Status Engine::insert_while_running(Opened& tracepoint) {
  const TracepointDef& definition = tracepoint.definition;
  const uint32_t number = definition.number;
  const uint64_t address = definition.address;
  const auto old = find(number, address);
  if (!old) remark_int3(definition);
  if (fast_ && fast_->has(number, address)) {
    if (old && same_collection(definitions_[*old], definition)) {
      tracepoint.way = points_[*old].way;
      return {};
    }
    withdraw(number, address);
  }
  const auto here = std::ranges::equal_range(definitions_, address, {}, &TracepointDef::address);
  const bool alone = std::ranges::size(here) == (old ? 1 : 0);
  tracepoint.way = put_fast(definition, tracepoint.plan, alone);
  if (tracepoint.way.kind == HitWay::Kind::Pad) return {};
  for (const TracepointDef& other : here) {
    if (!fast_ || other.number == number) continue;
    withdraw(other.number, address);
    points_[static_cast<size_t>(&other - definitions_.data())].way = tracepoint.way;
  }
  return insert_site(address);
}

void Engine::enter(Opened tracepoint) {
  const uint64_t address = tracepoint.definition.address;
  kept_bytes_ += definition_bytes(tracepoint.definition);
  if (const auto index = find(tracepoint.definition.number, address)) {
    Point& point = points_[*index];
    if (running_) want_probe(point.plan, false);
    if (!running_ || !same_collection(definitions_[*index], tracepoint.definition)) point = {};
    point.plan = std::move(tracepoint.plan);
    point.way = std::move(tracepoint.way);
    kept_bytes_ -= definition_bytes(definitions_[*index]);
    definitions_[*index] = std::move(tracepoint.definition);
    return;
  }
  const auto at = std::ranges::upper_bound(definitions_, address, {}, &TracepointDef::address);
  points_.insert(points_.begin() + (at - definitions_.begin()),
                 {std::move(tracepoint.plan), std::move(tracepoint.way)});
  definitions_.insert(at, std::move(tracepoint.definition));
}

void Engine::forget(uint32_t number, uint64_t address) {
  if (opened(number, address) || find(number, address)) drop(number, address);
}

/// It is no pad any more. Threads hit it until then: all that they have left is taken now, for it
/// belongs to what the tracepoint was.
void Engine::withdraw(uint32_t number, uint64_t address) {
  if (!fast_->has(number, address)) return;
  fast_->remove(number, address);
  take_fast(FastTrace::Share::All);
}

/// Also what has got no further than its site.
void Engine::drop(uint32_t number, uint64_t address) {
  if (opened(number, address)) {
    kept_bytes_ -= definition_bytes(open_->definition);
    open_.reset();
  }
  if (const auto index = find(number, address)) {
    kept_bytes_ -= definition_bytes(definitions_[*index]);
    if (running_ && fast_) withdraw(number, address);
    if (running_) want_probe(points_[*index].plan, false);
    definitions_.erase(definitions_.begin() + static_cast<ptrdiff_t>(*index));
    points_.erase(points_.begin() + static_cast<ptrdiff_t>(*index));
  }
  const bool others =
      std::ranges::binary_search(definitions_, address, {}, &TracepointDef::address);
  if (running_ && !others) remove_site(address);
  if (running_) publish_soon();
}

}  // namespace tracewell::agent
