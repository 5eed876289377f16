// How long the tracer waits for a thread that may never do what it is waited for: a traced program,
// or a file system that it uses, may keep it in the kernel for ever. A blocking waitpid() looks up
// now and then, for which a thread of ours nudges the bell; a wait that is over soon costs nothing.
#pragma once

#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>

#include "base/result.h"
#include "target/linux/stops/bell.h"

namespace tracewell::target::live {

constexpr int64_t kMilli = 1'000'000;
constexpr int64_t kSecond = 1000 * kMilli;

int64_t monotonic_ns();
void pause_for(int64_t ns);
constexpr int64_t kPauseMinNs = 20'000, kPauseMaxNs = 2 * kMilli;  // between looks at a thread

/// While one of its Waits lives, wait_once(true) returns every few milliseconds, and the waiting
/// thread gets a signal if it is to be knocked.
class Nudger {
 public:
  static constexpr int kKnock = SIGURG;  // which does nothing where nobody has a handler

  explicit Nudger(Bell& bell) : bell_(bell) {}
  ~Nudger();
  /// Before the first wait, for who has to know. Io when there may be no more threads.
  Status start();
  Nudger(const Nudger&) = delete;
  Nudger& operator=(const Nudger&) = delete;

  class Wait {
   public:
    explicit Wait(Nudger& nudger, bool knocked = false) : nudger_(nudger), knocked_(knocked) {
      nudger_.begin(knocked_);
    }
    ~Wait() { nudger_.end(knocked_); }
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;

   private:
    Nudger& nudger_;
    bool knocked_;
  };

 private:
  void begin(bool knocked);
  void end(bool knocked);
  void run();

  Bell& bell_;
  int waits_ = 0;
  std::atomic<bool> waiting_{false}, asleep_{false};
  std::atomic<Tid> knocked_{0};  // 0: nobody is to be
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
  std::thread thread_;
};

/// A bound of time, which a signal to quit makes short.
class Patience {
 public:
  static constexpr int64_t kQuitNs = 500 * kMilli;
  Patience(int64_t ns, const std::function<bool()>& quits, int64_t quit_ns = kQuitNs)
      : quits_(quits), ns_(ns), quit_ns_(quit_ns) {}
  /// The first call sets the clock going.
  bool over();
  /// Since the first call.
  int64_t waited_ns() const { return start_ == 0 ? 0 : now_ - start_; }
  bool quitting() const { return quitting_; }

 private:
  const std::function<bool()>& quits_;
  int64_t ns_, quit_ns_, start_ = 0, now_ = 0;
  bool quitting_ = false;
};

}  // namespace tracewell::target::live
