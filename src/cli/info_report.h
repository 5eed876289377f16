// What `info` has found out, as text and as JSON.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cli/lost_events.h"
#include "model/catalog.h"
#include "model/problem.h"

namespace tracewell::cli {

struct TraceInfo {
  std::string path;
  std::string_view format, format_description;
  Catalog catalog;
  uint64_t records = 0;  // steps, frames and hooks
  uint64_t marks = 0;    // beside these, with numbers of their own
  uint64_t threads = 0;  // that events name; 0 = none does
  std::vector<std::pair<std::string, std::string>> facts;  // what else its format knows
  std::vector<std::string> other_builds;  // as other_builds() of images.h has them
  std::vector<LostPlace> lost;
  std::vector<Note> notes;
  const ProblemLog* problems = nullptr;
};

/// [{"offset","severity","code","text"}]: those that are kept.
nlohmann::ordered_json problems_json(const ProblemLog& problems);
/// [{"thread","why","count" or null,"first","last"}], numbers of events.
nlohmann::ordered_json lost_json(const std::vector<LostPlace>& lost);

std::string info_text(const TraceInfo& info);
/// {"format","arch","endian","records","threads","facts":{name:text},
///  "problems":[{"offset","severity","code","text"}],
///  "problem_count","notes":[{"step","text"}],
///  "lost":[{"thread","why","count" or null,"first","last"}], numbers of events,
///  "address_bytes","registers","register_block_bytes","status","tracepoints",
///  "variables","modules","other_builds":[text] where there are some}; definitions as in
///  docs/formats/jsonl.md.
std::string info_json(const TraceInfo& info);

/// "stopped by tracepoint 4 (pass count)", in words.
std::string stop_text(const RunStatus& status);

}  // namespace tracewell::cli
