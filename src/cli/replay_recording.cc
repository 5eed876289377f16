#include "cli/replay_recording.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "agent/recorded_trace.h"
#include "agent/session.h"
#include "base/thread.h"
#include "cli/image_code.h"
#include "cli/step_history.h"
#include "target/recorded/history_target.h"
#include "target/recorded/recorded_target.h"

namespace tracewell::cli {
namespace {

/// Registers travel in one packet, two digits a byte. A file may state any size.
Status fits_a_packet(const Catalog& catalog) {
  constexpr size_t kBlockMax = agent::Session::kPacketBytesMax / 2;
  if (catalog.registers.size_bytes <= kBlockMax) return {};
  return {Errc::Limit,
          fmt::format("the trace states register blocks of {} bytes; a packet carries at most {}",
                      catalog.registers.size_bytes, kBlockMax)};
}

/// Frames, between which nothing is known.
class Frames final : public Recording {
 public:
  Frames(OpenTrace trace, symbols::ImageMap images)
      : open_(std::move(trace)), target_(open_.source->catalog(), std::move(images)) {}

  Status index() {
    const Catalog& catalog = open_.source->catalog();
    if (catalog.endian == Endian::Big && !target_.program())
      fmt::print(stderr, "tracewell: a big-endian trace; without an executable GDB needs "
                         "`set endian big`.\n");
    TW_ASSIGN_OR_RETURN(trace_, agent::RecordedTrace::create(*open_.source, target_));
    trace_->on_frame = [this](const Event& event) { target_.show_thread(event.tid); };
    return {};
  }
  target::Target& target() override { return target_; }
  agent::Trace* trace() override { return trace_.get(); }
  std::vector<target::ListedFile> files() const override { return target_.files(); }

 private:
  OpenTrace open_;
  target::RecordedTarget target_;
  std::unique_ptr<agent::RecordedTrace> trace_;
};

/// A run that was recorded step by step: the debugger goes forwards and backwards in it.
class Steps final : public Recording {
 public:
  Steps(StepHistory history, symbols::ImageMap images, std::vector<Note> notes)
      : history_(std::move(history)), target_(history_.catalog(), std::move(images), history_) {
    target_.set_notes(std::move(notes));
    history_.give_up = [this] { return target_.facts()->gives_up(); };
  }

  target::Target& target() override { return target_; }
  void rewind() override { target_.rewind(); }
  std::vector<target::ListedFile> files() const override { return target_.files(); }

 private:
  StepHistory history_;
  target::HistoryTarget target_;
};

}  // namespace

Result<std::unique_ptr<Recording>> open_recording(const InputOptions& input,
                                                  const ImageOptions& images,
                                                  const OpenWatch& watch) {
  TW_ASSIGN_OR_RETURN(OpenTrace trace, open_trace(input, watch));
  if (trace.source->frames() != nullptr) {
    tell_problems(trace, input.path);
    const Catalog& catalog = trace.source->catalog();
    TW_RETURN_IF_ERROR(fits_a_packet(catalog));
    TW_ASSIGN_OR_RETURN(symbols::ImageMap placed, place_images(catalog, images));
    auto frames = std::make_unique<Frames>(std::move(trace), std::move(placed));
    TW_RETURN_IF_ERROR(frames->index());
    return std::unique_ptr<Recording>(std::move(frames));
  }
  TW_RETURN_IF_ERROR(fits_a_packet(trace.source->catalog()));
  // What the user may have mistyped comes before what takes long.
  TW_ASSIGN_OR_RETURN(symbols::ImageMap placed, place_images(trace.source->catalog(), images));
  trace.source = with_image_code(std::move(trace.source), placed);
  TW_ASSIGN_OR_RETURN(StepTrace steps, index_step_trace(std::move(trace), input, watch));
  std::vector<Note> notes = std::move(steps.notes);
  StepHistory history(std::move(steps));
  if (history.count() == 0) return {Errc::NotFound, "the trace has no steps"};
  return std::unique_ptr<Recording>(
      std::make_unique<Steps>(std::move(history), std::move(placed), std::move(notes)));
}

Result<std::unique_ptr<Opening>> Opening::start(const InputOptions& input,
                                                const ImageOptions& images) {
  UniqueFd done(::eventfd(0, EFD_CLOEXEC));
  if (!done.valid()) return errno_error("cannot wait for the trace");
  std::unique_ptr<Opening> opening(new Opening(std::move(done)));
  auto thread = start_thread([self = opening.get(), input, images] {
    self->opened_ = with_memory_bounded([&] {
      return open_recording(
          input, images,
          {.lines = true, .spool = true, .stop = &self->stop_, .writes = &self->writes_});
    });
    self->ended_ = true;
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(self->done_.get(), &one, sizeof one);
  });
  TW_ASSIGN_OR_RETURN(opening->thread_, std::move(thread));
  return opening;
}

Opening::~Opening() {
  stop_ = true;
  if (thread_.joinable()) thread_.join();
}

Result<Recording*> Opening::result() {
  if (thread_.joinable()) thread_.join();
  if (!opened_.ok()) return opened_.error();
  return opened_->get();
}

Status Opening::outcome(int quit_fd) {
  struct pollfd fds[] = {{done_.get(), POLLIN, 0}, {quit_fd, POLLIN, 0}};
  while (::poll(fds, 2, -1) < 0)
    if (errno != EINTR) return errno_error("poll");
  if (fds[0].revents == 0) return {};
  TW_RETURN_IF_ERROR(result());
  return {};
}

bool Opening::stop() {
  stop_ = true;
  return ended_ || writes_;
}

}  // namespace tracewell::cli
