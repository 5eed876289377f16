#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text/text.h"
#include "render/diff_report.h"
#include "render/json_document.h"
#include "render/step_words.h"

namespace tracewell::render {
namespace {

using Json = nlohmann::ordered_json;
using timeline::Cause;
using timeline::Difference;
using timeline::Spot;
using timeline::ThreadDiff;

Json address(uint64_t value) { return fmt::format("{:#x}", value); }

Json text_or_null(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json spot_json(const std::optional<Spot>& spot, DiffWords::Side side, const DiffWords& words) {
  if (!spot) return nullptr;
  const DiffWords::Place place = words.place(*spot, side);
  Json out = {{"step", spot->seq}, {"pc", address(spot->pc)}};
  out["disassembly"] = text_or_null(place.instruction);
  if (!place.name.empty()) out["name"] = place.name;
  return out;
}

Json pair_json(const std::optional<Spot>& a, const std::optional<Spot>& b,
               const DiffWords& words) {
  if (!a && !b) return nullptr;
  return {{"a", spot_json(a, DiffWords::A, words)}, {"b", spot_json(b, DiffWords::B, words)}};
}

Json cause_side(const Cause::Side& side, bool memory, Endian endian, DiffWords::Side of,
                const DiffWords& words) {
  Json out = {{"read_by", spot_json(side.reader, of, words)}};
  if (memory) {
    out["addr"] = address(side.address);
    if (std::string name = words.data_name(side.address, of); !name.empty())
      out["name"] = std::move(name);
  }
  out["value"] = side.value.empty() ? Json() : Json(value_text(side.value, endian));
  out["since"] = spot_json(side.writer, of, words);
  if (side.writer && side.writer_tid) out["since"]["tid"] = thread_number(*side.writer_tid);
  return out;
}

Json cause_json(const Cause& cause, const Catalog& catalog, const DiffWords& words) {
  Json out = {{"register", nullptr}};
  if (cause.reg) out["register"] = printable(catalog.registers.registers[*cause.reg].name);
  if (cause.flags != 0) out["flags"] = flag_names(cause.flags);
  out["a"] = cause_side(cause.a, !cause.reg, catalog.endian, DiffWords::A, words);
  out["b"] = cause_side(cause.b, !cause.reg, catalog.endian, DiffWords::B, words);
  out["because_of"] = cause.because ? Json(*cause.because) : Json();
  if (const auto& earlier = cause.earlier)
    out["earlier"] = {{"difference", earlier->difference},
                      {"cause", earlier->cause ? Json(*earlier->cause) : Json()}};
  return out;
}

Json hole_json(const std::optional<timeline::Hole>& hole) {
  if (!hole) return nullptr;
  return {{"before_step", hole->seq},
          {"steps", hole->count != 0 ? Json(hole->count) : Json()}};
}

Json difference_json(const Difference& one, const Catalog& catalog, const DiffWords& words) {
  static constexpr const char* kKinds[] = {"parts", "loop", "ends", "missing"};
  Json out = {{"kind", kKinds[static_cast<size_t>(one.kind)]},
              {"branch", pair_json(one.branch_a, one.branch_b, words)},
              {"a", spot_json(one.a, DiffWords::A, words)},
              {"b", spot_json(one.b, DiffWords::B, words)},
              {"only_a", one.only_a},
              {"only_b", one.only_b},
              {"meet", pair_json(one.meet_a, one.meet_b, words)}};
  if (one.kind == Difference::Kind::Missing)
    out["missing"] = {{"a", hole_json(one.hole_a)}, {"b", hole_json(one.hole_b)}};
  if (is_loop(one))
    out["loop"] = {{"head_a", address(one.head_a)}, {"head_b", address(one.head_b)},
                   {"times_a", one.times_a},        {"times_b", one.times_b},
                   {"exact", one.exact}};
  out["causes"] = Json::array();
  for (const Cause& cause : one.causes) out["causes"].push_back(cause_json(cause, catalog, words));
  return out;
}

Json thread_json(const ThreadDiff& thread, const Catalog& catalog, const DiffWords& words) {
  Json out = {{"tid_a", thread_number(thread.tid_a.value_or(0))},
              {"tid_b", thread_number(thread.tid_b.value_or(0))},
              {"same_steps", thread.same},
              {"both_cut", thread.both_cut},
              {"differing_code", thread.differing_code},
              {"first_differing_code", pair_json(thread.code_a, thread.code_b, words)},
              {"untold", thread.untold},
              {"given_up", thread.given_up},
              {"short_sighted", thread.short_sighted},
              {"differences", Json::array()}};
  if (thread.given_up_after != 0) out["given_up_after"] = thread.given_up_after;
  for (const Difference& one : thread.differences)
    out["differences"].push_back(difference_json(one, catalog, words));
  return out;
}

}  // namespace

std::string diff_json(const timeline::DiffReport& report, const Catalog& catalog,
                      const DiffWords& words) {
  Json out = {{"same", report.same()},
              {"undecided", report.undecided()},
              {"missing", nullptr},
              {"threads", Json::array()},
              {"moved", Json::array()}};
  if (report.missing_a || report.missing_b)
    out["missing"] = {{"a", hole_json(report.missing_a)}, {"b", hole_json(report.missing_b)}};
  for (const ThreadDiff& thread : report.threads)
    out["threads"].push_back(thread_json(thread, catalog, words));
  if (const auto& left_out = report.left_out)
    out["not_compared_from"] = {{"tid_a", thread_number(left_out->tid_a.value_or(0))},
                                {"tid_b", thread_number(left_out->tid_b.value_or(0))}};
  for (const timeline::Bases::Range& range : report.bases)
    if (range.distance != 0)
      out["moved"].push_back({{"from", address(range.from)},
                              {"to", address(range.to)},
                              {"in_b", address(range.from + range.distance)}});
  return json_document(out, 2) + "\n";
}

}  // namespace tracewell::render
