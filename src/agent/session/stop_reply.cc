// Stop replies (manual, "Stop Reply Packets"). Those that stop a thread carry the registers that
// GDB wants first, so that it need not ask: frame pointer, stack pointer, pc.
#include <fmt/format.h>

#include "agent/session/frame_view.h"
#include "agent/session/session.h"
#include "base/text/hex.h"
#include "base/text/text.h"
#include "rsp/signals.h"
#include "target/thread_snapshot.h"

namespace tracewell::agent {
namespace {

using target::StopEvent;
using Kind = StopEvent::Kind;

constexpr int kLinuxSigtrap = 5;

int stop_signal(const StopEvent& event) {
  switch (event.kind) {
    // 0: nothing happened, the program was stopped for a debugger that has just come.
    case Kind::Signal: return event.signal == 0 ? 0 : rsp::gdb_signal_from_linux(event.signal);
    case Kind::Interrupted: return 2;  // as if by SIGINT
    default: return kLinuxSigtrap;     // the protocol's number is the same
  }
}

/// What the client may be told about why, `name:value;` or empty.
std::string reason(const StopEvent& event, const Session& session) {
  switch (event.kind) {
    case Kind::Breakpoint: return session.client.swbreak ? "swbreak:;" : "";
    case Kind::Hardware: return session.client.hwbreak ? "hwbreak:;" : "";
    case Kind::Watchpoint: return fmt::format("watch:{:x};", event.address);
    case Kind::Fork:
    case Kind::Vfork:
      return fmt::format("{}:{};", event.kind == Kind::Fork ? "fork" : "vfork",
                         session.thread_name(event.child_pid, event.child_pid));
    case Kind::VforkDone: return "vforkdone:;";
    // The debugger prints it. A path that it must not print is none that it opens, either. LLDB
    // asks for no such events, and knows them by this reason; others see a SIGTRAP, as gdbserver
    // has it. What they want next would else reach a program that they do not know.
    case Kind::Exec:
      return session.client.exec_events
                 ? "exec:" + to_hex(as_bytes(printable(event.path))) + ";"
                 : "reason:exec;";
    case Kind::SystemCallEntry: return fmt::format("syscall_entry:{:x};", event.system_call);
    case Kind::SystemCallReturn: return fmt::format("syscall_return:{:x};", event.system_call);
    case Kind::ThreadCreated: return "create:;";
    case Kind::HistoryBegin: return "replaylog:begin;";
    case Kind::HistoryEnd: return "replaylog:end;";
    default: return "";
  }
}

std::string expedited_registers(Session& session, const StopEvent& event, bool all) {
  const RegisterLayout& layout = session.target.layout(event.pid);
  const auto state = target::ThreadSnapshot(session.target, event.pid, event.tid).registers();
  if (!state) return "";
  const Register* frame = layout.find("rbp");
  std::vector<const Register*> wanted = {
      frame ? frame : layout.find("ebp"),
      layout.sp_index ? &layout.registers[*layout.sp_index] : nullptr,
      layout.pc(),
  };
  if (all) {
    wanted.clear();
    for (const Register& reg : layout.registers) wanted.push_back(&reg);
  }
  std::string out;
  for (const Register* reg : wanted)
    if (reg && state->is_valid(static_cast<uint32_t>(reg - layout.registers.data())))
      out += fmt::format("{:02x}:{};", reg->number,
                         to_hex(Bytes(state->block).subspan(reg->offset, reg->size_bytes)));
  return out;
}

std::string gone(const Session& session, char letter, int number, target::Pid pid) {
  std::string out = fmt::format("{}{:02x}", letter, number & 0xff);
  if (session.client.multiprocess) out += fmt::format(";process:{:x}", pid);
  return out;
}

}  // namespace

std::string Session::stop_reply(const StopEvent& event, bool all_registers) {
  switch (event.kind) {
    case Kind::Exited: return gone(*this, 'W', event.exit_code, event.pid);
    case Kind::Signalled:
      return gone(*this, 'X', rsp::gdb_signal_from_linux(event.signal), event.pid);
    case Kind::ThreadExited:
      return fmt::format("w{:02x};{}", event.exit_code & 0xff, thread_name(event.pid, event.tid));
    case Kind::NoneLeft: return client.no_resumed ? "N" : "E.nothing is left to wait for";
    default: break;
  }
  if (disabled("Tstop")) return fmt::format("S{:02x}", stop_signal(event));
  std::string out = fmt::format("T{:02x}", stop_signal(event)) + reason(event, *this);
  const target::ThreadInfo* found = find_thread({event.pid, event.tid});
  if (!found) return out;
  out += expedited_registers(*this, event, all_registers);
  if (disabled("Tthread")) return out;
  out += "thread:" + thread_name(event.pid, event.tid) + ";";
  target::ThreadInfo thread = *found;
  target.describe(thread);
  if (thread.core >= 0) out += fmt::format("core:{:x};", thread.core);
  return out;
}

}  // namespace tracewell::agent
