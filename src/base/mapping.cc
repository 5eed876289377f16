#include "base/mapping.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <mutex>

namespace tracewell {

/// Read by the signal handler, so plain atomics. `begin` is set last and cleared first, `end` is 0
/// meanwhile: the handler never sees the end of another mapping with this one's begin.
struct Mapping::Slot {
  std::atomic<bool> used{false};
  std::atomic<uintptr_t> begin{0};
  std::atomic<uintptr_t> end{0};
  std::atomic<int> protection{PROT_READ};
  std::atomic<uint64_t> first_lost{UINT64_MAX};
  std::atomic<uint64_t> pages_lost{0};
};

namespace {

constexpr uintptr_t kMappedPage = 4096;
constexpr size_t kSlotsInBlock = 256;

/// Blocks are added and never freed, so that the handler may walk them at any time.
struct Block {
  std::array<Mapping::Slot, kSlotsInBlock> slots;
  std::atomic<Block*> next{nullptr};
};
Block g_first_block;

void note_loss(Mapping::Slot& slot, uint64_t offset) {
  slot.pages_lost.fetch_add(1);
  uint64_t known = slot.first_lost.load();
  while (offset < known && !slot.first_lost.compare_exchange_weak(known, offset)) {
  }
}

bool replace_page(Mapping::Slot& slot, uintptr_t address) {
  const uintptr_t begin = slot.begin.load();
  if (begin == 0 || address < begin || address >= slot.end.load()) return false;
  const uintptr_t page = address & ~(kMappedPage - 1);
  void* zeros = mmap(reinterpret_cast<void*>(page), kMappedPage, slot.protection.load(),
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  if (zeros == MAP_FAILED) return false;
  note_loss(slot, page - begin);
  return true;
}

void on_sigbus(int signal, siginfo_t* info, void*) {
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  for (Block* block = &g_first_block; block; block = block->next.load())
    for (Mapping::Slot& slot : block->slots)
      if (replace_page(slot, address)) return;
  std::signal(signal, SIG_DFL);  // the faulting access runs again and takes the default action
}

void watch_sigbus() {
  static std::once_flag once;
  std::call_once(once, [] {
    struct sigaction action = {};
    action.sa_sigaction = on_sigbus;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGBUS, &action, nullptr);
  });
}

Mapping::Slot& free_slot() {
  static std::mutex adding;
  for (Block* block = &g_first_block;;) {
    for (Mapping::Slot& slot : block->slots) {
      bool none = false;
      if (slot.used.compare_exchange_strong(none, true)) return slot;
    }
    if (!block->next.load()) {
      const std::lock_guard lock(adding);
      if (!block->next.load()) block->next = new Block;
    }
    block = block->next.load();
  }
}

}  // namespace

Result<Mapping> Mapping::map(int fd, size_t size, Access access, const std::string& what,
                             uint64_t offset) {
  watch_sigbus();
  const bool shared = access == Access::Shared;
  const int protection = shared ? PROT_READ | PROT_WRITE : PROT_READ;
  void* data = mmap(nullptr, size, protection, shared ? MAP_SHARED : MAP_PRIVATE, fd,
                    static_cast<off_t>(offset));
  if (data == MAP_FAILED) return errno_error("cannot map " + what);
  Slot& slot = free_slot();
  slot.first_lost = UINT64_MAX;
  slot.pages_lost = 0;
  slot.protection = protection;
  slot.end = reinterpret_cast<uintptr_t>(data) + size;
  slot.begin = reinterpret_cast<uintptr_t>(data);
  Mapping out;
  out.data_ = static_cast<uint8_t*>(data);
  out.size_ = size;
  out.slot_ = &slot;
  return out;
}

Mapping::~Mapping() {
  if (!slot_) return;
  slot_->begin = 0;
  slot_->end = 0;
  munmap(data_, size_);
  slot_->used = false;
}

std::optional<LostPages> Mapping::lost() const {
  if (!slot_ || slot_->pages_lost.load() == 0) return std::nullopt;
  return LostPages{slot_->first_lost.load(), slot_->pages_lost.load()};
}

void Mapping::forget(size_t offset, size_t size) const {
  if (!data_ || offset >= size_) return;
  const size_t begin = (offset + kMappedPage - 1) & ~size_t{kMappedPage - 1};
  const size_t end = std::min(offset + size, size_) & ~size_t{kMappedPage - 1};
  if (begin < end) madvise(data_ + begin, end - begin, MADV_DONTNEED);
}

}  // namespace tracewell
