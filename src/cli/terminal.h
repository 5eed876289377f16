// What standard output and standard error are connected to.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/work.h"

namespace tracewell::cli {

bool output_is_terminal();
/// Does what is written to `path` go where standard output goes? "-", /dev/stdout, or another name
/// of that file. Asked before the file is made, which may take its name away.
bool is_output(const std::string& path);
/// Escape sequences are welcome on standard output: a terminal, and no NO_COLOR (no-color.org).
bool output_has_color();

/// "…: N events" on standard error, rewritten in place, when it is a terminal and the work takes
/// longer than a second. Erases itself. With `lines`, where it is none: a line every two seconds.
class Progress final : public Stage {
 public:
  explicit Progress(std::string_view what, std::optional<uint64_t> total = {}, bool lines = false);
  ~Progress() override;
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void at(uint64_t done) override;

 private:
  using Clock = std::chrono::steady_clock;
  std::string what_;
  std::optional<uint64_t> total_;
  bool in_place_;
  bool wanted_;
  bool shown_ = false;
  Clock::time_point next_;
};

}  // namespace tracewell::cli
