#include "filter/step_numbers.h"

#include <optional>
#include <utility>
#include <variant>

namespace tracewell::filter {
namespace {

class NumberedSource final : public Source {
 public:
  explicit NumberedSource(std::unique_ptr<Source> source) : source_(std::move(source)) {}

  const Catalog& catalog() const override { return source_->catalog(); }

  Result<bool> next(Batch& batch) override {
    TW_ASSIGN_OR_RETURN(const bool more, source_->next(batch));
    if (!of_steps_) of_steps_ = begins_with_step(batch);
    if (!of_steps_.value_or(false)) return more;
    for (Event& event : batch.events())
      event.seq = std::holds_alternative<Step>(event.body) ? steps_++ : steps_;
    return more;
  }

 private:
  /// nullopt: marks, losses and changes alone do not tell.
  static std::optional<bool> begins_with_step(const Batch& batch) {
    for (const Event& event : batch.events()) {
      if (std::holds_alternative<Mark>(event.body) || std::holds_alternative<Lost>(event.body) ||
          std::holds_alternative<Change>(event.body))
        continue;
      return std::holds_alternative<Step>(event.body);
    }
    return std::nullopt;
  }

  std::unique_ptr<Source> source_;
  uint64_t steps_ = 0;  // so far
  std::optional<bool> of_steps_;
};

}  // namespace

std::unique_ptr<Source> with_step_numbers(std::unique_ptr<Source> source) {
  if (source->seekable() != nullptr) return source;
  return std::make_unique<NumberedSource>(std::move(source));
}

}  // namespace tracewell::filter
