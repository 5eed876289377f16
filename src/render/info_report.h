// What `info` has found out, as text and as JSON.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "model/catalog.h"
#include "model/problem.h"
#include "trace/questions/check.h"

namespace tracewell::render {

/// [{"offset","severity","code","text"}]: those that are kept.
nlohmann::ordered_json problems_json(const ProblemLog& problems);
/// [{"thread","why","count" or null,"first","last"}], numbers of events.
nlohmann::ordered_json lost_json(const std::vector<trace::LostPlace>& lost);

std::string info_text(const trace::TraceInfo& info);
/// {"format","arch","endian","records","threads","facts":{name:text},
///  "problems":[{"offset","severity","code","text"}],
///  "problem_count","notes":[{"step","text"}],
///  "lost":[{"thread","why","count" or null,"first","last"}], numbers of events,
///  "address_bytes","registers","register_block_bytes","status","tracepoints",
///  "variables","modules","processes":[{"process",…,"began_before","began_ns","ended_before",
///  "ended_ns"}], where the trace tells that, numbers of the events behind it; "process_count",
///  "other_builds":[text] where there are some}; definitions as in docs/formats/jsonl.md.
std::string info_json(const trace::TraceInfo& info);

/// "stopped by tracepoint 4 (pass count)", in words.
std::string stop_text(const RunStatus& status);

}  // namespace tracewell::render
