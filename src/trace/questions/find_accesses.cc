// Who read or wrote memory, and who found it changed by others.
#include <algorithm>

#include "trace/questions/finding.h"

namespace tracewell::trace {
namespace {

using timeline::AddressRange;

/// Those of a step's accesses that were asked for. False when nobody wants more.
bool hand_over_accesses(const Finding& finding, const Event& event, uint8_t kinds) {
  using Kind = Step::MemoryAccess::Kind;
  const AddressRange& bytes = finding.question.range;
  for (const Step::MemoryAccess& access : std::get<Step>(event.body).memory) {
    const bool reads = access.kind == Kind::Read || access.kind == Kind::ReadWrite;
    const bool writes = access.kind == Kind::Write || access.kind == Kind::ReadWrite;
    if (!(reads && (kinds & timeline::kReads) != 0) &&
        !(writes && (kinds & timeline::kWrites) != 0))
      continue;
    if (access.size == 0 || access.address > bytes.last ||
        (access.address < bytes.first && bytes.first - access.address >= access.size))
      continue;
    FoundAccess found{access.kind,
                      access.address,
                      access.size,
                      {access.old_bytes.begin(), access.old_bytes.end()},
                      {access.new_bytes.begin(), access.new_bytes.end()}};
    if (!finding.hand_over(event, std::move(found))) return false;
  }
  return true;
}

/// The wanted bytes that a step touches, or tells of beside an access; each once, ascending.
std::vector<AddressRange> told_bytes(const Step& step, const AddressRange& wanted) {
  std::vector<AddressRange> all, out;
  for (const Step::MemoryAccess& access : step.memory) {
    if (access.size == 0 || access.old_bytes.empty()) continue;
    const uint64_t reach = std::min<uint64_t>(access.size - 1, UINT64_MAX - access.address);
    const AddressRange one = {std::max(access.address, wanted.first),
                              std::min(access.address + reach, wanted.last)};
    if (one.first <= one.last) all.push_back(one);
  }
  std::ranges::sort(all, {}, &AddressRange::first);
  for (const AddressRange& one : all) {
    if (out.empty() || (one.first > out.back().last && one.first - out.back().last > 1))
      out.push_back(one);
    else
      out.back().last = std::max(out.back().last, one.last);
  }
  return out;
}

/// What the step finds changed; of that, what was over before step `until_max`.
bool hand_over_changes(const Finding& finding, const Event& event, uint64_t until_max) {
  for (const AddressRange& part : told_bytes(std::get<Step>(event.body), finding.question.range))
    for (timeline::ChangeByOthers& one :
         finding.trace.timeline->changes_by_others(event.seq, part)) {
      if (one.until > until_max) continue;
      if (!finding.hand_over(event, std::move(one))) return false;
    }
  return true;
}

/// The steps that access the bytes so.
timeline::StepWalk::Question accesses(const timeline::Timeline& index, const AddressRange& bytes,
                                      uint8_t kinds) {
  return {[=, &index](uint64_t from) { return index.next_access(bytes, kinds, from); },
          [=, &index](uint64_t before) { return index.last_access(bytes, kinds, before); },
          [=, &index](uint64_t from, uint64_t end) {
            return index.accesses(bytes, kinds, from, end);
          }};
}

/// Steps behind `to` that find what others had changed by then: what memory was inferred to be in
/// front of the step behind `to` rests on these. Ascending.
Result<std::vector<uint64_t>> later_finders(Finding& finding) {
  std::vector<uint64_t> out;
  const timeline::Timeline& index = *finding.trace.timeline;
  const AddressRange& range = finding.question.range;
  if (finding.question.to >= index.steps()) return out;
  FindQuestion behind = finding.question;
  behind.from = finding.question.to + 1;
  behind.to = UINT64_MAX;
  behind.backward = false;
  TW_RETURN_IF_ERROR(each_step(
      behind, finding.work, accesses(index, range, timeline::kOthers),
      [&](uint64_t seq) -> Result<bool> {
        // Where others may have written since, the step tells of that.
        if (!index.sealed(behind.from, seq)) return false;
        TW_ASSIGN_OR_RETURN(const Event* const event, finding.reader.step(seq));
        const auto was_before = [&](const AddressRange& part) {
          return std::ranges::any_of(
              index.changes_by_others(seq, part),
              [&](const timeline::ChangeByOthers& one) { return one.until <= behind.from; });
        };
        if (std::ranges::any_of(told_bytes(std::get<Step>(event->body), range), was_before))
          out.push_back(seq);
        return true;
      }));
  return out;
}

/// Forwards they come last. False when nobody wants more.
Result<bool> hand_over_later_finders(Finding& finding) {
  TW_ASSIGN_OR_RETURN(std::vector<uint64_t> finders, later_finders(finding));
  if (finding.question.backward) std::ranges::reverse(finders);
  for (const uint64_t seq : finders) {
    TW_ASSIGN_OR_RETURN(const Event* const event, finding.reader.step(seq));
    if (!hand_over_changes(finding, *event, finding.question.to + 1)) return false;
  }
  return true;
}

uint8_t kinds_of(FindQuestion::What what) {
  switch (what) {
    case FindQuestion::What::Writes: return timeline::kWrites | timeline::kOthers;
    case FindQuestion::What::Accesses: return timeline::kAccesses | timeline::kOthers;
    default: return timeline::kReads;
  }
}

}  // namespace

Status find_accesses(Finding& finding) {
  const FindQuestion& question = finding.question;
  const uint8_t kinds = kinds_of(question.what);
  const bool others = (kinds & timeline::kOthers) != 0;
  if (others && question.backward) {
    TW_ASSIGN_OR_RETURN(const bool more, hand_over_later_finders(finding));
    if (!more) return {};
  }
  bool enough = false;
  TW_RETURN_IF_ERROR(each_step(
      question, finding.work, accesses(*finding.trace.timeline, question.range, kinds),
      [&](uint64_t seq) -> Result<bool> {
        TW_ASSIGN_OR_RETURN(const Event* const event, finding.reader.step(seq));
        const auto by_others = [&] {
          return !others || hand_over_changes(finding, *event, UINT64_MAX);
        };
        const auto by_itself = [&] { return hand_over_accesses(finding, *event, kinds); };
        const bool more =
            question.backward ? by_itself() && by_others() : by_others() && by_itself();
        enough |= !more;
        return more;
      }));
  if (!others || question.backward || enough) return {};
  TW_RETURN_IF_ERROR(hand_over_later_finders(finding));
  return {};
}

}  // namespace tracewell::trace
