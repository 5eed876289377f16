#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "cli/diff_report.h"

namespace tracewell::cli {
namespace {

using Json = nlohmann::ordered_json;
using timeline::Cause;
using timeline::Difference;
using timeline::Spot;
using timeline::ThreadDiff;

Json number(const std::optional<uint64_t>& value) { return value ? Json(*value) : Json(); }
Json address(uint64_t value) { return fmt::format("{:#x}", value); }

Json spot_json(const std::optional<Spot>& spot) {
  if (!spot) return nullptr;
  return {{"step", spot->seq}, {"pc", address(spot->pc)}};
}

Json pair_json(const std::optional<Spot>& a, const std::optional<Spot>& b) {
  if (!a && !b) return nullptr;
  return {{"a", spot_json(a)}, {"b", spot_json(b)}};
}

Json cause_side(const Cause::Side& side, bool memory, Endian endian) {
  Json out = {{"read_by", spot_json(side.reader)}};
  if (memory) out["addr"] = address(side.address);
  out["value"] = side.value.empty() ? Json() : Json(value_text(side.value, endian));
  out["since"] = spot_json(side.writer);
  return out;
}

Json cause_json(const Cause& cause, const Catalog& catalog) {
  Json out = {{"register", nullptr}};
  if (cause.reg) out["register"] = printable(catalog.registers.registers[*cause.reg].name);
  if (cause.flags != 0) out["flags"] = flag_names(cause.flags);
  out["a"] = cause_side(cause.a, !cause.reg, catalog.endian);
  out["b"] = cause_side(cause.b, !cause.reg, catalog.endian);
  out["because_of"] = cause.because ? Json(*cause.because) : Json();
  return out;
}

Json difference_json(const Difference& one, const Catalog& catalog) {
  static constexpr const char* kKinds[] = {"parts", "loop", "ends"};
  Json out = {{"kind", kKinds[static_cast<size_t>(one.kind)]},
              {"branch", pair_json(one.branch_a, one.branch_b)},
              {"a", spot_json(one.a)},
              {"b", spot_json(one.b)},
              {"only_a", one.only_a},
              {"only_b", one.only_b},
              {"meet", pair_json(one.meet_a, one.meet_b)}};
  if (one.kind == Difference::Kind::Loop)
    out["loop"] = {{"head_a", address(one.head_a)}, {"head_b", address(one.head_b)},
                   {"times_a", one.times_a},        {"times_b", one.times_b},
                   {"exact", one.exact}};
  out["causes"] = Json::array();
  for (const Cause& cause : one.causes) out["causes"].push_back(cause_json(cause, catalog));
  return out;
}

Json thread_json(const ThreadDiff& thread, const Catalog& catalog) {
  Json out = {{"tid_a", number(thread.tid_a)},
              {"tid_b", number(thread.tid_b)},
              {"same_steps", thread.same},
              {"differing_code", thread.differing_code},
              {"first_differing_code", pair_json(thread.code_a, thread.code_b)},
              {"untold", thread.untold},
              {"given_up", thread.given_up},
              {"differences", Json::array()}};
  for (const Difference& one : thread.differences)
    out["differences"].push_back(difference_json(one, catalog));
  return out;
}

}  // namespace

std::string diff_json(const timeline::DiffReport& report, const Catalog& catalog) {
  Json out = {{"same", report.same()}, {"threads", Json::array()}, {"moved", Json::array()}};
  for (const ThreadDiff& thread : report.threads)
    out["threads"].push_back(thread_json(thread, catalog));
  for (const timeline::Bases::Range& range : report.bases)
    if (range.distance != 0)
      out["moved"].push_back({{"from", address(range.from)},
                              {"to", address(range.to)},
                              {"in_b", address(range.from + range.distance)}});
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tracewell::cli
