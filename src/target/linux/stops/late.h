// Threads that do not stop when they are asked to: they wait in the kernel (state D), as inside
// vfork(2) or for a file system that does not answer, for as long as somebody else likes. Nobody
// waits for them for ever. They run no instruction of the program until they have stopped, so that
// they are as good as standing still; but their registers cannot be had.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "target/linux/stops/patience.h"
#include "target/linux/threads/register_blocks.h"
#include "target/linux/threads/thread_table.h"

namespace tracewell::target::live {

class Late {
 public:
  using Notice = std::function<void(std::string_view)>;  // may be empty
  Late(const ThreadTable& threads, const RegisterBlocks& registers, const Notice& notice)
      : threads_(threads), registers_(registers), notice_(notice) {}

  /// Gives up those of `waited_for` that have been waited for for long enough, or for a moment when
  /// we are to end. True: some.
  bool look(Patience& patience, const std::function<bool(const Thread&)>& waited_for);
  /// It becomes Run::Late: nobody waits for it, and it is taken in again once it stops.
  void give_up(Thread& thread, char state);
  struct Place {
    uint64_t pc = 0, sp = 0;
  };
  /// Where a thread is that waits in the kernel; nullopt: that cannot be known.
  static std::optional<Place> place_of(Tid tid);
  /// A register block in which where it is alone is known.
  Status read_block(const Thread& thread, std::span<uint8_t> block) const;
  std::vector<uint8_t> known_registers(const Thread& thread) const;
  /// May one of them come back into code of ours in this memory?
  bool may_return_into_ours(const AddressSpace& space) const;

 private:
  void tell(const std::string& text);
  const ThreadTable& threads_;
  const RegisterBlocks& registers_;
  const Notice& notice_;
  int told_ = 0;
};

}  // namespace tracewell::target::live
