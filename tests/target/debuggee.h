// Drives the live target against the programs of tests/inferiors. Every wait has a watchdog: a test
// that hangs ends the test program with a message instead.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "target/linux/linux_target.h"
#include "target/target.h"

namespace tracewell::target {

/// Ends the program when it lives longer than `seconds`.
class Watchdog {
 public:
  explicit Watchdog(int seconds, const char* what = "a wait");
  ~Watchdog();

 private:
  std::mutex mutex_;
  std::condition_variable over_;
  bool done_ = false;
  std::thread thread_;
};

/// Counts hits; keeps what the last one showed.
class CountingHandler : public HitHandler {
 public:
  Next on_hit(HitContext& hit) override;
  Next on_step(HitContext& hit) override;
  void on_end(Tid tid) override { ended.push_back(tid); }

  std::map<uint64_t, uint64_t> hits;  // by address
  std::map<Tid, uint64_t> by_thread;
  std::vector<uint64_t> step_pcs;
  std::vector<Tid> ended;  // while they stepped
  std::vector<uint8_t> block;
  uint64_t steps_wanted = 0;
  bool collect_registers = false;
  uint64_t total() const;

 private:
  std::map<Tid, uint64_t> steps_left_;
};

std::string inferior(const std::string& name);
/// Does the kernel run 32-bit programs? Some are built or started without, and some hypervisors
/// leave the processor without the mode. Tests that need them are skipped there.
bool runs_32_bit_programs();
/// Do debug registers stop programs? Under some hypervisors they can be set and nothing happens.
bool has_debug_registers();
/// Of the symbol table, without load bias; 0 = none such.
uint64_t link_time_address(const std::string& file, const std::string& symbol);

class Debuggee {
 public:
  explicit Debuggee(const LinuxOptions& options = {}) : target(make_linux_target(options)) {}

  /// A program of tests/inferiors; argv[0] is its name.
  StopEvent launch(std::vector<std::string> argv, bool shell = false);
  StopEvent attach(Pid pid);
  /// Where a symbol of the main program is.
  uint64_t symbol(const std::string& name);
  void resume_all(int signal = 0);
  /// The next event; fails the test when wake() came instead.
  StopEvent wait(int seconds = 30);
  StopEvent go(int signal = 0) {
    resume_all(signal);
    return wait();
  }
  StopEvent step(Tid tid, int signal = 0);
  uint64_t register_of(Tid tid, const std::string& name);
  void set_register(Tid tid, const std::string& name, uint64_t value);
  uint64_t pc(Tid tid) { return register_of(tid, target->layout(pid).pc()->name); }
  template <class T>
  T read(uint64_t address) {
    T value{};
    EXPECT_EQ(target->read_memory(pid, address, {reinterpret_cast<uint8_t*>(&value), sizeof value}),
              sizeof value);
    return value;
  }
  void breakpoint(uint64_t address);
  void remove_breakpoint(uint64_t address);
  /// A tracepoint site; hits go to `handler`.
  void site(uint64_t address);

  std::unique_ptr<Target> target;
  CountingHandler handler;
  Pid pid = 0;
  Tid told = 0;  // the thread of the last event

 private:
  std::vector<uint8_t> block(Tid tid);
  std::string program_;
};

/// Runs a program of tests/inferiors untraced; its output, and its wait status in `status`.
std::string run_untraced(std::vector<std::string> argv, int& status);
/// Starts one without waiting; its standard output goes to `out_fd` unless that is -1.
Pid start_untraced(std::vector<std::string> argv, int out_fd = -1);

std::ostream& operator<<(std::ostream& out, StopEvent::Kind kind);

}  // namespace tracewell::target
