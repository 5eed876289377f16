// C++ names as people write them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "symbols/work.h"

namespace tracewell::symbols {

/// More than any compiler writes out; a name that unfolds to more is left as it is.
constexpr size_t kWrittenMax = size_t{64} << 10;

/// "_ZN4book5matchEi" is "book::match(int)". Left as it is: what is no such name, what is longer
/// than 4096 characters, what unfolds to more than kWrittenMax, and the few that the demangler of
/// the runtime cannot be trusted with.
std::string demangled(std::string_view name);

/// The same for the names of one image. Each of them may unfold to megabytes that nobody sees, or
/// take as long before it turns out to be none, and an image may have any number of them: so what
/// is above the need of names is counted, and when there is too much of it for the image's size,
/// all names are left as they are. For one thread.
class Demangler {
 public:
  explicit Demangler(uint64_t image_bytes, Stop stop = {});

  /// A name that is asked for again is not unfolded again.
  std::string written(std::string_view name);
  /// For names of which each is asked for once.
  std::string written_once(std::string_view name);
  /// It unfolds no more: there was too much, or nobody waits.
  bool over() const { return work_.over(); }

 private:
  Work work_;
  std::unordered_map<std::string, std::string> kept_;
  size_t kept_bytes_ = 0;
};

}  // namespace tracewell::symbols
