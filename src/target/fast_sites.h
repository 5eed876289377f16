// Fast sites: places where a thread runs code of ours and goes on, without being stopped or anybody
// being told. What that code is, and what it leaves where, is its maker's business.
//
// Everything here is called between two waits of the target. What changes code that the program may
// be in stops its threads for that, if they run one by one; what only adds to the program stops one
// of them. All-stop, all of it is called while they stand still.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "target/ids.h"

namespace tracewell::target {

class FastSites {
 public:
  /// An instruction of placed code that may fault, and where its thread goes on then; offsets in
  /// the code. Whatever else the program does about such faults, it does not hear of these.
  struct Load {
    uint32_t load = 0, resume = 0;
  };
  /// Memory that the process and we both have.
  struct Shared {
    uint64_t address = 0;      // in the process
    std::span<uint8_t> bytes;  // here; stays when the process is gone
  };
  /// A piece of what XSAVEC stores.
  struct VectorPart {
    uint32_t offset = 0, bytes = 0;  // multiples of 8
    uint64_t component = 0;          // as a bit; it has been stored if that is in use
  };
  /// What code in the process may do.
  struct Processor {
    bool time_stamps = false;    // RDTSC goes on evenly, whatever the processor does
    bool segment_bases = false;  // RDFSBASE and RDGSBASE
    bool faults_do_harm = false;  // Loads shall not fault: the program would notice
    uint64_t vector_components = 0;  // that XSAVEC has to store for the registers; 0 = no XSAVEC
    uint64_t vector_bytes = 0;       // of what it stores then, at most
    std::vector<VectorPart> vector_parts;  // of that
    uint64_t vectors_direct = 0;  // components with instructions to compare their registers by
  };
  /// From here up to there.
  struct Range {
    uint64_t start = 0, end = 0;
  };
  /// What the program has come to do that code in it has to respect.
  struct Conduct {
    bool filters_calls = false;   // system calls of placed code may end it
    bool may_yield = false;       // such a call that lets others run is worth it, and does no harm
    bool supplies_pages = false;  // of its memory, by threads of its own (userfaultfd)
    bool faults_do_harm = false;  // as of Processor
    bool stays_inside = false;    // a thread cannot be led out of placed code
    bool faults_are_mended = false;  // loads of what is readable() may fault all the same
    bool has_new_handlers = false;   // learn_handlers() is to be called, while it stands still
    std::vector<uint64_t> gone;   // sites whose code is not what we made of it: to be removed
  };
  /// Registers as code in the process has found them.
  struct Found {
    uint64_t general[16] = {};  // as instructions number them
    uint64_t rip = 0, eflags = 0, fs_base = 0, gs_base = 0;
    uint16_t cs = 0, ss = 0, ds = 0, es = 0, fs = 0, gs = 0;
    Bytes vectors;  // of XSAVEC; may be empty
  };
  /// A thread, and where its fs segment begins.
  struct ThreadBase {
    int64_t tid = 0;
    int64_t own = 0;  // what it knows itself by, in its PID namespace
    uint64_t fs_base = 0;
    bool points_to_itself = false;  // the word there is the address of it
    bool is_other = false;  // of a process beside this one, which may have anybody's base
  };
  /// What faults of loads did to handlers of the program's, so far. See Conduct::faults_are_mended.
  struct Mended {
    uint64_t restored = 0;  // the kernel had taken one away, and it is there again
    uint64_t lost = 0;      // nobody knew what was there
  };
  virtual ~FastSites() = default;

  /// A system call that placed code makes by itself, by its number on x86-64.
  struct Call {
    uint32_t number = 0;
    const char* name = "";
  };

  /// Can there be fast sites in this process at all? Unsupported, with the reason, if not.
  virtual Result<Processor> processor(Pid pid) = 0;
  /// While it runs, of a few of its threads and sites: others at each call.
  virtual Conduct conduct(Pid pid) = 0;
  /// What handlers for faults it has: where the kernel takes one away since a load has failed, it
  /// is put back from then on. Returns where in the process code of ours may write down what they
  /// are later (tracewell_fault_actions). Unsupported where that cannot be done.
  virtual Result<uint64_t> learn_handlers(Pid pid) = 0;
  virtual Mended mended(Pid pid) = 0;
  /// Memory that can be loaded from now, in order, and where nothing but a value comes of it. Not
  /// where such a load has failed all the same.
  virtual std::vector<Range> readable(Pid pid) = 0;
  /// Zeroed. One for each process; given back by release(). Unsupported, with the reason, where the
  /// program filters its system calls, and one of these could be forbidden to one of its threads.
  virtual Result<Shared> share(Pid pid, uint64_t bytes, std::span<const Call> calls) = 0;
  /// So that the process need not wait for it when it first writes there: pages of what is shared
  /// are made here, soon. Where the process has a limit of its own, and would be charged for them,
  /// they are there before it can write.
  virtual void populate(Pid pid, const std::vector<Range>& ranges) = 0;
  /// HitHandler::on_poll() is to be called, besides on_tick(), with so much time in between; not at
  /// all for 0, as at first.
  virtual void hurry(std::chrono::microseconds pause) = 0;
  /// Stops all of them for a moment.
  virtual std::vector<ThreadBase> threads(Pid pid) = 0;
  /// How many there are. Nobody is stopped.
  virtual size_t thread_count(Pid pid) = 0;
  /// Has another process run in its memory since there are pads, or does one now: of CLONE_VM, or a
  /// child of vfork, whose hits are its parent's as far as can be told?
  virtual bool has_others(Pid pid) const {
    (void)pid;
    return false;
  }
  /// Puts code where threads can run it, at a multiple of 64, and returns where. `code` is called
  /// with the address and makes the bytes, always as many.
  using MakeCode = std::function<std::vector<uint8_t>(uint64_t address)>;
  virtual Result<uint64_t> place(Pid pid, uint64_t bytes, const MakeCode& code,
                                 std::span<const Load> loads) = 0;
  /// Changes what place() has put there, while threads may run it: one byte of it, so that each of
  /// them finds either what was there or what is. Nothing of a program that runs there now.
  virtual void change(Pid pid, uint64_t address, uint8_t byte) = 0;
  /// From now on each thread runs `slot` before the instruction at `address`: position-independent
  /// bytes, at a multiple of 8, entered at their start and left at their end with everything as it
  /// was. One at an address. Unsupported, with the reason, where the instruction cannot be led
  /// there; Limit where a breakpoint is near.
  virtual Status insert(Pid pid, uint64_t address, Bytes slot) = 0;
  /// Does this while all threads stand still.
  virtual void while_still(const std::function<void()>& what) = 0;
  /// The process may write to what is shared from now on: see populate().
  virtual void expect_hits(Pid pid) = 0;
  /// Sites that are inserted from now on are made ready, and take effect all together by commit().
  virtual void make_ready(Pid pid) = 0;
  /// Those that could not take effect are gone: their addresses.
  virtual std::vector<uint64_t> commit(Pid pid) = 0;
  virtual void remove(Pid pid, uint64_t address) = 0;
  /// Is the site there still? Who puts a breakpoint into its code makes a trap of it.
  virtual bool stands(Pid pid, uint64_t address) const = 0;
  /// Is the code around a place where a site was what it was then?
  virtual bool is_as_before(Pid pid, uint64_t address) = 0;
  /// `block` has the layout's size; registers that were not found are 0.
  virtual void to_block(const Found& found, std::span<uint8_t> block) = 0;
  /// Where bytes of ours may be: from here up to there.
  virtual std::pair<uint64_t, uint64_t> changed_range(Pid pid) = 0;
  /// Are there any?
  virtual bool is_changed(Pid pid, uint64_t address, uint64_t bytes) = 0;
  /// Puts the program's own bytes in place of ours, in what was read from `address`.
  virtual void hide(Pid pid, uint64_t address, std::span<uint8_t> bytes) = 0;
  /// No sites, no placed code, and nothing shared. `shared.bytes` goes. May be called from inside
  /// of a hit: it is done as soon as it can be.
  virtual void release(Pid pid) = 0;

  /// A slot has at most this many bytes.
  static constexpr uint32_t kSlotBytesMax = 24;
};

}  // namespace tracewell::target
