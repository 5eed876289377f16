#include "base/files/mapping.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <mutex>

namespace tracewell {

/// Read by the signal handler, so plain atomics. `begin` is set last and cleared first, `end` is 0
/// meanwhile: the handler never sees the end of another mapping with this one's begin.
struct Mapping::Slot {
  std::atomic<uintptr_t> begin{0};
  std::atomic<uintptr_t> end{0};
  std::atomic<int> protection{PROT_READ};
  std::atomic<uint64_t> first_lost{UINT64_MAX};
  std::atomic<uint64_t> pages_lost{0};
  Slot* next_free = nullptr;  // of FreeSlots alone
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

void note_loss(Mapping::Slot& slot, uint64_t offset, uint64_t pages) {
  slot.pages_lost.fetch_add(pages);
  uint64_t known = slot.first_lost.load();
  while (offset < known && !slot.first_lost.compare_exchange_weak(known, offset)) {
  }
}

bool zero_pages(Mapping::Slot& slot, uintptr_t begin, uintptr_t from, uintptr_t end) {
  if (::mmap(reinterpret_cast<void*>(from), end - from, slot.protection.load(),
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
    return false;
  note_loss(slot, from - begin, (end - from + kMappedPage - 1) / kMappedPage);
  return true;
}

/// Areas of memory that are there to be given back: where a process has as many as it may, the
/// system makes no other, not even one that takes the place of many.
std::atomic<void*> g_spare{nullptr};
constexpr size_t kSpareBytes = 5 * kMappedPage;

void make_spare() {
  void* const spare = ::mmap(nullptr, kSpareBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (spare == MAP_FAILED) return;
  for (const size_t page : {1, 3})  // pages of different rights are areas of their own
    ::mprotect(static_cast<uint8_t*>(spare) + page * kMappedPage, kMappedPage, PROT_READ);
  void* none = nullptr;
  if (!g_spare.compare_exchange_strong(none, spare)) ::munmap(spare, kSpareBytes);
}

/// Each page that is replaced between others takes two areas more. Where there are no more, all
/// that is behind the page is replaced at once, or all.
bool replace_page(Mapping::Slot& slot, uintptr_t address) {
  const uintptr_t begin = slot.begin.load();
  const uintptr_t end = slot.end.load();
  // Meanwhile another mapping may have got the slot: then it is not the one that is looked for.
  if (slot.begin.load() != begin) return false;
  if (begin == 0 || address < begin || address >= end) return false;
  const uintptr_t page = address & ~(kMappedPage - 1);
  if (zero_pages(slot, begin, page, page + kMappedPage)) return true;
  if (void* const spare = g_spare.exchange(nullptr)) ::munmap(spare, kSpareBytes);
  const bool done = zero_pages(slot, begin, page, end) || zero_pages(slot, begin, begin, end);
  make_spare();
  return done;
}

struct sigaction g_before;  // what SIGBUS did; set before our handler is there

/// It is no access to a mapping of ours: what would have happened without us.
void pass_on(int signal, siginfo_t* info, void* context) {
  if ((g_before.sa_flags & SA_SIGINFO) != 0) {
    g_before.sa_sigaction(signal, info, context);
  } else if (g_before.sa_handler != SIG_DFL && g_before.sa_handler != SIG_IGN) {
    g_before.sa_handler(signal);
  } else if (info->si_code > 0 || g_before.sa_handler == SIG_DFL) {
    // An access that failed fails again as soon as we return; what somebody sent comes once more.
    std::signal(signal, SIG_DFL);
    if (info->si_code <= 0) std::raise(signal);
  }
}

/// All signals are blocked meanwhile. What somebody sent (kill) has no address.
void on_sigbus(int signal, siginfo_t* info, void* context) {
  const int error = errno;
  bool replaced = false;
  if (info->si_code > 0) {
    const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
    for (Block* block = &g_first_block; block && !replaced; block = block->next.load())
      for (Mapping::Slot& slot : block->slots)
        if ((replaced = replace_page(slot, address))) break;
  }
  if (!replaced) pass_on(signal, info, context);
  errno = error;
}

void watch_sigbus() {
  static std::once_flag once;
  std::call_once(once, [] {
    make_spare();
    ::sigaction(SIGBUS, nullptr, &g_before);
    struct sigaction action = {};
    action.sa_sigaction = on_sigbus;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    ::sigfillset(&action.sa_mask);
    ::sigaction(SIGBUS, &action, nullptr);
  });
}

/// Those that no mapping has: there may be as many mappings as a folder has names, and nobody looks
/// through them all for each one.
class FreeSlots {
 public:
  Mapping::Slot& take() {
    const std::lock_guard lock(mutex_);
    if (first_ == nullptr) add_block();
    return *std::exchange(first_, first_->next_free);
  }
  void give_back(Mapping::Slot& slot) {
    const std::lock_guard lock(mutex_);
    slot.next_free = std::exchange(first_, &slot);
  }

 private:
  void add_block() {
    Block* const block = last_ == nullptr ? &g_first_block : new Block;
    for (Mapping::Slot& slot : block->slots) slot.next_free = std::exchange(first_, &slot);
    if (last_ != nullptr) last_->next = block;
    last_ = block;
  }

  std::mutex mutex_;
  Mapping::Slot* first_ = nullptr;
  Block* last_ = nullptr;
};
constinit FreeSlots g_free_slots;

}  // namespace

Result<Mapping> Mapping::map(int fd, size_t size, Access access, const std::string& what,
                             uint64_t offset) {
  watch_sigbus();
  const bool shared = access == Access::Shared;
  const int protection = shared ? PROT_READ | PROT_WRITE : PROT_READ;
  void* data = mmap(nullptr, size, protection, shared ? MAP_SHARED : MAP_PRIVATE, fd,
                    static_cast<off_t>(offset));
  if (data == MAP_FAILED) return errno_error("cannot map " + what);
  Slot& slot = g_free_slots.take();
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
  g_free_slots.give_back(*slot_);
}

std::optional<LostPages> Mapping::lost() const {
  if (!slot_ || slot_->pages_lost.load() == 0) return std::nullopt;
  return LostPages{slot_->first_lost.load(), slot_->pages_lost.load()};
}

/// Before Linux 5.14 by a change that changes nothing, whoever else writes there.
void Mapping::populate(size_t offset, size_t size) const {
  constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE
  if (!data_ || offset >= size_) return;
  const size_t begin = offset & ~size_t{kMappedPage - 1}, end = std::min(offset + size, size_);
  if (madvise(data_ + begin, end - begin, kPopulateWrite) == 0 || errno != EINVAL) return;
  for (size_t at = begin; at < end; at += kMappedPage) std::atomic_ref(data_[at]).fetch_or(0);
}

void Mapping::forget(size_t offset, size_t size) const {
  if (!data_ || offset >= size_) return;
  const size_t begin = (offset + kMappedPage - 1) & ~size_t{kMappedPage - 1};
  const size_t end = std::min(offset + size, size_) & ~size_t{kMappedPage - 1};
  if (begin < end) madvise(data_ + begin, end - begin, MADV_DONTNEED);
}

}  // namespace tracewell
