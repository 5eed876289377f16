// Little programs of bytes, and what is planned for them.
#pragma once

#include <cstdint>
#include <vector>

#include "pads/code.h"
#include "pads/patches.h"
#include "pads/planner.h"

namespace tracewell::pads {

constexpr uint64_t kAt = 0x5555'5555'0000;
constexpr uint32_t kSlotBytes = 64;

struct Program {
  std::vector<uint8_t> bytes;
  std::vector<Range> functions = {};  // none: all of it is one
  std::vector<uint64_t> entries = {};
  std::vector<Area> data = {};
  std::vector<Range> kept = {};
  std::vector<uint64_t> kept_ends = {};

  Code code() const {
    CodeInput input;
    input.code = {kAt, bytes};
    input.functions = functions;
    if (functions.empty()) input.functions = {{kAt, kAt + bytes.size()}};
    input.entries = entries;
    input.data = data;
    input.kept = kept;
    input.kept_ends = kept_ends;
    return Code(input);
  }
};

inline PadSpace empty_space() { return PadSpace({{kAt, kAt + 0x1000}}); }

/// A little world: code, nothing patched, an empty address space around it.
struct World {
  explicit World(const Program& program, PadSpace space = empty_space(), uint32_t spread = 0)
      : code(program.code()),
        patches(code, std::move(space), kSlotBytes, spread),
        planner(patches) {}
  Plan plan(uint64_t offset) const { return planner.plan(kAt + offset); }
  Plan add(uint64_t offset) {
    Plan plan = this->plan(offset);
    patches.add(plan);
    return plan;
  }

  Code code;
  Patches patches;
  Planner planner;
};

}  // namespace tracewell::pads
