#include "trace/questions/calls.h"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trace/step_reader.h"

namespace tracewell::trace {
namespace {

bool is_wanted(const timeline::Call& call, const CallsQuestion& question) {
  return call.first >= question.from && call.first <= question.to &&
         call.depth <= question.depth && (!question.thread || call.tid == *question.thread);
}

/// "of thread 7 and at depth 0 and …"
std::string calls_asked_for(const CallsQuestion& question) {
  std::vector<std::string> parts;
  if (question.thread) parts.push_back(fmt::format("of thread {}", *question.thread));
  if (question.depth != UINT64_MAX) parts.push_back(fmt::format("at depth {}", question.depth));
  if (question.from != 0) parts.push_back(fmt::format("at step {} or behind it", question.from));
  if (question.to != UINT64_MAX)
    parts.push_back(fmt::format("at step {} or before it", question.to));
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : " and ") + part;
  return out;
}

}  // namespace

Result<uint64_t> calls(const StepTrace& trace, const CallsQuestion& question,
                       const std::function<bool(const FoundCall&)>& visit, const Work& work) {
  TW_RETURN_IF_ERROR(check_steps(trace, question.from, question.to));
  if (question.thread) TW_RETURN_IF_ERROR(check_thread(trace, *question.thread));
  TW_ASSIGN_OR_RETURN(StepReader reader, trace.reader());
  const std::vector<timeline::Call> all = timeline::call_tree(*trace.timeline, work);
  TW_RETURN_IF_ERROR(work.go_on());
  TW_RETURN_IF_ERROR(trace.answers_hold());
  for (const timeline::Call& call : all) {
    if (!is_wanted(call, question)) continue;
    TW_RETURN_IF_ERROR(work.go_on());
    FoundCall found{call, std::nullopt};
    if (const auto last = trace.timeline->last_step_of(call.tid, call.first)) {
      TW_ASSIGN_OR_RETURN(const Event* const event, reader.step(*last));
      found.caller = step_at(*event);
    }
    if (!visit(found)) break;
  }
  return static_cast<uint64_t>(all.size());
}

std::string no_calls_text(const CallsQuestion& question, uint64_t all) {
  return all == 0 ? "no call whose callee's first step is recorded is in this trace"
                  : fmt::format("none of the calls in this trace ({}) is {}", all,
                                calls_asked_for(question));
}

}  // namespace tracewell::trace
