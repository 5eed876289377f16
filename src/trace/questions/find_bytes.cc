// Where and when memory held some bytes, and who made it so.
#include <algorithm>
#include <optional>

#include "timeline/search.h"
#include "trace/questions/finding.h"

namespace tracewell::trace {
namespace {

using timeline::AddressRange;

/// Of the bytes of a hit: where they are, and what they are.
struct BytesAt {
  AddressRange range;
  Bytes pattern;  // as far as there are addresses
};

BytesAt bytes_of(const timeline::BytesHit& hit, Bytes pattern) {
  const uint64_t reach = std::min<uint64_t>(pattern.size() - 1, UINT64_MAX - hit.address);
  return {{hit.address, hit.address + reach}, pattern.first(reach + 1)};
}

/// Did the step leave the bytes of the hit that it wrote as they are in front of the next step? Of
/// what it wrote without a value, and of what is known from later steps alone, only a place where
/// nobody else can have written in between says that.
bool made(const timeline::Timeline& timeline, const Event& event, const BytesAt& hit) {
  using Kind = Step::MemoryAccess::Kind;
  std::vector<uint8_t> found(hit.pattern.size());
  std::vector<ByteState> states(found.size());
  timeline.memory(event.seq + 1, hit.range.first, found, states);
  const bool alone = timeline.sealed(event.seq, event.seq + 1);
  // A later access of the step overwrites an earlier one.
  std::vector<std::optional<bool>> is_made(found.size());
  for (const Step::MemoryAccess& access : std::get<Step>(event.body).memory) {
    if (access.kind != Kind::Write && access.kind != Kind::ReadWrite) continue;
    for (size_t i = 0; i < found.size(); ++i) {
      const uint64_t at = hit.range.first + i - access.address;
      if (at >= access.size) continue;
      const bool told = at < access.new_bytes.size();
      if (told && access.new_bytes[at] != hit.pattern[i])
        is_made[i] = false;
      else
        is_made[i] = alone || (told && states[i] != ByteState::Inferred);
    }
  }
  return std::ranges::none_of(is_made, [](const auto& one) { return one == false; });
}

/// The step whose write made the bytes what they are; nullptr when it was another moment, or nobody
/// knows. Until the next question.
Result<const Event*> writer_of(Finding& finding, const timeline::BytesHit& hit) {
  const timeline::Timeline& index = *finding.trace.timeline;
  if (hit.first == 0) return nullptr;
  const BytesAt bytes = bytes_of(hit, finding.question.bytes);
  const uint64_t last = hit.first - 1;
  if (hit.first < index.steps() && index.stretch_of(hit.first).first > last) return nullptr;
  // What is written without any content is followed by an opening: it has made nothing.
  if (!index.accesses_at(bytes.range, timeline::kWrites, last)) return nullptr;
  TW_ASSIGN_OR_RETURN(const Event* const event, finding.reader.step(last));
  return made(index, *event, bytes) ? event : nullptr;
}

/// When others made the bytes what they are, if that is known: of all that they changed then.
std::optional<MemoryHit::Times> changed_by_others(const timeline::Timeline& index,
                                       const timeline::BytesHit& hit, size_t size) {
  const uint64_t reach = std::min<uint64_t>(size - 1, UINT64_MAX - hit.address);
  const AddressRange range = {hit.address, hit.address + reach};
  std::optional<MemoryHit::Times> out;
  const uint64_t end = hit.last + 1;
  // The steps that find it have found the whole hit; behind an opening they say nothing of it.
  for (auto finder = index.next_access(range, timeline::kOthers, hit.first, end);
       finder && index.sealed(hit.first, *finder);
       finder = index.next_access(range, timeline::kOthers, *finder + 1, end))
    for (const timeline::ChangeByOthers& one : index.changes_by_others(*finder, range))
      if (one.until == hit.first)
        out = MemoryHit::Times{std::min(one.since, out ? out->since : one.since), one.until};
  return out;
}

}  // namespace

Status find_memory_bytes(Finding& finding) {
  const FindQuestion& question = finding.question;
  if (question.bytes.empty()) return {Errc::InvalidArgument, "no bytes are wanted"};
  Status done;
  const auto take = [&](const timeline::BytesHit& where) {
    if (where.last < question.from || where.first > question.to) return true;
    const auto writer = writer_of(finding, where);
    if (!writer) {
      done = writer.error();
      return false;
    }
    MemoryHit hit{where, std::nullopt,
                  changed_by_others(*finding.trace.timeline, where, question.bytes.size())};
    if (*writer != nullptr) hit.written_by = step_at(**writer);
    return finding.visit(hit);
  };
  TW_RETURN_IF_ERROR(
      timeline::find_bytes(*finding.trace.timeline, question.bytes, take, finding.work));
  return done;
}

}  // namespace tracewell::trace
