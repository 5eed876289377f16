// Random accesses to memory that others write, too.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "model/batch.h"
#include "timeline/naive_flow.h"
#include "timeline/true_memory.h"

namespace tracewell::timeline::test {

struct RandomOptions {
  uint32_t steps = 1000;
  unsigned threads = 1;
  bool is_64 = true;
  unsigned sessions_per_mille = 0;  // of steps
  unsigned losses_per_mille = 0;    // of steps
  unsigned calls_per_mille = 0;     // system calls, of steps
  unsigned incomplete_per_mille = 0;  // of steps, accesses of which are left out
  bool lost_at_end = false;           // something behind the last step
  bool large = false;                 // some accesses are
  /// Others write memory in system calls, where another thread goes on, or the thread where no
  /// instruction has led it, and in gaps, and nowhere else. What nobody tells of instructions is by
  /// others, too.
  bool honest = false;
};

class RandomAccesses {
 public:
  RandomAccesses(uint32_t seed, const RandomOptions& options)
      : options_(options), top_(options.is_64 ? UINT64_MAX : UINT32_MAX), random_(seed) {}

  /// Where accesses are; with some places where none is.
  uint64_t some_address() {
    switch (below(8)) {
      case 0: return top_ - below(40);
      case 1: return below(20);
      default: return 0x7000 + below(options_.steps < 2000 ? 200 : 2000);
    }
  }
  uint64_t below(uint64_t limit) { return random_() % limit; }
  bool chance(unsigned percent) { return below(100) < percent; }

  /// Of an honest trace.
  const TrueMemory& memory() const { return memory_; }

 protected:
  Bytes some_bytes(size_t size) {
    std::vector<uint8_t> bytes(size);
    // Small numbers, and repeated ones, are what programs have.
    for (uint8_t& byte : bytes) byte = chance(60) ? 0 : static_cast<uint8_t>(below(3));
    return batch_.copy(Bytes(bytes));
  }

  /// Not what the step itself left.
  void others_write(uint64_t moment, std::span<const Step::MemoryAccess> own) {
    if (!options_.honest) return;
    for (uint64_t i = below(60); i > 0; --i) {
      const uint64_t address = some_address();
      const bool left = std::ranges::any_of(own, [&](const Step::MemoryAccess& one) {
        return !one.new_bytes.empty() && address - one.address < one.size;
      });
      if (!left) memory_.put(moment, address, static_cast<uint8_t>(below(256)));
    }
  }

  void add_memory(uint64_t seq, Step& step) {
    std::vector<Step::MemoryAccess> accesses;
    const bool is_large = options_.large && below(300) == 0;
    if (is_large) accesses.push_back(large(seq));
    for (uint64_t i = !is_large && chance(60) ? 1 + below(2) : 0; i > 0; --i) {
      Step::MemoryAccess access;
      // Sometimes where the last one was.
      access.address = accesses.empty() || chance(70) ? some_address()
                                                      : accesses.back().address + below(4);
      access.kind = static_cast<Step::MemoryAccess::Kind>(below(4));
      static constexpr uint32_t kSizes[] = {1, 2, 4, 8, 8, 10, 16, 32};
      access.size = chance(98) ? kSizes[below(8)] : static_cast<uint32_t>(below(600));
      // Behind the last address of all there is nothing.
      if (options_.honest && access.size > 0)
        access.size = static_cast<uint32_t>(
            std::min<uint64_t>(access.size - 1, UINT64_MAX - access.address) + 1);
      if (chance(90)) access.old_bytes = content(access.address, access.size);
      const bool writes = access.kind == Step::MemoryAccess::Kind::Write ||
                          access.kind == Step::MemoryAccess::Kind::ReadWrite;
      if ((writes || (chance(3) && !options_.honest)) && chance(80)) {
        access.new_bytes = some_bytes(access.size);
        for (uint32_t n = 0; n < access.size; ++n)
          memory_.put(seq + 1, access.address + n, access.new_bytes[n]);
      } else if (writes && options_.honest && access.old_bytes.empty()) {
        for (uint32_t n = 0; n < access.size; ++n)
          memory_.put(seq + 1, access.address + n, static_cast<uint8_t>(below(256)));
      }
      accesses.push_back(access);
    }
    step.memory = batch_.copy_array(std::span<const Step::MemoryAccess>(accesses));
  }
  /// It ends behind where most accesses are, and what is too much for any instruction begins there.
  Step::MemoryAccess large(uint64_t seq) {
    Step::MemoryAccess access;
    access.address = 0x7000 - kLarge + below(300);
    access.size = static_cast<uint32_t>(kLarge + 1 + below(300));
    access.kind = chance(70) ? Step::MemoryAccess::Kind::Write : Step::MemoryAccess::Kind::Read;
    if (writes_memory(access) && options_.honest)
      for (uint64_t i = 0x7000; i < access.address + access.size; ++i)
        memory_.put(seq + 1, i, static_cast<uint8_t>(below(256)));
    return access;
  }
  Bytes content(uint64_t address, uint32_t size) {
    std::vector<uint8_t> bytes(size);
    for (uint32_t i = 0; i < size; ++i) {
      if (!options_.honest && chance(2))  // somebody else's doing
        memory_.put(0, address + i, static_cast<uint8_t>(below(256)));
      bytes[i] = memory_.now(address + i);
    }
    return batch_.copy(Bytes(bytes));
  }

  const RandomOptions options_;
  const uint64_t top_;
  Batch batch_;

 private:
  std::mt19937_64 random_;
  TrueMemory memory_;
};

}  // namespace tracewell::timeline::test
