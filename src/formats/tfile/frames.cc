#include "formats/tfile/frames.h"

#include <algorithm>

#include "base/settled.h"

namespace tracewell::formats {

TfileKnownPcs::TfileKnownPcs(const std::vector<TracepointDef>& tracepoints) {
  struct Candidate {
    int32_t number;
    uint64_t address;
    bool steps;
  };
  std::vector<Candidate> all;
  for (const TracepointDef& one : tracepoints)
    all.push_back({static_cast<int16_t>(one.number), one.address, one.step_count != 0});
  std::sort(all.begin(), all.end(),
            [](const Candidate& a, const Candidate& b) { return a.number < b.number; });
  for (size_t i = 0; i < all.size(); ++i) {
    const bool alone = (i == 0 || all[i - 1].number != all[i].number) &&
                       (i + 1 == all.size() || all[i + 1].number != all[i].number);
    if (alone && !all[i].steps) pcs_.emplace_back(all[i].number, all[i].address);
  }
}

std::optional<uint64_t> TfileKnownPcs::find(int32_t tracepoint) const {
  if (pcs_.size() == 1)  // often
    return pcs_[0].first == tracepoint ? std::optional(pcs_[0].second) : std::nullopt;
  const auto at = std::lower_bound(pcs_.begin(), pcs_.end(), std::pair{tracepoint, uint64_t{0}});
  if (at == pcs_.end() || at->first != tracepoint) return std::nullopt;
  return at->second;
}

std::optional<TfileFrames::Place> TfileFrames::place_at(uint64_t offset) const {
  if (file.size() - offset < rsp::kFrameHeaderBytes) return std::nullopt;
  const uint8_t* header = file.data() + offset;
  Place place{offset, static_cast<int16_t>(load_uint(header, 2, endian)),
              settled(static_cast<uint32_t>(load_uint(header + 2, 4, endian)))};
  if (place.tracepoint == 0 || place.size > file.size() - place.data()) return std::nullopt;
  return place;
}

TfileFrames::Skim TfileFrames::skim(Bytes data) const {
  Skim out;
  for (size_t at = 0; at < data.size();) {
    const size_t left = data.size() - at;
    const uint8_t* block = data.data() + at;
    // Once: whoever has changed the file by the next look would get a block that has no room.
    const uint8_t type = settled(*block);
    size_t need = SIZE_MAX;  // stays for an unknown type
    if (type == 'M' && left >= 11)
      need = 11 + load_uint(block + 9, 2, endian);
    else if (type == 'V')
      need = 13;
    else if (type == 'R')
      need = size_t{1} + register_block_bytes;
    else if (type == 'S' && left >= 3)
      need = 3 + load_uint(block + 1, 2, endian);
    need = settled(need);
    if (need > left) {
      out.sound = false;
      return out;
    }
    if (type == 'R' && out.registers == 0) out.registers = at + 1;
    at += need;
  }
  return out;
}

std::optional<uint64_t> TfileFrames::pc(uint64_t seq, int16_t tracepoint, Bytes registers) const {
  if (trailer)
    if (auto told = trailer->pc(seq)) return told;
  if (!registers.empty() && pc_bytes != 0) {
    Frame mask;
    if (trailer) mask.registers_valid = trailer->frame(seq).registers_valid;
    if (register_valid(mask, *pc_index))
      return load_uint(registers.data() + pc_offset, pc_bytes, endian);
  }
  return known_pcs.find(tracepoint);
}

std::optional<uint64_t> TfileFrames::pc(uint64_t seq, const Place& place) const {
  const Bytes all = data(place);
  const size_t registers = skim(all).registers;
  return pc(seq, place.tracepoint,
            registers == 0 ? Bytes() : all.subspan(registers, register_block_bytes));
}

uint64_t tfile_plausibility(const TfileFrames& frames, uint64_t limit) {
  uint64_t offset = frames.begin;
  for (uint64_t sound = 0; sound < limit; ++sound) {
    const auto header = rsp::read_frame_header(frames.file.subspan(offset), frames.endian);
    if (header && header->tracepoint == 0) return limit + sound;
    const auto place = frames.place_at(offset);
    if (!place) return sound;
    rsp::BlockWalker walker = frames.walk(*place);
    while (walker.next()) continue;
    if (walker.failed()) return sound;
    offset = place->end();
  }
  return 2 * limit;
}

}  // namespace tracewell::formats
