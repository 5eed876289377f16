// Static tracepoints: those at markers, which say where arguments are, and who are told that
// somebody wants them.
#include <algorithm>

#include <fmt/format.h>

#include "agent/engine/engine.h"

namespace tracewell::agent {
namespace {

Status take_marker(const std::vector<Marker>& markers, const RegisterLayout& layout,
                   const TracepointDef& definition, CollectPlan& plan) {
  const auto at = std::ranges::lower_bound(markers, definition.address, {}, &Marker::address);
  if (at == markers.end() || at->address != definition.address)
    return {Errc::NotFound, fmt::format("tracepoint {}: there is no static tracepoint marker at "
                                        "0x{:x}",
                                        definition.number, definition.address)};
  plan.marker = MarkerData(*at, layout);
  plan.semaphore = at->semaphore;
  return {};
}

}  // namespace

Status Engine::look_at_markers() {
  if (std::ranges::none_of(definitions_, &TracepointDef::is_static)) return {};
  const std::vector<Marker> all = markers(pid_);
  for (size_t i = 0; i < definitions_.size(); ++i)
    if (definitions_[i].is_static)
      TW_RETURN_IF_ERROR(
          take_marker(all, target_.layout(pid_), definitions_[i], points_[i].plan));
  return {};
}

Status Engine::look_at_marker(const TracepointDef& definition, CollectPlan& plan) const {
  if (!definition.is_static) return {};
  return take_marker(find_markers(target_, pid_), target_.layout(pid_), definition, plan);
}

/// A probe with a semaphore prepares its arguments only while somebody wants them.
void Engine::want_probe(const CollectPlan& plan, bool want) {
  if (plan.semaphore == 0) return;
  if (want)
    target_.trace_sites()->raise_count(pid_, plan.semaphore);
  else
    target_.trace_sites()->lower_count(pid_, plan.semaphore);
}

}  // namespace tracewell::agent
