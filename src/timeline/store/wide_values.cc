#include "timeline/store/wide_values.h"

#include <algorithm>
#include <cstring>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"

namespace tracewell::timeline {
namespace {

using Change = Step::RegisterChange;
using Changes = std::span<const Change>;
using Place = uint32_t;  // of the first byte that is none of the zeros in front; comes first

struct Small {
  Place place = 0;
  Bytes middle;
};

Small read_small(Bytes value) {
  TW_CHECK(value.size() >= sizeof(Place));
  Small out;
  std::memcpy(&out.place, value.data(), sizeof out.place);
  out.middle = value.subspan(sizeof out.place);
  return out;
}

bool is_wide(const RegisterLayout& layout, const Change& change) {
  return !change.value.empty() && layout.registers[change.index].size_bytes > kWideBytes;
}

Bytes small_value(Bytes value, Batch& batch) {
  const auto is_set = [](uint8_t byte) { return byte != 0; };
  const auto first = std::find_if(value.begin(), value.end(), is_set);
  const auto end = std::find_if(value.rbegin(), std::make_reverse_iterator(first), is_set).base();
  const auto place = static_cast<Place>(first - value.begin());
  const auto size = static_cast<size_t>(end - first);
  const std::span<uint8_t> out = batch.array<uint8_t>(sizeof place + size);
  std::memcpy(out.data(), &place, sizeof place);
  copy_bytes(out.data() + sizeof place, value.data() + place, size);
  return out;
}

Step small_step(const Step& step, Batch& batch) {
  Step out = step;
  out.opcode = batch.copy(step.opcode);
  out.before = with_small_values(step.before, batch);
  out.registers = with_small_values(step.registers, batch);
  out.stored = batch.copy(step.stored);
  std::vector<Step::MemoryAccess> memory(step.memory.begin(), step.memory.end());
  for (Step::MemoryAccess& one : memory) {
    one.old_bytes = batch.copy(one.old_bytes);
    one.new_bytes = batch.copy(one.new_bytes);
  }
  out.memory = batch.copy_array(std::span<const Step::MemoryAccess>(memory));
  return out;
}

}  // namespace

bool has_wide(Changes changes) {
  return std::ranges::any_of(changes,
                             [](const Change& one) { return one.value.size() > kWideBytes; });
}

Changes with_small_values(Changes changes, Batch& batch) {
  std::vector<Change> out(changes.begin(), changes.end());
  for (Change& one : out)
    one.value = one.value.size() > kWideBytes ? small_value(one.value, batch)
                                              : batch.copy(one.value);
  return batch.copy_array(Changes(out));
}

void set_small(const RegisterLayout& layout, const Change& change, RegisterState& state) {
  if (!is_wide(layout, change)) return state.set(layout, change.index, change.value);
  state.set(layout, change.index, {});  // zeros
  const auto [place, middle] = read_small(change.value);
  copy_bytes(state.block.data() + layout.registers[change.index].offset + place, middle.data(),
             middle.size());
  state.valid[change.index / 8] |= static_cast<uint8_t>(1u << (change.index % 8));
}

Changes with_whole_values(const RegisterLayout& layout, Changes changes, Batch& batch,
                          size_t& bytes) {
  const auto wide = [&](const Change& one) { return is_wide(layout, one); };
  if (std::ranges::none_of(changes, wide)) return changes;
  const std::span<Change> out = batch.array<Change>(changes.size());
  std::ranges::copy(changes, out.begin());
  for (Change& one : out) {
    if (!wide(one)) continue;
    const auto [place, middle] = read_small(one.value);
    const std::span<uint8_t> whole = batch.array<uint8_t>(layout.registers[one.index].size_bytes);
    std::ranges::fill(whole, uint8_t{0});
    copy_bytes(whole.data() + place, middle.data(), middle.size());
    one.value = whole;
    bytes += whole.size();
  }
  return out;
}

Event small_event(const Event& event, Batch& batch) {
  Event out = event;
  if (const auto* step = std::get_if<Step>(&event.body)) {
    out.body = small_step(*step, batch);
  } else if (const auto* mark = std::get_if<Mark>(&event.body)) {
    out.body = Mark{batch.copy(mark->text), mark->session};
  } else if (const auto* lost = std::get_if<Lost>(&event.body)) {
    out.body = Lost{lost->count, batch.copy(lost->why)};
  } else if (const auto* change = std::get_if<tracewell::Change>(&event.body)) {
    out.body = batch.copy(*change);
  } else {
    TW_CHECK(false);  // no trace of steps has others
  }
  return out;
}

}  // namespace tracewell::timeline
