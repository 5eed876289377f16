#include "model/work.h"

namespace tracewell {
namespace {

class Unwatched final : public Stage {
 public:
  void at(uint64_t) override {}
};

}  // namespace

Status Work::go_on() const {
  if (is_stopped()) return {Errc::Stopped, "interrupted"};
  return {};
}

std::unique_ptr<Stage> Work::stage(std::string_view what, std::optional<uint64_t> total) const {
  std::unique_ptr<Stage> stage = begins ? begins(what, total) : nullptr;
  if (!stage) stage = std::make_unique<Unwatched>();
  return stage;
}

}  // namespace tracewell
