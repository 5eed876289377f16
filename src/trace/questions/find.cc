#include "trace/questions/find.h"

#include <optional>
#include <utility>

#include "trace/questions/finding.h"
#include "trace/selection.h"

namespace tracewell::trace {

Status each_step(const FindQuestion& question, const Work& work,
                 timeline::StepWalk::Question answers,
                 const std::function<Result<bool>(uint64_t)>& visit) {
  const uint64_t end = question.to == UINT64_MAX ? UINT64_MAX : question.to + 1;
  timeline::StepWalk walk(std::move(answers), question.from, end, question.backward);
  while (const std::optional<uint64_t> at = walk.next()) {
    TW_RETURN_IF_ERROR(work.go_on());
    TW_ASSIGN_OR_RETURN(const bool more, visit(*at));
    if (!more) break;
  }
  return {};
}

Status find_executions(Finding& finding) {
  const timeline::AddressRange& pcs = finding.question.range;
  const timeline::Timeline& index = *finding.trace.timeline;
  return each_step(
      finding.question, finding.work,
      {[&](uint64_t from) { return index.next_execution(pcs, from); },
       [&](uint64_t before) { return index.last_execution(pcs, before); },
       [&](uint64_t from, uint64_t end) { return index.executions(pcs, from, end); }},
      [&](uint64_t seq) -> Result<bool> {
        TW_ASSIGN_OR_RETURN(const Event* const event, finding.reader.step(seq));
        return finding.hand_over(*event, FoundExecution());
      });
}

Status find(const StepTrace& trace, const FindQuestion& question,
            const std::function<bool(const Hit&)>& visit, const Work& work) {
  using What = FindQuestion::What;
  if (question.backward && question.what == What::MemoryBytes)
    return {Errc::InvalidArgument, "bytes are not found backwards"};
  TW_RETURN_IF_ERROR(check_range(question.from, question.to));
  TW_ASSIGN_OR_RETURN(StepReader reader, trace.reader());
  Finding finding{trace, question, visit, work, std::move(reader)};
  switch (question.what) {
    case What::Executions: return find_executions(finding);
    case What::Reads:
    case What::Writes:
    case What::Accesses: return find_accesses(finding);
    case What::RegisterChanges: return find_register_changes(finding);
    case What::MemoryBytes: return find_memory_bytes(finding);
    case What::Values: return find_values(finding);
  }
  return {};
}

}  // namespace tracewell::trace
