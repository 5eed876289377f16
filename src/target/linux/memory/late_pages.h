// Memory that is not there at once: a page that a thread or a process supplies when it is asked for
// (userfaultfd(2)). /proc/PID/mem does not ask for it; process_vm_readv(2) does, and waits for it
// in a way that nothing ends but the page, or the end of the thread that waits. Who is to supply it
// may itself wait for us to look at a stop of it. So another thread waits, and we do so for long
// enough for those who can supply it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "target/target.h"

namespace tracewell::target::live {

/// Does somebody supply pages of the thread's memory when they are wanted (userfaultfd), or has its
/// process a descriptor to do so? A thread that does may hit a tracepoint that reads such a page,
/// and must not wait for it in the hit. Others may not answer at all. What they supply is known of
/// processes whose page tables have at most `tables_kib_max` KiB: the kernel walks them all to say
/// it, and takes some 25 ms for each MiB.
bool may_supply_pages(Tid tid, uint64_t tables_kib_max);

class LatePages {
 public:
  LatePages();
  ~LatePages();
  /// Bytes read: what has come of them meanwhile. 0 as long as a read of before waits.
  size_t read(Tid tid, uint64_t address, std::span<uint8_t> into);

 private:
  struct Read;
  std::shared_ptr<Read> before_;
};

}  // namespace tracewell::target::live
