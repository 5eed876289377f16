#include "render/diff_words.h"

#include <memory>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/text/text.h"
#include "model/batch.h"
#include "model/stream.h"

namespace tracewell::render {

using timeline::Spot;

namespace {

/// Of step `seq`; none when it cannot be read again.
std::vector<uint8_t> opcode_of(const StepIndex& steps, uint64_t seq) {
  const auto source = steps.open_at(seq);
  Batch batch;
  while (source) {
    const auto more = (*source)->next(batch);
    if (!more || !*more) break;
    for (const Event& event : batch.events()) {
      const auto* step = std::get_if<Step>(&event.body);
      if (step != nullptr && event.seq == seq) return {step->opcode.begin(), step->opcode.end()};
      if (step != nullptr && event.seq > seq) return {};
    }
  }
  return {};
}

}  // namespace

DiffWords::DiffWords(const timeline::DiffSide& a, const timeline::DiffSide& b,
                     const timeline::DiffReport& report, trace::AddressNames names)
    : a_(a.steps), b_(b.steps), report_(report), words_(a.catalog, std::move(names)) {}

uint64_t DiffWords::in_a(uint64_t address, Side side) const {
  if (side == A) return address;
  for (const timeline::Bases::Range& range : report_.bases) {
    const uint64_t moved = address - range.distance;
    if (moved >= range.from && moved < range.to) return moved;
  }
  return address;
}

DiffWords::Place DiffWords::place(const Spot& spot, Side side) const {
  Place out;
  out.name = words_.code_name(in_a(spot.pc, side));
  out.opcode = opcode_of(side == A ? a_ : b_, spot.seq);
  out.instruction = words_.instruction(out.opcode, spot.pc);
  return out;
}

std::string DiffWords::data_name(uint64_t address, Side side) const {
  return words_.data_name(in_a(address, side));
}

namespace {

std::string told(const Spot& spot, const std::string& name, const std::string& instruction) {
  std::string out = fmt::format("{} at {:#x}", spot.seq, spot.pc);
  if (!name.empty()) out += fmt::format(" <{}>", printable(name));
  if (!instruction.empty()) out += fmt::format(" ({})", instruction);
  return out;
}

}  // namespace

std::string DiffWords::one(const Spot& spot, Side side) const {
  const Place here = place(spot, side);
  return "step " + told(spot, here.name, here.instruction);
}

std::string DiffWords::pair(const Spot& a, const Spot& b) const {
  const Place in_a = place(a, A), in_b = place(b, B);
  const bool same_code = in_a.opcode == in_b.opcode || in_b.opcode.empty();
  std::string out = "step " + told(a, in_a.name, in_a.instruction);
  if (a.seq == b.seq && a.pc == b.pc && same_code) return out;
  return out + " | " + told(b, in_b.name == in_a.name ? "" : in_b.name,
                            same_code ? "" : in_b.instruction);
}

}  // namespace tracewell::render
