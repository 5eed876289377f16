// What a hit does. Every tracepoint at the place gets its turn, in the order of definition, and
// makes a frame of its own; a reason to stop takes effect when all have had it.
#include <algorithm>

#include "agent/engine/engine.h"

namespace tracewell::agent {

using Next = target::HitHandler::Next;

Next Engine::on_hit(target::HitContext& hit) {
  take_fast(FastTrace::Share::Some);  // what happened before
  end_if_due();
  if (!running_) return Next::Continue;
  if (unpublished_) publish();
  if (!whose_.fits(hit.pid())) publish();
  now_ns_ = clock_();
  for (const size_t i : definitions_at(hit.pc())) hit_point(i, hit);
  end_if_due();
  return stepping(hit.tid()) ? Next::Step : Next::Continue;
}

void Engine::hit_point(size_t index, target::HitContext& hit) {
  const TracepointDef& definition = definitions_[index];
  Point& point = points_[index];
  if (!definition.enabled) return;
  if (!point.plan.condition.empty()) {
    const auto verdict = collector_.evaluate(hit, point.plan.condition, now_ns_);
    if (!verdict.fault.ok()) note_fault(index, verdict.fault);
    if (!verdict.fault.ok() || !verdict.holds) return;
  }
  ++point.hits;
  if (definition.step_count == 0) note_pass_count(index);
  collect(index, point.plan.actions, point.plan.mask, hit);
  if (definition.step_count > 0 && !ending())
    jobs_.push_back({hit.tid(), definition.number, definition.address, definition.step_count});
}

// One frame for each job of the thread, the newest first. Steps do not count as hits; the pass
// count is looked at when the last of them is done.
Next Engine::on_step(target::HitContext& hit) {
  if (!running_) return Next::Continue;
  now_ns_ = clock_();
  for (size_t i = jobs_.size(); i-- > 0;)
    if (jobs_[i].tid == hit.tid()) step_job(jobs_[i], hit);
  std::erase_if(jobs_, [](const Job& job) { return job.left == 0; });
  end_if_due();
  return stepping(hit.tid()) ? Next::Step : Next::Continue;
}

// There will be no more steps. What that means for the run takes effect with the next event: this
// is no moment to touch the program.
void Engine::on_end(target::Tid tid) {
  for (const Job& job : jobs_)
    if (const auto index = job.tid == tid ? find(job.number, job.address) : std::nullopt)
      note_pass_count(*index);
  std::erase_if(jobs_, [&](const Job& job) { return job.tid == tid; });
}

void Engine::step_job(Job& job, target::HitContext& hit) {
  const auto index = find(job.number, job.address);
  if (!index) {  // it was replaced by something that could not be inserted
    job.left = 0;
    return;
  }
  const CollectPlan& plan = points_[*index].plan;
  collect(*index, plan.step_actions, plan.step_mask, hit);
  if (--job.left == 0) note_pass_count(*index);
}

void Engine::collect(size_t index, const std::vector<rsp::Action>& actions,
                     const RegisterMask& mask, target::HitContext& hit) {
  FrameRecord record;
  record.tracepoint = static_cast<int16_t>(definitions_[index].number);
  record.pc = hit.pc();
  record.is_step = &actions == &points_[index].plan.step_actions;
  record.tid = static_cast<int32_t>(hit.tid());
  record.time_ns = now_ns_;
  mask.mark(record);
  // Where a marker's arguments are is known at the marker alone.
  const CollectPlan& plan = points_[index].plan;
  const bool at_marker = definitions_[index].is_static && &actions == &plan.actions;
  const auto collected =
      collector_.collect(hit, actions, record, at_marker ? &plan.marker : nullptr);
  points_[index].bytes += collected.bytes;
  if (!collected.fits) note_full(index);
  if (!collected.fault.ok()) note_fault(index, collected.fault);
}

// A file system without room ends the run as a full buffer does, but nobody would guess why: it is
// told as an error.
void Engine::note_full(size_t index) {
  const std::string refusal = buffer_.refusal();
  if (refusal.empty()) {
    full_ = true;
  } else if (!failed_) {
    failed_ = definitions_[index].number;
    error_text_ = refusal;
    tell(refusal);
  }
}

void Engine::note_pass_count(size_t index) {
  const TracepointDef& definition = definitions_[index];
  if (definition.pass_count > 0 && points_[index].hits >= definition.pass_count && !passed_)
    passed_ = definition.number;
}

void Engine::note_fault(size_t index, const CollectFault& fault) {
  if (failed_) return;
  failed_ = definitions_[index].number;
  error_text_ = fault.text();
}

void Engine::end_if_due() {
  using Stop = RunStatus::Stop;
  if (passed_) end_run(Stop::PassCount, *passed_);
  else if (full_) end_run(Stop::BufferFull);
  else if (failed_) end_run(Stop::Failed, *failed_);
  else if (replaced_) end_run(Stop::Unknown);
}

bool Engine::stepping(target::Tid tid) const {
  return std::ranges::find(jobs_, tid, &Job::tid) != jobs_.end();
}

}  // namespace tracewell::agent
