// Standard input as a file, for those who read it more than once.
#pragma once

#include <string>

#include "base/files/file.h"
#include "base/result.h"

namespace tracewell::trace {

/// A file that only its owner may read, and that has no name: it is gone with the last who has it
/// open or mapped, however they end.
class Spool {
 public:
  /// Takes what comes until the end; of what is not `wanted`, judged as InputFile does, the
  /// beginning. Empty when standard input is a file already.
  static Result<Spool> standard_input(const InputFile::Wanted& wanted);

  bool empty() const { return !fd_.valid(); }
  /// By which it can be opened as long as this lives.
  std::string path() const;

 private:
  UniqueFd fd_;
};

}  // namespace tracewell::trace
