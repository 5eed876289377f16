#include "formats/tfile/points.h"

#include <map>
#include <utility>
#include <vector>

#include "base/text/text.h"
#include "formats/tfile/description.h"
#include "rsp/definitions.h"

namespace tracewell::formats {
namespace {

using PointKey = std::pair<uint32_t, uint64_t>;
PointKey key_of(const TracepointDef& one) {
  return {one.number, one.address};
}

}  // namespace

std::string tfile_points_beside(const Catalog& catalog, std::string_view description) {
  ProblemLog ignored;
  const TfileDescription read = read_tfile_description(description, 0, ignored);
  // Of several with one number and address, all that is told is read as one: looked at once.
  std::map<PointKey, std::vector<std::string>> told;
  for (const TracepointDef& one : read.catalog.tracepoints)
    told.try_emplace(key_of(one), rsp::format_pieces(one));
  std::string out;
  for (const TracepointDef& one : catalog.tracepoints) {
    const std::vector<std::string> pieces = rsp::format_pieces(one);
    const auto at = told.find(key_of(one));
    if (at != told.end() && at->second == pieces) continue;
    for (const std::string& piece : pieces)
      if (piece.find('\n') == std::string::npos) out += piece + '\n';
  }
  return out;
}

void take_tfile_points(std::string_view pieces, Catalog& catalog, ProblemLog& problems) {
  rsp::DefinitionBuilder builder;
  while (!pieces.empty())
    if (const Status status = builder.apply(take_until(pieces, '\n')); !status.ok())
      problems.add({std::nullopt, Problem::Severity::Warning, "trailer",
                    "trailer: a tracepoint: " + status.error().message});
  std::map<PointKey, size_t> told;
  for (const TracepointDef& one : catalog.tracepoints) told.emplace(key_of(one), told.size());
  for (TracepointDef& one : builder.take()) {
    const auto at = told.find(key_of(one));
    if (at == told.end())
      catalog.tracepoints.push_back(std::move(one));
    else
      catalog.tracepoints[at->second] = std::move(one);
  }
}

}  // namespace tracewell::formats
