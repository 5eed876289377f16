#include "target/linux/memory/late_pages.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <sys/uio.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/files/folder.h"
#include "base/files/open.h"
#include "base/files/paths.h"
#include "base/process/thread.h"
#include "base/text/text.h"
#include "target/linux/kernel/ptrace.h"

namespace tracewell::target::live {
namespace {

constexpr std::chrono::milliseconds kForPages(200);

}  // namespace

/// Lives on in the thread that waits, whatever becomes of us.
struct LatePages::Read {
  Tid tid = 0;
  uint64_t address = 0;
  std::vector<uint8_t> bytes;
  size_t got = 0;
  bool is_done = false;
  std::mutex mutex;
  std::condition_variable done;

  void run() {
    const iovec here{bytes.data(), bytes.size()};
    const iovec there{reinterpret_cast<void*>(address), bytes.size()};
    const ssize_t some = process_vm_readv(static_cast<pid_t>(tid), &here, 1, &there, 1, 0);
    const std::lock_guard lock(mutex);
    got = some > 0 ? static_cast<size_t>(some) : 0;
    is_done = true;
    done.notify_one();
  }
};

namespace {

/// proc(5), smaps: userfaultfd's flags of a mapping, for missing pages, those that are written to
/// first, and those that are there and not mapped.
bool is_supplied(std::string_view flags) {
  for (const std::string_view flag : split(flags, ' '))
    if (flag == "um" || flag == "uw" || flag == "ui") return true;
  return false;
}

/// Whoever has the descriptor: another process may, or a thread with a table of its own.
bool has_supplied_pages(Tid tid) {
  const auto fd = open_named(fmt::format("/proc/{}/smaps", tid));
  if (!fd.ok()) return false;
  constexpr std::string_view kFlags = "VmFlags:";
  std::array<char, 65536> buffer;
  size_t have = 0;  // the beginning of a line
  for (;;) {
    const ssize_t got = ::read(fd->get(), buffer.data() + have, buffer.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    std::string_view rest(buffer.data(), have + static_cast<size_t>(got));
    while (rest.find('\n') != rest.npos) {
      const std::string_view line = take_until(rest, '\n');
      if (line.starts_with(kFlags) && is_supplied(line.substr(kFlags.size()))) return true;
    }
    have = rest.size() < buffer.size() ? rest.size() : 0;
    std::copy_n(rest.data(), have, buffer.data());
  }
}

bool has_descriptor(Tid tid) {
  const std::string path = fmt::format("/proc/{}/fd", tid);
  const auto folder = Folder::named(path);
  const auto names = folder.ok() ? folder->names() : folder.error();
  return names.ok() && std::ranges::any_of(*names, [&](const std::string& number) {
    const auto text = link_text(path + '/' + number);
    return text && *text == "anon_inode:[userfaultfd]";
  });
}

}  // namespace

bool may_supply_pages(Tid tid, uint64_t tables_kib_max) {
  if (has_descriptor(tid)) return true;
  const auto status = read_proc(tid, "status");
  std::string_view tables = status ? status_value(*status, "VmPTE") : std::string_view();
  const auto kib = parse_number(take_until(tables, ' '));
  return kib && *kib <= tables_kib_max && has_supplied_pages(tid);
}

LatePages::LatePages() = default;
LatePages::~LatePages() = default;

size_t LatePages::read(Tid tid, uint64_t address, std::span<uint8_t> into) {
  if (before_) {
    const std::lock_guard lock(before_->mutex);
    if (!before_->is_done) return 0;
  }
  const auto now = before_ = std::make_shared<Read>();
  now->tid = tid;
  now->address = address;
  now->bytes.resize(into.size());
  if (auto thread = start_helper_thread([now] { now->run(); })) thread->detach();
  else before_.reset();
  if (!before_) return 0;
  std::unique_lock lock(now->mutex);
  if (!now->done.wait_for(lock, kForPages, [&] { return now->is_done; })) return 0;
  std::copy_n(now->bytes.begin(), now->got, into.begin());
  return now->got;
}

}  // namespace tracewell::target::live
