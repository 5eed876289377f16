// One address space under our care: its memory, the breakpoint bytes we put there, and the copies
// of the instructions under them. Processes between vfork and exec share one.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/files/file.h"
#include "base/result.h"
#include "machine/relocate.h"
#include "pads/code.h"
#include "pads/sweep.h"
#include "target/linux/kernel/ptrace.h"
#include "target/target.h"

namespace tracewell::target::live {

class FastCode;

/// A breakpoint byte in the program's code, whoever wants it.
struct Patch {
  uint8_t original = 0;
  bool breakpoint = false;  // the debugger's
  bool site = false;        // a tracepoint's
  bool in_32_bit_code = false;  // what `how` is about
  /// How a thread gets past it; nothing until it is needed.
  std::optional<machine::DisplacedCode::How> how;
  uint64_t copy = 0;  // how == Copy: where it stands
};

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

class AddressSpace {
 public:
  AddressSpace();
  ~AddressSpace();
  AddressSpace(const AddressSpace&) = delete;
  AddressSpace& operator=(const AddressSpace&) = delete;

  static constexpr uint8_t kInt3 = 0xcc;
  static constexpr uint64_t kSlotBytes = machine::kDisplacedBytesMax;
  static constexpr uint64_t kArenaBytes = 16384;
  static constexpr size_t kInstructionMax = 15;

  /// Memory of this thread's process, for as long as that runs the same program. Where there is no
  /// descriptor left, one that is held back is taken: is_spare, to be let go of soon.
  static Result<std::shared_ptr<AddressSpace>> open(Tid tid);
  /// From now on nothing can be read or written.
  void close() { fd_.reset(); }

  /// Bytes read: the readable prefix. `raw`: with our patches.
  size_t read(uint64_t address, std::span<uint8_t> into) const;
  size_t read_raw(uint64_t address, std::span<uint8_t> into) const;
  /// All or nothing; our patches stay.
  Status write(uint64_t address, Bytes bytes);
  Status write_raw(uint64_t address, Bytes bytes);
  template <class T>
  std::optional<T> read_value(uint64_t address) const {
    T value{};
    auto* bytes = reinterpret_cast<uint8_t*>(&value);
    if (read(address, {bytes, sizeof value}) != sizeof value) return std::nullopt;
    return value;
  }
  /// A string of at most `max` bytes, up to its NUL or what is readable.
  std::string read_text(uint64_t address, size_t max) const;
  /// Puts the original bytes over our patches in what was read from `address`.
  void hide_patches(uint64_t address, std::span<uint8_t> bytes) const;
  /// All patches are from here up to there; 0 and 0: there are none.
  std::pair<uint64_t, uint64_t> changed_range() const;
  /// Is there a byte of ours?
  bool is_changed(uint64_t address, uint64_t bytes) const;

  Patch* find(uint64_t address);
  /// Is there one in that range?
  bool has_patch(uint64_t address, uint64_t bytes) const;
  /// The patch at `address`, put there now if need be.
  Result<Patch*> add(uint64_t address);
  /// Is its byte still there? A program may have put other code there, or its file's own again.
  bool is_in_force(uint64_t address) const;
  /// Takes it out when nobody wants it any more.
  Status drop_if_unused(uint64_t address);
  /// Takes it out, or puts it back, for a moment.
  Status expose(uint64_t address, bool exposed);
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
  /// How many traps of this memory are in one that may be a copy of it.
  size_t traps_in(const AddressSpace& copy) const;

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

  /// Restartable sequences of images, by where their code begins, once somebody has asked.
  struct Sequences {
    MappingsPrint image{};  // as it was mapped then
    std::vector<pads::Range> ranges;  // as pads::RestartableSequences has them
    std::vector<uint64_t> starts;
  };
  std::map<uint64_t, Sequences> sequences;
  /// What was known of code when tracepoints were put there last, by where it begins.
  std::map<uint64_t, pads::Known> known_code;

  std::optional<uint32_t> owner;  // the user whose program it was when it was opened
  bool is_32_bit = false;       // the program is
  uint64_t system_call_at = 0;  // an instruction that makes one; 0 = not looked for yet
  std::optional<MappingsPrint> without_system_call;  // where it was looked for in vain
  bool cannot_map = false;      // tried, refused
  int64_t no_calls_until_ns = 0;  // a thread that was to make one for us did not
  bool is_spare = false;        // there are no descriptors for it to stay

 private:
  void restore(uint64_t address, uint8_t original);
  void keep_removed(uint64_t address, uint8_t original);
  bool change_count(uint64_t address, bool raise);
  void lower_all();
  void lower_as(const AddressSpace& parent);
  UniqueFd fd_;
  std::map<uint64_t, Patch> patches_;
  std::map<uint64_t, uint8_t> removed_;  // for forks that are still to be seen
  std::map<uint64_t, uint32_t> raised_;   // how often
  std::map<uint64_t, uint32_t> lowered_;  // since: for forks that are still to be seen
  std::vector<Arena> arenas_;
};

}  // namespace tracewell::target::live
