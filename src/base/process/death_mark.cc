#include "base/process/death_mark.h"

#include <atomic>

#include <sys/syscall.h>
#include <unistd.h>

namespace tracewell {

/// A list of one entry. Its own memory is private to us; how far the word is from the entry is part
/// of the list, so that nothing stands beside the word that others could change.
DeathMark::DeathMark(uint32_t& word) {
  (void)syscall(SYS_get_robust_list, 0, &before_, &before_bytes_);
  entry_.next = &list_.list;
  list_.list.next = &entry_;
  list_.futex_offset = reinterpret_cast<intptr_t>(&word) - reinterpret_cast<intptr_t>(&entry_);
  (void)syscall(SYS_set_robust_list, &list_, sizeof list_);
  std::atomic_ref(word).store(static_cast<uint32_t>(gettid()));
}

DeathMark::~DeathMark() { (void)syscall(SYS_set_robust_list, before_, before_bytes_); }

}  // namespace tracewell
