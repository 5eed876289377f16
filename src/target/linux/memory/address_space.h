// One address space under our care: its memory, the copies of the instructions under breakpoint
// bytes that we put there, and what else belongs to it. Processes between vfork and exec share one.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "base/bytes.h"
#include "base/files/file.h"
#include "base/result.h"
#include "machine/relocate.h"
#include "target/linux/kernel/ptrace.h"
#include "target/linux/memory/code_facts.h"
#include "target/linux/memory/patched_memory.h"
#include "target/target.h"

namespace tracewell::target::live {

class FastCode;

/// A copy as it stands in the program's memory. Kept until the arena goes, because threads may be
/// inside.
struct PlacedCopy {
  uint64_t site = 0;
  uint64_t at = 0;
  bool in_32_bit_code = false;
  std::vector<uint8_t> original;
  machine::DisplacedCode code;
};

/// Pages that we mapped into the program for copies.
struct Arena {
  uint64_t start = 0;
  uint64_t size = 0;
  std::vector<PlacedCopy> slots;  // kSlotBytes each
};

class AddressSpace : public PatchedMemory {
 public:
  AddressSpace();
  explicit AddressSpace(UniqueFd memory);
  ~AddressSpace();

  static constexpr uint64_t kSlotBytes = machine::kDisplacedBytesMax;
  static constexpr uint64_t kArenaBytes = 16384;

  /// Memory of this thread's process, for as long as that runs the same program. Where there is no
  /// descriptor left, one that is held back is taken: is_spare, to be let go of soon.
  static Result<std::shared_ptr<AddressSpace>> open(Tid tid);

  /// Takes all of ours out, but fast sites.
  void remove_all();
  /// Adds 1 to the count of 16 bits there. It is ours to take back: when lower() is called for it,
  /// in the copy that a fork has, and when all of ours goes.
  void raise(uint64_t address);
  /// Only what was raised in this memory. A count that is 0 by then stays so.
  void lower(uint64_t address);
  /// A fork's memory is a copy of `parent`'s, with the patches of now or of a moment ago.
  /// Keeps the debugger's breakpoints if told so, takes all others out.
  void adopt_from_fork(const AddressSpace& parent, bool keep_breakpoints);
  /// May a fork that is still to be seen have something of ours?
  bool has_left_traps() const;

  const PlacedCopy* copy_at(uint64_t pc) const;
  const PlacedCopy* find_copy(uint64_t site, Bytes original, bool in_32_bit_code) const;
  bool has_copies() const { return !arenas_.empty(); }
  std::vector<Arena>& arenas() { return arenas_; }

  /// Fast sites and what belongs to them; null when there are none.
  std::unique_ptr<FastCode> fast;

  /// Memory of ours in the program that this is a fork of: LiveFastSites::unshare().
  struct Inherited {
    uint64_t start = 0, bytes = 0;
    bool shared = false;  // with us
  };
  std::vector<Inherited> inherited;
  bool returns_into_inherited = true;  // perhaps: its thread was forked inside of a hit
  /// Of a fork of this memory, whose thread is there.
  bool may_return_into_hit(uint64_t pc) const;

  /// So many filters of system calls each of its threads had, when they were read, and allowed what
  /// placed code does; 0: none. See call_filters.h.
  uint32_t allowed_filters = 0;

  /// Where sites have been. A program may have its code writable for a while in place of
  /// executable; a site that comes back then is none at data.
  std::set<uint64_t> was_code;

  /// Once somebody has asked.
  KnownSequences sequences;
  /// What was known of code when tracepoints were put there last.
  KnownCode known_code;

  std::optional<uint32_t> owner;  // the user whose program it was when it was opened
  uint64_t system_call_at = 0;  // an instruction that makes one; 0 = not looked for yet
  std::optional<MappingsPrint> without_system_call;  // where it was looked for in vain
  bool cannot_map = false;      // tried, refused
  int64_t no_calls_until_ns = 0;  // a thread that was to make one for us did not
  bool is_spare = false;        // there are no descriptors for it to stay

 private:
  bool change_count(uint64_t address, bool raise);
  void lower_all();
  void lower_as(const AddressSpace& parent);
  std::map<uint64_t, uint32_t> raised_;   // how often
  std::map<uint64_t, uint32_t> lowered_;  // since: for forks that are still to be seen
  std::vector<Arena> arenas_;
};

}  // namespace tracewell::target::live
