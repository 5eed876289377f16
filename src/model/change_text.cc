#include "model/change_text.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "base/text/text.h"
#include "model/catalog.h"
#include "model/process.h"

namespace tracewell {
namespace {

constexpr std::string_view kChangeNames[] = {
    "process-known",   "process-began", "process-ended", "process-runs", "module-loaded",
    "module-unloaded", "thread-began",  "thread-ended",  "thread-named"};

}  // namespace

std::string_view change_name(Change::Kind kind) { return kChangeNames[static_cast<size_t>(kind)]; }

std::optional<Change::Kind> change_kind(std::string_view name) {
  const auto* const at = std::ranges::find(kChangeNames, name);
  if (at == std::end(kChangeNames)) return std::nullopt;
  return static_cast<Change::Kind>(at - std::begin(kChangeNames));
}

std::string change_text(const Event& event, const Change& change, uint32_t pid) {
  using Kind = Change::Kind;
  const auto numbered = [](std::string_view what, uint64_t number) {
    return number == 0 ? fmt::format("a {}", what) : fmt::format("{} {}", what, number);
  };
  const std::string process = numbered("process", pid), thread = numbered("thread", event.tid);
  const std::string image = change.process == nullptr ? "" : printable(change.process->image);
  const Module none;
  const Module& module = change.module == nullptr ? none : *change.module;
  switch (change.kind) {
    case Kind::ProcessKnown:
      return process + " is known" + (image.empty() ? "" : ": " + image);
    case Kind::ProcessBegan:
      return process + " began" + (image.empty() ? "" : ": " + image);
    case Kind::ProcessEnded:
      return process + " ended";
    case Kind::ProcessRuns:
      return process + " runs " + (image.empty() ? "another program" : image);
    case Kind::ModuleLoaded:
      return "loaded " + printable(module.path) +
             (module.is_placed() ? fmt::format(" at {:#x}", module.start) : "");
    case Kind::ModuleUnloaded:
      return "unloaded " + printable(module.path);
    case Kind::ThreadBegan:
      return thread + " began";
    case Kind::ThreadEnded:
      return thread + " ended";
    case Kind::ThreadNamed:
      return thread + " is named " + printable(change.text);
  }
  return "";
}

}  // namespace tracewell
