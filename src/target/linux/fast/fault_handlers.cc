#include "target/linux/fast/fault_handlers.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>

#include "base/check.h"
#include "target/linux/kernel/ptrace.h"
#include "target/linux/stops/patience.h"

namespace tracewell::target::live {
namespace {

constexpr size_t kFailedMax = 256, kMasksMax = 1 << 16;
constexpr int kLooksTillGone = 3;  // a moment of ours is none of the program's
/// Of loads, after a handler was taken away: ten times as long each time.
constexpr int64_t kFirstPauseNs = kSecond, kLongestPauseNs = 1000 * kSecond;

int place_of(int signal) { return signal == SIGBUS ? 1 : 0; }

}  // namespace

bool FaultHandlers::is_of_a_fault(int signal) { return signal == SIGSEGV || signal == SIGBUS; }

FaultAction& FaultHandlers::of(int signal) {
  TW_CHECK(is_of_a_fault(signal));
  return actions_[place_of(signal)];
}

/// Of one that is ignored, nobody knows whether a thread blocked it. Of one that has none, there
/// is nothing to be taken away.
bool FaultHandlers::known() const { return actions_[0].is_caught() && !actions_[1].is_ignored(); }

bool FaultHandlers::look(const std::string& status) {
  bool any_new = false;
  for (const int signal : {SIGSEGV, SIGBUS}) {
    const int at = place_of(signal);
    const bool is_caught = catches(status, signal);
    if (is_caught || actions_[at].is_default()) gone_for_[at] = 0;
    else if (++gone_for_[at] >= kLooksTillGone) actions_[at] = {};
    any_new |= is_caught && !actions_[at].is_caught();
  }
  return any_new;
}

bool FaultHandlers::are_there(const std::string& status) const {
  const auto is_there = [&](int signal) {
    return !actions_[place_of(signal)].is_caught() || catches(status, signal);
  };
  return is_there(SIGSEGV) && is_there(SIGBUS);
}

void FaultHandlers::note_mask(Tid tid, uint64_t blocked) {
  if (blocked_.size() > kMasksMax) blocked_.clear();  // most have ended
  blocked_[tid] = blocked;
}

bool FaultHandlers::blocked_then(Tid tid, int signal) const {
  const auto found = blocked_.find(tid);
  return found != blocked_.end() && (found->second & bit_of(signal)) != 0;
}

void FaultHandlers::note_restored(int64_t now_ns) {
  ++mended.restored;
  pause_ns_ = std::clamp(pause_ns_ * 10, kFirstPauseNs, kLongestPauseNs);
  not_before_ns_ = now_ns + pause_ns_;
}

void FaultHandlers::note_lost(int signal) {
  ++mended.lost;
  of(signal) = {};
}

void FaultHandlers::note_failed(uint64_t address) {
  const uint64_t page = address / kPage * kPage;
  if (std::ranges::find(failed_, page) != failed_.end()) return;
  if (failed_.size() == kFailedMax) failed_.pop_front();
  failed_.push_back(page);
}

uint64_t signals_of(const std::string& status, std::string_view name) {
  return std::strtoull(std::string(status_value(status, name)).c_str(), nullptr, 16);
}

}  // namespace tracewell::target::live
