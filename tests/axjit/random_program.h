// Random expressions that verify: all opcodes, branches forwards and backwards, deep stacks, and
// the shapes that a debugger's compiler makes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tracewell::axjit {

/// splitmix64: one word of state, so that each program can have a seed of its own.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t operator()() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  uint64_t below(uint64_t end) { return operator()() % end; }
  bool one_in(uint64_t n) { return below(n) == 0; }

 private:
  uint64_t state_;
};

/// Registers 0 to 8 and variables 1 to 6 are there; others are asked for now and then. `addresses`
/// are worth reading at.
std::vector<uint8_t> random_program(Random& random, std::span<const uint64_t> addresses);

}  // namespace tracewell::axjit
