// Fast sites of one address space: the pads that are there, whose bytes stand over the program's,
// and code of ours that pads call. pads/ decides what is written; here it is.
//
// What changes the program is done while all its threads stand still outside of our code.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "base/share_of_time.h"
#include "pads/emit.h"
#include "pads/patches.h"
#include "target/fast_sites.h"
#include "target/linux/kernel/ptrace.h"
#include "target/linux/memory/code_facts.h"
#include "target/linux/memory/patched_memory.h"
#include "target/linux/memory/stretches.h"

namespace tracewell::target::live {

class FaultHandlers;

class FastCode {
 public:
  /// Maps memory in the program at exactly this place, to be executed. False: it cannot be had.
  using Map = std::function<bool(uint64_t start, uint64_t bytes)>;

  /// In this memory, where `known` is what was known of code when there was fast code last.
  FastCode(PatchedMemory& memory, KnownCode& known);
  /// What still stands in the program's code counts as the program's own from then on.
  ~FastCode();
  FastCode(const FastCode&) = delete;
  FastCode& operator=(const FastCode&) = delete;

  /// Where memory that is far from everything is best had: nobody maps anything there by himself,
  /// so the program's own memory comes to be where it would be without us. At random, since the
  /// program, and who has got into it, is not to know where code of ours is.
  static uint64_t far_away();

  /// `stop`: is the server to end? May be empty.
  Status insert(uint64_t address, Bytes slot, const AddressLayout& layout, const Map& map,
                const std::function<bool()>& stop);
  /// From now on insert() makes everything ready but the program's own code, until commit().
  void make_ready() { waits_ = true; }
  bool waits() const { return waits_; }
  /// The program's code leads to all that was made ready. Threads stand still. Those whose code is
  /// not what it was are gone: their addresses.
  std::vector<uint64_t> commit();
  void remove(uint64_t address);
  bool has(uint64_t site) const { return slots_.contains(site); }
  /// Is it known that no instruction begins there? Where nobody has asked for a site nearby, no.
  bool splits_instruction(uint64_t address) const;
  /// The program's own bytes are back everywhere.
  void remove_all();
  std::vector<uint64_t> sites() const;
  /// Those that have to go before anybody may write to this place.
  std::vector<uint64_t> sites_around(uint64_t address, uint64_t bytes) const;

  /// Code of ours that was placed by itself.
  void add_code(uint64_t start, Bytes code, std::span<const FastSites::Load> loads);
  /// One byte of it is another one now; threads may be inside.
  void change(uint64_t address, uint8_t byte);
  /// Is what stands there still what was written?
  bool is_ours(uint64_t pc) const;

  /// What a place in a pad or in placed code means.
  struct Place {
    uint64_t pc = 0;      // of the program
    uint64_t sp_undo = 0;
    bool exact = false;   // the thread's registers are the program's, but for these two
    bool done = false;    // behind the instruction
  };
  /// nullopt: the program's own code.
  std::optional<Place> place_of(uint64_t pc) const;
  bool inside(uint64_t pc) const { return place_of(pc).has_value(); }
  /// Where a thread goes on that ran into a trap of ours (SIGTRAP, SIGILL) at this place, or whose
  /// load there failed (SIGSEGV, SIGBUS).
  std::optional<uint64_t> redirected(int signal, uint64_t pc) const;
  /// Where a thread goes on that has been through the site's slot; nullopt when no pad has it.
  std::optional<uint64_t> behind_slot(uint64_t pc) const;

  /// Where a site was.
  bool is_as_before(uint64_t address) const;
  /// Sites whose place the program has written to since, or unmapped. Looks at a few, behind those
  /// that it was asked for before.
  std::vector<uint64_t> gone();

  /// What we mapped into the program, and what of the last piece for code is free.
  struct Mapped {
    uint64_t start = 0, bytes = 0;
    bool shared = false;  // with us
  };
  std::vector<Mapped> mapped;
  std::vector<pads::Range> mapped_ranges() const {
    std::vector<pads::Range> out;
    for (const Mapped& one : mapped) out.push_back({one.start, one.start + one.bytes});
    return out;
  }
  Mapped room;
  bool unwanted = false;  // to go when threads stand still
  bool had_others = false;    // another process has begun in this memory
  bool is_nested = false;     // threads know themselves by other numbers than we do
  bool locks_memory = false;  // what the program maps is locked (mlockall)
  /// A thread may be inside that could not be led out. What it runs stays as it is: sites go by the
  /// program's own bytes alone, and there can be no more of them.
  bool stays_inside = false;
  ShareOfTime looks_at_descriptors{99};  // the program's
  uint32_t steps_in_vain = 0;  // of threads that were to be led out, and were not
  /// A handler of signals was started from inside and may return there, however much later: the
  /// memory is left to the program.
  bool has_handler = false;
  std::shared_ptr<FaultHandlers> handlers;  // where loads may fail though the program handles that

 private:
  struct Segment {
    Segment(const CodeFacts& facts, const std::vector<pads::Range>& taken, uint32_t spread);
    pads::Code code;
    pads::Patches patches;
    uint64_t code_bytes = 0;  // that take memory
    std::set<uint64_t> pages;
  };
  struct Placed {
    uint64_t start = 0;
    std::vector<uint8_t> code;
    std::map<uint64_t, uint64_t> loads;  // addresses
  };
  Result<Segment*> segment_at(uint64_t address, const AddressLayout& layout,
                              const std::function<bool()>& stop);
  void keep(const pads::Known& known);
  bool is_as_known(const Segment& segment, uint64_t address) const;
  pads::Plan prepare(Segment& segment, uint64_t address, const Map& map) const;
  bool map_pads(Segment& segment, const pads::Plan& plan, const Map& map) const;
  Status write_pads(const Segment& segment, uint64_t site);
  Status write_patch(const Segment& segment, const pads::Plan& plan);
  void take_out(const Segment& segment, const pads::Plan& plan);
  const pads::Pad* pad_at(uint64_t pc) const;
  Segment* owner(uint64_t site) const;

  PatchedMemory& memory_;
  KnownCode& known_;
  const uint32_t spread_;  // of pads
  std::vector<std::unique_ptr<Segment>> segments_;
  std::map<uint64_t, std::vector<uint8_t>> slots_;      // by site
  std::map<uint64_t, std::vector<uint64_t>> pads_of_;   // by the site of their plan: addresses
  std::map<uint64_t, pads::Pad> pads_;                  // by address
  std::map<uint64_t, uint64_t> guards_;                 // address, the site of its plan
  uint64_t looked_up_to_ = 0;  // of what is covered, by gone()
  bool waits_ = false;
  std::map<uint64_t, pads::Plan> ready_;  // by site: what commit() is to write
  Stretches<Placed> placed_;
};

}  // namespace tracewell::target::live
