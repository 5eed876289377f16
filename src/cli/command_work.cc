#include "cli/command_work.h"

#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/process/interrupt.h"
#include "base/process/terminal.h"

namespace tracewell::cli {
namespace {

/// "…: N events" on standard error, rewritten in place, when it is a terminal and the work takes
/// longer than a second. Erases itself. With `lines`, where it is none: a line every two seconds.
class Progress final : public Stage {
 public:
  Progress(std::string_view what, std::optional<uint64_t> total, bool lines)
      : what_(what),
        total_(total),
        in_place_(errors_are_terminal()),
        wanted_(in_place_ || lines),
        next_(Clock::now() + std::chrono::seconds(1)) {}
  ~Progress() override {
    if (shown_ && in_place_) fmt::print(stderr, "\r\x1b[K");
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void at(uint64_t done) override {
    if (!wanted_ || Clock::now() < next_) return;
    next_ = Clock::now() + std::chrono::milliseconds(in_place_ ? 200 : 2000);
    shown_ = true;
    const std::string of =
        total_ && *total_ != 0 ? fmt::format(" of {} ({}%)", *total_, done * 100 / *total_) : "";
    if (in_place_) fmt::print(stderr, "\r\x1b[K{}: {}{}", what_, done, of);
    else fmt::print(stderr, "tracewell: {}: {}{}\n", what_, done, of);
    std::fflush(stderr);
  }

 private:
  using Clock = std::chrono::steady_clock;
  std::string what_;
  std::optional<uint64_t> total_;
  bool in_place_;
  bool wanted_;
  bool shown_ = false;
  Clock::time_point next_;
};

}  // namespace

Work command_work(bool lines) {
  Work work;
  work.stop = [] { return interrupted() != 0; };
  work.begins = [lines](std::string_view what, std::optional<uint64_t> total) {
    return std::make_unique<Progress>(what, total, lines);
  };
  work.notice = [](std::string_view sentence) { fmt::print(stderr, "tracewell: {}\n", sentence); };
  return work;
}

}  // namespace tracewell::cli
