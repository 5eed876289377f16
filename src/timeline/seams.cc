#include "timeline/seams.h"

#include <algorithm>
#include <set>

#include "timeline/segment.h"

namespace tracewell::timeline {

void Seams::begin_session(uint64_t session) {
  if (session != session_) states_.clear();
  session_ = session;
}

Pieces Seams::seam(const std::vector<SegmentBuilder::ThreadLook>& looks) const {
  std::map<uint64_t, std::set<uint32_t>> changes;  // steps, by register
  for (const SegmentBuilder::ThreadLook& look : looks) {
    const auto before = states_.find(look.tid);
    if (before == states_.end()) continue;
    for (uint32_t i = 0; i < layout_.registers.size(); ++i)
      if (look.first.is_valid(i) && differs(before->second, look.first, i))
        changes[register_key(i, ChangedBy::Others)].insert(look.first_step);
  }
  if (changes.empty()) return {};
  std::vector<uint8_t> scratch, stream;
  StreamTableWriter table;
  for (const auto& [key, steps] : changes) {
    ByteChains chains;
    PostingList list;
    for (uint32_t step : steps) list.add(chains, step);
    list.finish(chains, scratch, stream);
    table.add(key, stream);
  }
  return table.finish();
}

void Seams::take(const StreamTable& threads) {
  threads.each(0, UINT64_MAX, [&](const StreamTable::Item& item) {
    const auto thread = read_thread(item.stream);
    if (!thread || thread->ends.registers.size() != layout_.size_bytes ||
        thread->ends.valid.size() != (layout_.registers.size() + 7) / 8)
      return true;
    RegisterState& state = states_[item.key];
    state.block.assign(thread->ends.registers.begin(), thread->ends.registers.end());
    state.valid.assign(thread->ends.valid.begin(), thread->ends.valid.end());
    return true;
  });
}

bool Seams::differs(const RegisterState& a, const RegisterState& b, uint32_t index) const {
  const Register& one = layout_.registers[index];
  const auto begin = a.block.begin() + one.offset;
  return !a.is_valid(index) || !std::equal(begin, begin + one.size_bytes,
                                           b.block.begin() + one.offset);
}

}  // namespace tracewell::timeline
