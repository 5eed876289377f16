#include "rsp/vcont.h"

#include "rsp/text.h"

namespace tracewell::rsp {
namespace {

Error bad_vcont(const TextReader& in) {
  return {Errc::InvalidArgument, "bad vCont action", in.offset()};
}

/// The signal of `C` and `S`: two digits, 00 for none.
Status read_signal(TextReader& in, VContAction& action) {
  const auto signal = in.hex();
  if (!signal || *signal > 0xff) return bad_vcont(in);
  action.signal = static_cast<int32_t>(*signal);
  return {};
}

Status read_step_range(TextReader& in, VContAction& action) {
  const auto start = in.hex_until(',');
  if (!start) return bad_vcont(in);
  const auto end = in.hex();
  if (!end) return bad_vcont(in);
  action.start = *start;
  action.end = *end;
  return {};
}

Result<VContAction> read_vcont_action(TextReader& in) {
  VContAction action;
  if (in.skip('c')) {
    action.kind = VContAction::Kind::Continue;
  } else if (in.skip('C')) {
    action.kind = VContAction::Kind::Continue;
    TW_RETURN_IF_ERROR(read_signal(in, action));
  } else if (in.skip('s')) {
    action.kind = VContAction::Kind::Step;
  } else if (in.skip('S')) {
    action.kind = VContAction::Kind::Step;
    TW_RETURN_IF_ERROR(read_signal(in, action));
  } else if (in.skip('t')) {
    action.kind = VContAction::Kind::Stop;
  } else if (in.skip('r')) {
    action.kind = VContAction::Kind::RangeStep;
    TW_RETURN_IF_ERROR(read_step_range(in, action));
  } else {
    return bad_vcont(in);
  }
  if (in.skip(':')) {
    TW_ASSIGN_OR_RETURN(action.thread, read_thread_id(in));
  }
  return action;
}

}  // namespace

Result<std::vector<VContAction>> parse_vcont(std::string_view body) {
  TextReader in(body);
  in.skip(';');
  std::vector<VContAction> actions;
  do {
    TW_ASSIGN_OR_RETURN(VContAction action, read_vcont_action(in));
    actions.push_back(action);
  } while (in.skip(';'));
  if (!in.done()) return bad_vcont(in);
  return actions;
}

}  // namespace tracewell::rsp
