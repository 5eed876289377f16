#include "formats/tfile/index.h"

#include <algorithm>

#include <fmt/format.h>

namespace tracewell::formats {
namespace {

// Pages that were walked are given back in pieces of this size.
constexpr uint64_t kForgetWalkedBytes = 32 << 20;

uint64_t tracepoint_bit(int32_t tracepoint) {
  return uint64_t{1} << (tracepoint & 63);
}

/// Why the frame at `offset` is not one, as a problem. None at a proper end.
void tell_about_end(const TfileFrames& frames, uint64_t offset, ProblemLog& problems) {
  const Bytes rest = frames.file.subspan(offset);
  const auto header = rsp::read_frame_header(rest, frames.endian);
  if (header && header->tracepoint == 0) return;
  if (rest.empty()) {
    problems.add({offset, Problem::Severity::Damage, "no-terminator",
                  "the file ends without the zero that says that it is complete"});
  } else if (!header) {
    problems.add(
        {offset, Problem::Severity::Damage, "frame-cut",
         fmt::format("the file ends inside a frame's header; {} bytes are lost", rest.size())});
  } else {
    problems.add(
        {offset, Problem::Severity::Damage, "frame-cut",
         fmt::format("a frame of tracepoint {} should have {} bytes but the file ends "
                     "after {}; it is lost",
                     header->tracepoint, header->size, rest.size() - rsp::kFrameHeaderBytes)});
  }
}

void tell_about_blocks(const TfileFrames& frames, const TfileFrames::Place& place, uint64_t seq,
                       ProblemLog& problems) {
  rsp::BlockWalker walker = frames.walk(place);
  while (walker.next()) continue;
  if (!walker.failed()) return;
  const Error error = walker.error();
  problems.add({place.data() + walker.offset(), Problem::Severity::Damage,
                error.code == Errc::Truncated ? "block-cut" : "unknown-block",
                fmt::format("frame {}: {}; its last {} bytes are lost", seq, error.message,
                            place.size - walker.offset())});
}

}  // namespace

void TfileIndex::note(uint64_t offset, int16_t tracepoint, std::optional<uint64_t> pc) {
  if (count_++ % kStride == 0) {
    checkpoints_.emplace_back();
    checkpoints_.back().offset = offset;
  }
  Checkpoint& last = checkpoints_.back();
  last.tracepoints |= tracepoint_bit(tracepoint);
  if (!pc) return;
  last.pc_min = std::min(last.pc_min, *pc);
  last.pc_max = std::max(last.pc_max, *pc);
}

void TfileIndex::build(const TfileFrames& frames, const InputFile& input, ProblemLog& problems,
                       const std::function<void(uint64_t)>& progress) {
  uint64_t offset = frames.begin;
  uint64_t forgotten = 0;
  while (const auto place = frames.place_at(offset)) {
    const Bytes data = frames.data(*place);
    const TfileFrames::Skim skim = frames.skim(data);
    if (!skim.sound) tell_about_blocks(frames, *place, count_, problems);
    const Bytes registers =
        skim.registers == 0 ? Bytes() : data.subspan(skim.registers, frames.register_block_bytes);
    note(offset, place->tracepoint, frames.pc(count_, place->tracepoint, registers));
    offset = place->end();
    if (offset - forgotten > kForgetWalkedBytes) {
      input.forget(forgotten, offset - forgotten);
      forgotten = offset;
      if (progress) progress(offset);
    }
  }
  end_ = offset;
  tell_about_end(frames, offset, problems);
}

std::optional<TfileFrames::Place> TfileIndex::place(const TfileFrames& frames, uint64_t seq) const {
  auto place = frames.place_at(checkpoints_[seq / kStride].offset);
  for (uint64_t i = seq % kStride; i > 0 && place; --i) place = frames.place_at(place->end());
  return place;
}

template <class MayHold, class Matches>
std::optional<uint64_t> TfileIndex::search(const TfileFrames& frames, uint64_t from,
                                           MayHold&& may_hold, Matches&& matches) const {
  for (uint64_t chunk = from / kStride; chunk < checkpoints_.size(); ++chunk) {
    if (!may_hold(checkpoints_[chunk])) continue;
    const uint64_t last = std::min(count_, (chunk + 1) * kStride);
    uint64_t offset = checkpoints_[chunk].offset;
    for (uint64_t seq = chunk * kStride; seq < last; ++seq) {
      const auto place = frames.place_at(offset);
      if (!place) break;
      if (seq >= from && matches(seq, *place)) return seq;
      offset = place->end();
    }
  }
  return std::nullopt;
}

std::optional<uint64_t> TfileIndex::find_tracepoint(const TfileFrames& frames, uint64_t from,
                                                    int32_t tracepoint) const {
  return search(
      frames, from,
      [&](const Checkpoint& c) { return (c.tracepoints & tracepoint_bit(tracepoint)) != 0; },
      [&](uint64_t, const TfileFrames::Place& place) { return place.tracepoint == tracepoint; });
}

std::optional<uint64_t> TfileIndex::find_pc(const TfileFrames& frames, uint64_t from, uint64_t lo,
                                            uint64_t hi, bool outside) const {
  return search(
      frames, from,
      [&](const Checkpoint& c) {
        if (c.pc_min > c.pc_max) return false;
        return outside ? c.pc_min < lo || c.pc_max > hi : c.pc_min <= hi && c.pc_max >= lo;
      },
      [&](uint64_t seq, const TfileFrames::Place& place) {
        const auto pc = frames.pc(seq, place);
        return pc && (*pc >= lo && *pc <= hi) != outside;
      });
}

}  // namespace tracewell::formats
