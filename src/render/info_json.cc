#include <nlohmann/json.hpp>

#include "base/text/text.h"
#include "formats/jsonl/lines.h"
#include "render/info_report.h"
#include "render/json_document.h"

namespace tracewell::render {

using Json = nlohmann::ordered_json;

Json problems_json(const ProblemLog& log) {
  Json out = Json::array();
  for (const Problem& problem : log.kept())
    out.push_back({{"offset", problem.offset ? Json(*problem.offset) : Json()},
                   {"severity", severity_name(problem.severity)},
                   {"code", printable(problem.code)},
                   {"text", printable(problem.text)}});
  return out;
}

Json lost_json(const std::vector<trace::LostPlace>& lost) {
  Json out = Json::array();
  for (const trace::LostPlace& one : lost)
    out.push_back({{"thread", one.thread},
                   {"process", one.process != 0 ? Json(one.process) : Json()},
                   {"why", printable(one.why)},
                   {"count", one.uncounted ? Json() : Json(one.count)},
                   {"first", one.first},
                   {"last", one.last}});
  return out;
}

namespace {

/// As JSON lines spell a process, which `spelled` are.
Json processes_json(const std::vector<trace::TracedProcess>& processes, const Json& spelled) {
  Json out = Json::array();
  for (size_t i = 0; i < processes.size() && i < spelled.size(); ++i) {
    Json& one = out.emplace_back(Json{{"process", processes[i].number}});
    one.update(spelled[i]);
    if (const auto& began = processes[i].began) {
      one["began_before"] = began->event;
      if (began->time_ns) one["began_ns"] = *began->time_ns;
    }
    if (const auto& ended = processes[i].ended) {
      one["ended_before"] = ended->event;
      if (ended->time_ns) one["ended_ns"] = *ended->time_ns;
    }
  }
  return out;
}

}  // namespace

std::string info_json(const trace::TraceInfo& info) {
  const Catalog& catalog = info.catalog;
  Json out = {{"format", info.format},
              {"arch", printable(catalog.machine)},
              {"endian", catalog.endian == Endian::Little ? "little" : "big"},
              {"records", info.records},
              {"threads", info.threads},
              {"problems", problems_json(*info.problems)},
              {"problem_count", info.problems->count()},
              {"address_bytes", catalog.address_bytes},
              {"registers", catalog.registers.registers.size()},
              {"register_block_bytes", catalog.registers.size_bytes}};
  // Definitions are spelled as in the JSON lines' catalog, and by the same code.
  Catalog told = catalog;
  told.processes.clear();
  for (const trace::TracedProcess& one : info.processes) told.processes.push_back(one.who);
  const Json whole = Json::parse(formats::catalog_to_json(told), nullptr, false);
  for (const char* key : {"status", "tracepoints", "variables", "modules"}) {
    const Json& from = whole["catalog"];
    const auto at = from.find(key);
    if (at != from.end())
      out[key] = *at;
    else if (std::string_view(key) != "status")
      out[key] = Json::array();
  }
  out["processes"] = processes_json(
      info.processes, whole["catalog"].value("processes", Json::array()));
  out["process_count"] = info.process_count;
  if (!info.other_builds.empty()) out["other_builds"] = info.other_builds;
  out["lost"] = lost_json(info.lost);
  out["notes"] = Json::array();
  for (const Note& note : info.notes)
    out["notes"].push_back({{"step", note.step}, {"text", note.text}});
  for (const auto& [name, value] : info.facts) out["facts"][name] = printable(value);
  return json_document(out, 2) + "\n";
}

}  // namespace tracewell::render
