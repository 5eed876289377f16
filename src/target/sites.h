// Tracepoint sites, as the engine sees them: it is told of hits, and looks at the thread that hit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/bytes.h"
#include "base/result.h"
#include "target/fast_sites.h"
#include "target/ids.h"

namespace tracewell::target {

/// A thread that stands at a tracepoint site. Valid only during the call that hands it out.
class HitContext {
 public:
  struct Range {
    uint64_t address = 0;
    std::span<uint8_t> into;
    size_t got = 0;  // readable prefix, in bytes
  };
  virtual ~HitContext() = default;
  virtual Pid pid() const = 0;
  virtual Tid tid() const = 0;
  /// The processor that the thread was on; nullopt where that cannot be told.
  virtual std::optional<int64_t> processor() { return std::nullopt; }
  /// The site's address for a hit; where the thread now is for a step.
  virtual uint64_t pc() const = 0;
  /// The register by the protocol's number, zero-extended. Cheap for general registers. false =
  /// there is none such, or it is wider than 64 bits.
  virtual bool read_register(uint32_t number, uint64_t& value) = 0;
  /// The whole block in the layout's order, pc corrected; read from the kernel at the first call.
  virtual Bytes registers() = 0;
  /// Bytes as the program sees them (without our patches). All ranges in one system call where the
  /// host has one. Addresses are cut to the program's width.
  virtual void read_memory(std::span<Range> ranges) = 0;
};

/// Who is told of hits. Called while only the thread that hit is stopped.
class HitHandler {
 public:
  enum class Next : uint8_t {
    Continue,
    Step,  // step this one thread by one instruction, then call on_step
  };
  virtual ~HitHandler() = default;
  virtual Next on_hit(HitContext& hit) = 0;
  virtual Next on_step(HitContext& hit) = 0;
  /// The thread has ended, or its process, before its steps were done.
  virtual void on_end(Tid tid) { (void)tid; }
  /// The process runs another program by now, which has none of its sites; whether a debugger wants
  /// to be told or not. No moment to touch it: on_tick() comes soon, inside of wait().
  virtual void on_exec(Pid pid) { (void)pid; }
  /// A thread of a process with fast sites that has not run yet. No moment to touch the process.
  virtual void on_thread(const FastSites::ThreadBase& thread) { (void)thread; }
  /// A thread of a process with fast sites is led out of code of ours, and may be waiting for what
  /// it has to say to be taken. No moment to touch the process.
  virtual void on_leave(Tid tid) { (void)tid; }
  /// Loads of what FastSites::readable() has told may do harm from now on, until it is asked again:
  /// one has failed, or a handler is gone. No moment to touch the process.
  virtual void on_failed_load() {}
  /// The thread, of a process with fast sites, is about to end: it runs nothing of the program any
  /// more. No moment to touch the process.
  virtual void on_exit(Tid tid) { (void)tid; }
  /// Now and then inside of wait(), while a process has fast sites, and after on_exec(). Threads
  /// run. True: on_still() is wanted, which is called while they all stand still.
  virtual bool on_tick() { return false; }
  /// All the time inside of wait(), while FastSites::hurry() is on. Threads run.
  virtual void on_poll() {}
  virtual void on_still() {}
};

/// Tracepoint sites: places where a thread is caught, shown to the handler, and goes on by itself
/// without anybody else being stopped: one stop a hit.
class TraceSites {
 public:
  virtual ~TraceSites() = default;
  virtual void set_handler(HitHandler* handler) = 0;
  /// Sites are a set. Inserting what is there, or removing what is not, is fine. Both may be called
  /// from inside on_hit and on_step, and while threads run.
  virtual Status insert(Pid pid, uint64_t address) = 0;
  virtual Status remove(Pid pid, uint64_t address) = 0;
  /// Adds 1 to a count of 16 bits in the process's memory: how many want to be told of a probe. Not
  /// from inside of on_hit and on_step.
  virtual void raise_count(Pid pid, uint64_t address) = 0;
  /// Takes 1 away again, where raise_count() has added it to this process's memory: not from
  /// another program that it runs by now, and from no other process. A fork's copy has been lowered
  /// when it is told of, and so is what a process has that is let go.
  virtual void lower_count(Pid pid, uint64_t address) = 0;
  virtual FastSites* fast() { return nullptr; }
};

}  // namespace tracewell::target
