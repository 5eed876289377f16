// tracewell hits FILE: how often each instruction, or each basic block, was executed.
#include <algorithm>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/command.h"
#include "cli/images.h"
#include "cli/json_document.h"
#include "cli/step_trace.h"
#include "cli/step_words.h"

namespace tracewell::cli {
namespace {

using Json = nlohmann::ordered_json;
using timeline::Timeline;

struct HitsOptions {
  InputOptions input;
  ImageOptions images;
  bool blocks = false;
  bool by_address = false;
  bool json = false;
  uint64_t limit = UINT64_MAX;
};

/// A single instruction is told as a block without a size.
std::vector<Timeline::BlockHits> count(const Timeline& timeline, bool blocks) {
  if (blocks) return timeline.block_hits();
  std::vector<Timeline::BlockHits> out;
  for (const Timeline::Hits& one : timeline.address_hits())
    out.push_back({one.address, 0, 1, one.count, one.last});
  return out;
}

/// The (first) instruction, as it was executed last.
Result<std::string> disassembly_of(StepTrace& trace, const StepWords& words,
                                   const Timeline::BlockHits& one) {
  if (!one.last) return std::string();
  TW_ASSIGN_OR_RETURN(const Event* const event, trace.step(*one.last));
  return words.instruction(std::get<Step>(event->body).opcode, one.address);
}

void print(const Timeline::BlockHits& one, const std::string& name, const std::string& disassembly,
           const HitsOptions& options) {
  if (options.json) {
    Json whole = {{"addr", fmt::format("{:#x}", one.address)}, {"count", one.count}};
    if (options.blocks) {
      whole["size"] = one.size_bytes;
      whole["instructions"] = one.instructions;
    }
    if (!disassembly.empty()) whole["disassembly"] = disassembly;
    if (!name.empty()) whole["name"] = name;
    fmt::print("{}\n", json_document(whole));
    return;
  }
  std::string text = fmt::format("{:>12}  {:#x}", one.count, one.address);
  if (!name.empty()) text += fmt::format(" <{}>", printable(name));
  if (options.blocks)
    text += fmt::format("  {} instruction{}, {} byte{}", one.instructions,
                        one.instructions == 1 ? "" : "s", one.size_bytes,
                        one.size_bytes == 1 ? "" : "s");
  if (!disassembly.empty()) text += "  " + disassembly;
  fmt::print("{}\n", text);
}

Result<int> hits(const HitsOptions& options) {
  if (options.limit == 0) return {Errc::InvalidArgument, "--limit 0 shows nothing"};
  TW_ASSIGN_OR_RETURN(StepTrace trace, open_step_trace(options.input, options.images));
  tell_missing_steps(trace.trace, options.input.path);
  AddressNames names = std::move(trace.names);
  const StepWords words(trace.catalog(), std::move(names));
  std::vector<Timeline::BlockHits> all = count(*trace.timeline, options.blocks);
  if (!options.by_address)
    std::ranges::stable_sort(all, std::greater(), &Timeline::BlockHits::count);
  for (size_t i = 0; i < all.size() && i < options.limit; ++i) {
    TW_ASSIGN_OR_RETURN(const std::string disassembly, disassembly_of(trace, words, all[i]));
    print(all[i], words.code_name(all[i].address), disassembly, options);
  }
  TW_RETURN_IF_ERROR(trace.answers_hold());
  return all.empty() ? nothing("the trace has no steps") : static_cast<int>(kOk);
}

}  // namespace

Run hits_command(CLI::App& app) {
  auto options = std::make_shared<HitsOptions>();
  add_input_options(app, options->input);
  app.add_flag("--blocks", options->blocks,
               "basic blocks: instructions that were always executed one behind the other");
  app.add_flag("--by-address", options->by_address, "by address, not by how often");
  add_number_option(app, "--limit", options->limit, "the first N only");
  add_image_options(app, options->images,
                    "the names of functions and lines, and instructions that are not told");
  app.add_flag("--json", options->json, "for scripts: an object a line");
  app.footer("Exit status: 1 when the trace has no steps.");
  return [options](const Invocation&) {
    const auto status = hits(*options);
    return status.ok() ? *status : fail(status.error());
  };
}

}  // namespace tracewell::cli
