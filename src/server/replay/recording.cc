#include "server/replay/recording.h"

#include <utility>

#include <fmt/format.h>

#include "agent/recorded/recorded_trace.h"
#include "agent/session/session.h"
#include "target/recorded/history_target.h"
#include "target/recorded/recorded_target.h"

namespace tracewell::server {
namespace {

class Frames final : public Recording {
 public:
  Frames(std::shared_ptr<Source> frames, symbols::ImageMap images)
      : frames_(std::move(frames)), target_(frames_->catalog(), std::move(images)) {}

  Status index(const std::function<void(std::string_view)>& notice) {
    const Catalog& catalog = frames_->catalog();
    if (catalog.endian == Endian::Big && !target_.program())
      notice("tracewell: a big-endian trace; without an executable GDB needs `set endian big`.");
    TW_ASSIGN_OR_RETURN(trace_, agent::RecordedTrace::create(*frames_, target_));
    trace_->on_frame = [this](const Event& event) { target_.show_thread(event.tid); };
    return {};
  }
  target::Target& target() override { return target_; }
  agent::Trace* trace() override { return trace_.get(); }
  std::vector<target::ListedFile> files() const override { return target_.files(); }

 private:
  std::shared_ptr<Source> frames_;
  target::RecordedTarget target_;
  std::unique_ptr<agent::RecordedTrace> trace_;
};

class Steps final : public Recording {
 public:
  Steps(std::unique_ptr<target::History> history, const Catalog& catalog, symbols::ImageMap images,
        std::vector<Note> notes)
      : history_(std::move(history)), target_(catalog, std::move(images), *history_) {
    target_.set_notes(std::move(notes));
    history_->give_up = [this] { return target_.facts()->gives_up(); };
  }

  target::Target& target() override { return target_; }
  void rewind() override { target_.rewind(); }
  std::vector<target::ListedFile> files() const override { return target_.files(); }

 private:
  std::unique_ptr<target::History> history_;
  target::HistoryTarget target_;
};

}  // namespace

Status fits_a_packet(const Catalog& catalog) {
  constexpr size_t kBlockMax = agent::Session::kPacketBytesMax / 2;
  if (catalog.registers.size_bytes <= kBlockMax) return {};
  return {Errc::Limit,
          fmt::format("the trace states register blocks of {} bytes; a packet carries at most {}",
                      catalog.registers.size_bytes, kBlockMax)};
}

Result<std::unique_ptr<Recording>> recording_of_frames(
    std::shared_ptr<Source> frames, symbols::ImageMap images,
    const std::function<void(std::string_view)>& notice) {
  auto out = std::make_unique<Frames>(std::move(frames), std::move(images));
  TW_RETURN_IF_ERROR(out->index(notice));
  return std::unique_ptr<Recording>(std::move(out));
}

std::unique_ptr<Recording> recording_of_steps(std::unique_ptr<target::History> history,
                                              const Catalog& catalog, symbols::ImageMap images,
                                              std::vector<Note> notes) {
  return std::make_unique<Steps>(std::move(history), catalog, std::move(images), std::move(notes));
}

}  // namespace tracewell::server
