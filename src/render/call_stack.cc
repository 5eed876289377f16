#include "render/call_stack.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tracewell::render {
namespace {

using Json = nlohmann::ordered_json;
using timeline::CallStackAt;
using timeline::StackFrame;

std::string loss_line(uint64_t step) {
  return fmt::format("  ..  something is lost before step {}: what was called and left then is not "
                     "known\n",
                     step);
}

std::string whose(const CallStackAt& stack) {
  return stack.tid == 0 ? "" : fmt::format(" of thread {}", stack.tid);
}

}  // namespace

std::string stack_text(const CallStackAt& stack, const StepWords& words) {
  if (!stack.begin)
    return fmt::format("  no step{} is before this one: its calls are not known\n", whose(stack));
  std::string out;
  if (stack.in_flight)
    out += "  ..  the last instruction is a call or a return, and where it led is not known\n";
  for (const StackFrame& one : stack.frames) {
    if (one.lost) out += loss_line(*one.lost);
    out += fmt::format("  #{}  {:#x}{}  called at step {} from {:#x}{}, back to {:#x}{}  {}\n",
                       stack.depth - 1 - one.depth, one.function, words.code(one.function),
                       one.call, one.call_pc, words.code(one.call_pc), one.back,
                       words.code(one.back),
                       one.sp ? fmt::format("sp {:#x}", *one.sp) : "sp not known");
  }
  if (const uint64_t more = stack.depth - stack.frames.size(); more != 0)
    return out + fmt::format("  ..  {} more, the outer ones; --frames N shows so many\n", more);
  if (stack.lost) out += loss_line(*stack.lost);
  out += fmt::format("  ..  what was called before step {}, the first{}, is not known\n",
                     *stack.begin, whose(stack));
  return out;
}

Json stack_json(const CallStackAt& stack, const StepWords& words) {
  Json frames = Json::array();
  const auto place = [&](Json& of, const char* key, uint64_t address) {
    of[key] = fmt::format("{:#x}", address);
    if (std::string name = words.code_name(address); !name.empty()) of["name"] = std::move(name);
  };
  for (const StackFrame& one : stack.frames) {
    Json frame = {{"depth", one.depth}, {"first", one.first}};
    place(frame, "function", one.function);
    frame["back"] = fmt::format("{:#x}", one.back);
    Json call = {{"step", one.call}};
    place(call, "pc", one.call_pc);
    frame["call"] = std::move(call);
    frame["sp"] = one.sp ? Json(fmt::format("{:#x}", *one.sp)) : Json();
    if (one.lost) frame["lost"] = *one.lost;
    frames.push_back(std::move(frame));
  }
  Json out = {{"depth", stack.depth}, {"frames", std::move(frames)}};
  out["begin"] = stack.begin ? Json(*stack.begin) : Json();
  out["in_flight"] = stack.in_flight;
  if (stack.lost) out["lost"] = *stack.lost;
  return out;
}

}  // namespace tracewell::render
