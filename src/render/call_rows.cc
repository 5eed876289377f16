#include "render/call_rows.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text/text.h"
#include "render/json_document.h"

namespace tracewell::render {
namespace {

using Json = nlohmann::ordered_json;

constexpr uint32_t kIndentedMax = 32;  // levels; a line that is deeper says how deep

Json call_object(const trace::FoundCall& found, const StepWords& words) {
  const timeline::Call& call = found.call;
  Json out = {{"first", call.first},
              {"last", call.end - 1},
              {"tid", thread_number(call.tid)},
              {"function", fmt::format("{:#x}", call.function)},
              {"back", fmt::format("{:#x}", call.back)},
              {"depth", call.depth},
              {"returned", call.returned}};
  if (std::string name = words.code_name(call.function); !name.empty()) out["name"] = name;
  if (found.caller) out["call"] = words.object(*found.caller);
  return out;
}

}  // namespace

std::string call_row(const trace::FoundCall& found, const StepWords& words, bool json) {
  if (json) return json_document(call_object(found, words));
  const timeline::Call& call = found.call;
  std::string text(2 * size_t{std::min(call.depth, kIndentedMax)}, ' ');
  text += fmt::format("{:#x}{}", call.function, words.code(call.function));
  if (call.depth > kIndentedMax) text += fmt::format("  depth {}", call.depth);
  text += fmt::format("  steps {} to {}", call.first, call.end - 1);
  if (!call.returned) text += ", no return";
  if (call.tid != 0) text += fmt::format("  thread {}", call.tid);
  if (found.caller)
    text += fmt::format("  from {:#x}{}  {}", found.caller->pc, words.code(found.caller->pc),
                        words.instruction(found.caller->opcode, found.caller->pc));
  return text;
}

std::string hit_row(const trace::HitCount& count, const StepWords& words, bool blocks, bool json) {
  const std::string name = words.code_name(count.address);
  const std::string instruction =
      count.opcode.empty() ? "" : words.instruction(count.opcode, count.address);
  if (json) {
    Json out = {{"addr", fmt::format("{:#x}", count.address)}, {"count", count.count}};
    if (blocks) {
      out["size"] = count.size_bytes;
      out["instructions"] = count.instructions;
    }
    if (!instruction.empty()) out["disassembly"] = instruction;
    if (!name.empty()) out["name"] = name;
    return json_document(out);
  }
  std::string text = fmt::format("{:>12}  {:#x}", count.count, count.address);
  if (!name.empty()) text += fmt::format(" <{}>", printable(name));
  if (blocks)
    text += fmt::format("  {} instruction{}, {} byte{}", count.instructions,
                        count.instructions == 1 ? "" : "s", count.size_bytes,
                        count.size_bytes == 1 ? "" : "s");
  if (!instruction.empty()) text += "  " + instruction;
  return text;
}

}  // namespace tracewell::render
