#include "trace/where_index.h"

#include <utility>
#include <vector>

#include "filter/expression.h"
#include "formats/format.h"
#include "timeline/chosen_steps.h"

namespace tracewell::trace {

std::optional<timeline::Timeline> index_for(const OpenTrace& trace,
                                            const SelectionOptions& selection) {
  if (selection.where.empty() || !trace.sidecar || trace.source->steps() == nullptr)
    return std::nullopt;
  const ReaderNotes* const noted = trace.source->reader_notes();
  if (noted == nullptr || !noted->is_sound() ||
      trace.problems->count(Problem::Severity::Damage) != 0)
    return std::nullopt;
  const std::vector<uint8_t> notes = noted->notes();
  timeline::TimelineOptions wanted;
  wanted.sidecar = trace.sidecar->path;
  wanted.trace_changed_ns = trace.sidecar->trace.facts.changed_ns;
  wanted.trace_file = trace.sidecar->trace;
  wanted.build.notes = notes;
  return timeline::Timeline::find(*trace.source->steps(), trace.file->bytes(), wanted);
}

void leave_out_by_index(std::unique_ptr<Source>& source, std::optional<timeline::Timeline> index,
                        const SelectionOptions& selection, const AddressNames& names) {
  if (!index) return;
  // What is wrong with an expression, select_events() says.
  const auto where = filter::Expression::parse(selection.where, source->catalog(),
                                               {names.module, names.symbol});
  const auto places = where.ok() ? where->places() : std::nullopt;
  if (!places) return;
  std::vector<timeline::AddressRange> ranges;
  for (const filter::Expression::Places& one : *places) ranges.push_back({one.first, one.last});
  auto steps = timeline::few_executions(*index, ranges, selection.from, selection.to);
  if (!steps || index->damaged()) return;
  source = timeline::chosen_steps(std::move(source), *std::move(index), *std::move(steps));
}

}  // namespace tracewell::trace
