// The kinds of find(), a file each.
#pragma once

#include <functional>
#include <utility>

#include "model/work.h"
#include "timeline/step_walk.h"
#include "trace/questions/found.h"
#include "trace/step_reader.h"
#include "trace/step_trace.h"

namespace tracewell::trace {

/// One question while it is answered.
struct Finding {
  const StepTrace& trace;
  const FindQuestion& question;
  const std::function<bool(const Hit&)>& visit;
  const Work& work;
  StepReader reader;

  bool hand_over(const Event& event, FoundAtStep found) const {
    return visit(StepHit{step_at(event), std::move(found)});
  }
};

/// Steps of the wanted range in the wanted direction, one by one, until `visit` says false.
Status each_step(const FindQuestion& question, const Work& work,
                 timeline::StepWalk::Question answers,
                 const std::function<Result<bool>(uint64_t)>& visit);

Status find_executions(Finding& finding);
Status find_accesses(Finding& finding);
Status find_register_changes(Finding& finding);
Status find_memory_bytes(Finding& finding);
Status find_values(Finding& finding);

}  // namespace tracewell::trace
