// A program's memory, and the bytes of ours that stand in it: traps, and code that leads to pads.
// Who reads gets the program's own bytes, as it would have them without us.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/files/file.h"
#include "base/result.h"
#include "machine/relocate.h"
#include "target/linux/memory/stretches.h"

namespace tracewell::target::live {

/// A breakpoint byte in the program's code, whoever wants it.
struct Patch {
  uint8_t original = 0;
  bool breakpoint = false;  // the debugger's
  bool site = false;        // a tracepoint's
  bool in_32_bit_code = false;  // what `how` is about
  /// How a thread gets past it; nothing until it is needed.
  std::optional<machine::DisplacedCode::How> how;
  uint64_t copy = 0;  // how == Copy: where it stands
};

class PatchedMemory {
 public:
  static constexpr uint8_t kInt3 = 0xcc;
  static constexpr size_t kInstructionMax = 15;

  /// Nothing can be read or written.
  PatchedMemory() = default;
  /// A process's, as /proc has it; or any file, by its offsets.
  explicit PatchedMemory(UniqueFd memory) : fd_(std::move(memory)) {}
  PatchedMemory(const PatchedMemory&) = delete;
  PatchedMemory& operator=(const PatchedMemory&) = delete;
  /// From now on nothing can be read or written.
  void close() { fd_.reset(); }

  /// Bytes read: the readable prefix. `raw`: with our patches.
  size_t read(uint64_t address, std::span<uint8_t> into) const;
  size_t read_raw(uint64_t address, std::span<uint8_t> into) const;
  /// All or nothing; our patches stay.
  Status write(uint64_t address, Bytes bytes);
  Status write_raw(uint64_t address, Bytes bytes);
  template <class T>
  std::optional<T> read_value(uint64_t address) const {
    T value{};
    auto* bytes = reinterpret_cast<uint8_t*>(&value);
    if (read(address, {bytes, sizeof value}) != sizeof value) return std::nullopt;
    return value;
  }
  /// A string of at most `max` bytes, up to its NUL or what is readable.
  std::string read_text(uint64_t address, size_t max) const;
  /// Puts the original bytes over our patches in what was read from `address`.
  void hide_patches(uint64_t address, std::span<uint8_t> bytes) const;
  /// All patches are from here up to there; 0 and 0: there are none.
  std::pair<uint64_t, uint64_t> changed_range() const;
  /// Is there a byte of ours?
  bool is_changed(uint64_t address, uint64_t bytes) const;

  Patch* find(uint64_t address);
  /// Is there one in that range?
  bool has_patch(uint64_t address, uint64_t bytes) const;
  /// The patch at `address`, put there now if need be.
  Result<Patch*> add(uint64_t address);
  /// Is its byte still there? A program may have put other code there, or its file's own again.
  bool is_in_force(uint64_t address) const;
  /// Takes it out when nobody wants it any more.
  Status drop_if_unused(uint64_t address);
  /// Takes it out, or puts it back, for a moment.
  Status expose(uint64_t address, bool exposed);
  /// How many traps of this memory are in one that may be a copy of it.
  size_t traps_in(const PatchedMemory& copy) const;

  /// Code of the program with ours in its place. What is here cannot be written to, but raw. Who
  /// puts it there writes it, and takes both away.
  struct Covered {
    std::vector<uint8_t> before, ours;
  };
  Stretches<Covered> covered;
  /// Does ours stand there?
  bool is_as_written(uint64_t address, const Covered& code) const;

  bool is_32_bit = false;  // the program is

 protected:
  void remove_patches();
  /// May a fork that is still to be seen have one?
  bool has_left_patches() const { return !patches_.empty() || !removed_.empty(); }
  /// A fork's memory, which this is, has the patches that `parent` has now or had a moment ago.
  void adopt_patches(const PatchedMemory& parent, bool keep_breakpoints);

 private:
  void restore(uint64_t address, uint8_t original);
  void keep_removed(uint64_t address, uint8_t original);
  UniqueFd fd_;
  std::map<uint64_t, Patch> patches_;
  std::map<uint64_t, uint8_t> removed_;  // for forks that are still to be seen
};

}  // namespace tracewell::target::live
