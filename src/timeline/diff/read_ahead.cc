#include "timeline/diff/read_ahead.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/process/thread.h"
#include "base/result.h"

namespace tracewell::timeline {
namespace {

using Places = std::vector<StepFlow::Place>;
constexpr size_t kBlockPlaces = 1 << 14;
constexpr size_t kBlocksMax = 2;

class ReadAhead final : public StepFlow {
 public:
  explicit ReadAhead(std::unique_ptr<StepFlow> flow) : flow_(std::move(flow)) {}
  ~ReadAhead() override {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  bool start() {
    auto thread = start_thread([this] { work(); });
    if (thread) thread_ = *std::move(thread);
    return thread.ok();
  }
  std::unique_ptr<StepFlow> take_back() { return std::move(flow_); }

  Result<bool> next(Places& places) override {
    Places block;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return !blocks_.empty() || done_; });
      if (blocks_.empty()) {
        if (!failed_.ok()) return failed_.error();
        return false;
      }
      block = std::move(blocks_.front());
      blocks_.pop_front();
    }
    changed_.notify_all();
    places.insert(places.end(), block.begin(), block.end());
    block.clear();
    const std::lock_guard lock(mutex_);
    spare_ = std::move(block);
    return true;
  }

 private:
  void work() {
    for (bool more = true; more;) {
      Places block;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return blocks_.size() < kBlocksMax || stop_; });
        if (stop_) return;
        block = std::move(spare_);
        spare_ = {};
      }
      Status failed;
      while (more && block.size() < kBlockPlaces) {
        const Result<bool> read = with_memory_bounded([&] { return flow_->next(block); });
        if (!read.ok()) failed = read.error();
        more = read.ok() && *read;
      }
      {
        const std::lock_guard lock(mutex_);
        if (!block.empty()) blocks_.push_back(std::move(block));
        failed_ = std::move(failed);
        done_ = !more;
      }
      changed_.notify_all();
    }
  }

  std::unique_ptr<StepFlow> flow_;  // of the thread, once it runs
  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Places> blocks_;
  Places spare_;
  Status failed_;
  bool done_ = false;
  bool stop_ = false;
};

}  // namespace

std::unique_ptr<StepFlow> read_ahead(std::unique_ptr<StepFlow> flow) {
  auto out = std::make_unique<ReadAhead>(std::move(flow));
  if (!out->start()) return out->take_back();
  return out;
}

}  // namespace tracewell::timeline
