// What stands in for a program's file. GDB looks for the libraries of a program when it has opened
// the program, and not before; a PE program that was not where its file wants to be it cannot move.
// So that program is told as a library, and GDB opens this instead: a PE file with nothing in it.
// It does for ELF libraries without their program, too.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/files/file.h"
#include "base/result.h"
#include "target/listed_file.h"

namespace tracewell::target {

/// A file in memory, which others can open as long as this lives.
class StandIn {
 public:
  /// Of PE32+ for 8 bytes, of PE32 for 4.
  static Result<StandIn> create(uint32_t address_bytes);
  /// Under /proc, absolute.
  std::string path() const;
  ListedFile listed() const;

 private:
  StandIn(UniqueFd fd, std::vector<uint8_t> bytes)
      : fd_(std::move(fd)),
        bytes_(std::make_shared<const std::vector<uint8_t>>(std::move(bytes))) {}
  UniqueFd fd_;
  std::shared_ptr<const std::vector<uint8_t>> bytes_;
};

}  // namespace tracewell::target
