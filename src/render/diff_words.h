// How `diff` names steps of its two traces: their instructions, and what the program calls places.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "render/step_words.h"
#include "model/stream.h"
#include "timeline/diff/diff.h"

namespace tracewell::render {

class DiffWords {
 public:
  /// All but `names` must outlive this. `names` are of A's addresses: B's are looked up where they
  /// are in A.
  DiffWords(const timeline::DiffSide& a, const timeline::DiffSide& b,
            const timeline::DiffReport& report, trace::AddressNames names);

  enum Side : uint8_t { A, B };
  struct Place {
    std::string name;         // "match+19 at book.c:19"; "" = nothing is known
    std::string instruction;  // "" when it is none, or cannot be read again
    std::vector<uint8_t> opcode;
  };
  Place place(const timeline::Spot& spot, Side side) const;
  /// "step 44 at 0x401018 <match+19> (jnz 0x401005) | 56 at …"; once what both have in common.
  std::string pair(const timeline::Spot& a, const timeline::Spot& b) const;
  std::string one(const timeline::Spot& spot, Side side) const;
  std::string data_name(uint64_t address, Side side) const;

 private:
  uint64_t in_a(uint64_t address, Side side) const;

  const StepIndex& a_;
  const StepIndex& b_;
  const timeline::DiffReport& report_;
  StepWords words_;
};

}  // namespace tracewell::render
