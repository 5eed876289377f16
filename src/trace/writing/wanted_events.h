// Events that are to be written over what may be there already.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "formats/steps/module_map.h"
#include "model/stream.h"

namespace tracewell::trace {

/// Ends with an error, before anything is written over, where nothing has come that is worth it.
class WantedEvents final : public Source {
 public:
  /// Why nothing has come, and what to write then: "" = it is written nevertheless.
  using Why = std::function<std::string(const WantedEvents&)>;
  using Check = std::function<Status(const Event&)>;
  /// `check` is asked of each event, and may be empty.
  WantedEvents(std::unique_ptr<Source> source, Check check, Why why);

  const Catalog& catalog() const override { return source_->catalog(); }
  Result<bool> next(Batch& batch) override;

  uint64_t events() const { return events_; }  // without the marks of sessions
  uint64_t frame_count() const { return frames_; }
  bool any_in_module() const { return in_module_; }

 private:
  std::unique_ptr<Source> source_;
  Check check_;
  Why why_;
  formats::ModuleMap modules_;
  uint64_t events_ = 0, frames_ = 0;
  bool in_module_ = false;
};

}  // namespace tracewell::trace
