#include "trace/writing/wanted_events.h"

#include <utility>
#include <variant>

namespace tracewell::trace {

WantedEvents::WantedEvents(std::unique_ptr<Source> source, Check check, Why why)
    : source_(std::move(source)),
      check_(std::move(check)),
      why_(std::move(why)),
      modules_(source_->catalog()) {}

Result<bool> WantedEvents::next(Batch& batch) {
  auto more = source_->next(batch);
  for (const Event& event : batch.events()) {
    if (check_) TW_RETURN_IF_ERROR(check_(event));
    const auto* mark = std::get_if<Mark>(&event.body);
    if ((mark == nullptr || !mark->session) && !is_only_known(event)) ++events_;
    if (std::holds_alternative<Frame>(event.body)) ++frames_;
    if (const auto* step = std::get_if<Step>(&event.body); step && !in_module_)
      in_module_ = modules_.find(step->pc).has_value();
  }
  if (!more.ok() || *more) return more;
  if (std::string why = why_(*this); !why.empty()) return {Errc::NotFound, std::move(why)};
  return more;
}

}  // namespace tracewell::trace
