#include <nlohmann/json.hpp>

#include "base/text.h"
#include "render/info_report.h"
#include "render/json_document.h"
#include "formats/jsonl.h"

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
  const Json whole = Json::parse(formats::catalog_to_json(catalog), nullptr, false);
  for (const char* key : {"status", "tracepoints", "variables", "modules"}) {
    const Json& from = whole["catalog"];
    const auto at = from.find(key);
    if (at != from.end())
      out[key] = *at;
    else if (std::string_view(key) != "status")
      out[key] = Json::array();
  }
  if (!info.other_builds.empty()) out["other_builds"] = info.other_builds;
  out["lost"] = lost_json(info.lost);
  out["notes"] = Json::array();
  for (const Note& note : info.notes)
    out["notes"].push_back({{"step", note.step}, {"text", note.text}});
  for (const auto& [name, value] : info.facts) out["facts"][name] = printable(value);
  return json_document(out, 2) + "\n";
}

}  // namespace tracewell::render
