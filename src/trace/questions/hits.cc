#include "trace/questions/hits.h"

#include <algorithm>
#include <variant>

#include "trace/step_reader.h"

namespace tracewell::trace {
namespace {

using timeline::Timeline;

/// A single instruction is told as a block without a size.
std::vector<Timeline::BlockHits> count(const Timeline& timeline, bool blocks) {
  if (blocks) return timeline.block_hits();
  std::vector<Timeline::BlockHits> out;
  for (const Timeline::Hits& one : timeline.address_hits())
    out.push_back({one.address, 0, 1, one.count, one.last});
  return out;
}

}  // namespace

Result<uint64_t> hits(const StepTrace& trace, const HitsQuestion& question,
                      const std::function<bool(const HitCount&)>& visit, const Work& work) {
  TW_ASSIGN_OR_RETURN(StepReader reader, trace.reader());
  std::vector<Timeline::BlockHits> all = count(*trace.timeline, question.blocks);
  if (!question.by_address)
    std::ranges::stable_sort(all, std::greater(), &Timeline::BlockHits::count);
  for (const Timeline::BlockHits& one : all) {
    TW_RETURN_IF_ERROR(work.go_on());
    HitCount out{one.address, one.count, one.size_bytes, one.instructions, {}};
    if (one.last) {
      TW_ASSIGN_OR_RETURN(const Event* const event, reader.step(*one.last));
      const Bytes opcode = std::get<Step>(event->body).opcode;
      out.opcode.assign(opcode.begin(), opcode.end());
    }
    if (!visit(out)) break;
  }
  TW_RETURN_IF_ERROR(trace.answers_hold());
  return static_cast<uint64_t>(all.size());
}

}  // namespace tracewell::trace
