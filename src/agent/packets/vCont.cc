// vCont;<action>[:<thread-id>];…: what each thread shall do. The first action that fits a thread
// counts; a thread that none fits stays as it is. Stopping threads is for non-stop mode.
#include "agent/packets.h"
#include "rsp/signals.h"
#include "rsp/vcont.h"

namespace tracewell::agent {
namespace {

bool fits(const rsp::VContAction& action, const target::ThreadInfo& thread) {
  if (!action.thread) return true;
  const rsp::ThreadId id = *action.thread;
  return (id.pid <= 0 || id.pid == thread.pid) && (id.tid <= 0 || id.tid == thread.tid);
}

target::ResumeAction translate(const rsp::VContAction& action, target::Tid tid, int signal) {
  using From = rsp::VContAction::Kind;
  using To = target::ResumeAction::Kind;
  target::ResumeAction out{.tid = tid, .signal = signal};
  out.kind = action.kind == From::Step        ? To::Step
             : action.kind == From::RangeStep ? To::RangeStep
                                              : To::Continue;
  out.range_start = action.start;
  out.range_end = action.end;
  return out;
}

/// GDB stops one thread of what it finds running, and reads symbols while it believes that to stand
/// still.
bool takes_sample(Session& session, const std::vector<rsp::VContAction>& actions,
                  const std::vector<target::Tid>& stop) {
  const bool names_one = actions.size() == 1 && actions[0].thread && actions[0].thread->tid > 0;
  const auto* const thread = stop.size() == 1 ? session.find_thread({0, stop[0]}) : nullptr;
  session.non_stop.says_signals = false;
  if (names_one && thread && session.non_stop.to_sample.erase(thread->pid) != 0) return true;
  session.non_stop.to_sample.clear();
  return false;
}

}  // namespace

void on_vCont(Session& session, std::string_view body, Reply& reply) {
  auto actions = rsp::parse_vcont(body);
  if (!actions) return reply.error(actions.error());
  std::vector<target::ResumeAction> resume;
  std::vector<target::Tid> stop;
  for (const target::ThreadInfo& thread : session.threads())
    for (const rsp::VContAction& action : *actions) {
      if (!fits(action, thread)) continue;
      auto signal = rsp::linux_signal_from_gdb(action.signal);
      if (!signal) return reply.error(1);
      if (action.kind == rsp::VContAction::Kind::Stop) stop.push_back(thread.tid);
      else if (!thread.running && !session.non_stop.queue.holds(thread))
        resume.push_back(translate(action, thread.tid, *signal));
      break;
    }
  if (!session.non_stop.on) return session.resume(std::move(resume), reply);
  if (!stop.empty()) {
    target::NonStop& control = *session.target.non_stop();
    const bool sample = takes_sample(session, *actions, stop);
    if (auto status = sample ? control.sample(stop[0]) : control.stop(stop); !status)
      return reply.error(status.error());
  }
  if (resume.empty()) return reply.ok();  // all of them do already what they shall, or are gone
  session.resume(std::move(resume), reply);
}

}  // namespace tracewell::agent
