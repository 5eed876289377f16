#include "trace/images/image_code.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "base/text/counted.h"
#include "base/text/hex.h"
#include "base/text/text.h"
#include "machine/control_flow.h"
#include "model/source_over.h"
#include "timeline/diff/flow.h"
#include "trace/images/image_modules.h"

namespace tracewell::trace {
namespace {

constexpr size_t kAddressesMax = 64;  // of an image; more would say nothing else
constexpr uint64_t kPlaces = 64, kStepsOfPlace = 1024;  // where there is random access
constexpr size_t kOpcodeMax = 15;  // bytes, of x86

/// What was executed at some of an image's addresses, beside what the image has there.
class CodeSample {
 public:
  explicit CodeSample(symbols::MappedImage mapped) : mapped_(std::move(mapped)) {}

  bool is_full() const { return seen_.size() >= kAddressesMax; }

  /// What nobody may write to is compared: elsewhere the program may have put its code itself.
  void add(uint64_t pc, Bytes opcode) {
    if (is_full() || seen_.contains(pc)) return;
    std::array<uint8_t, kOpcodeMax> bytes = {};
    const Bytes code(bytes.data(),
                     mapped_.image->read(mapped_.link_address(pc), bytes, mapped_.bias));
    if (opcode.size() > code.size()) return;
    seen_.insert(pc);
    if (std::ranges::equal(opcode, code.first(opcode.size()))) return;
    if (differ_++ == 0) first_ = {pc, {opcode.begin(), opcode.end()}, {code.begin(), code.end()}};
  }

  /// A program may write to its code, and a debugger too: a few differences are none.
  void tell(const machine::FlowDecoder& decoder, const Work& work) const {
    if (2 * differ_ <= seen_.size()) return;
    work.tell(fmt::format(
        "{} at {:#x} is not what was executed: at {} of the {} that were compared it has something "
        "else. At {:#x} the trace has {}, and this file {}. Is that its BASE, and the file the one "
        "that was traced?",
        printable(mapped_.image->path()), mapped_.start(), differ_,
        counted(seen_.size(), "instruction"), first_.pc,
        text(decoder, first_.executed, first_.pc), text(decoder, first_.stored, first_.pc)));
  }

 private:
  struct Difference {
    uint64_t pc = 0;
    std::vector<uint8_t> executed, stored;  // `stored`: as many bytes as an instruction may have
  };

  static std::string text(const machine::FlowDecoder& decoder, Bytes code, uint64_t pc) {
    const size_t length = decoder.decode(code).length;
    const std::string hex = to_hex(length == 0 ? code : code.first(length));
    const std::string words = decoder.text(code, pc);
    return words.empty() ? hex : fmt::format("{} ({})", hex, words);
  }

  symbols::MappedImage mapped_;
  std::unordered_set<uint64_t> seen_;
  size_t differ_ = 0;
  Difference first_;
};

class CodeCheck {
 public:
  CodeCheck(std::string_view machine, const symbols::ImageMap& images, const Work& work)
      : decoder_(machine), images_(images), work_(work) {
    for (const symbols::MappedImage& one : images.images()) samples_.emplace_back(one);
  }

  void add(uint64_t pc, Bytes opcode) {
    ++looked_at_;
    const symbols::MappedImage* const mapped = images_.find(pc);
    if (mapped == nullptr) return;
    in_image_ = true;
    if (!opcode.empty()) samples_[mapped - images_.images().data()].add(pc, opcode);
  }
  /// There is nothing more to be found out.
  bool is_full() const { return std::ranges::all_of(samples_, &CodeSample::is_full); }
  void tell() const {
    for (const CodeSample& one : samples_) one.tell(decoder_, work_);
    if (in_image_ || looked_at_ == 0) return;
    const size_t count = samples_.size();
    work_.tell(fmt::format(
        "{} is in {}; is BASE right?",
        looked_at_ == 1
            ? "the instruction that was looked at"
            : fmt::format("none of the {} instructions that were looked at", looked_at_),
        count == 1 ? printable(images_.images().front().image->path()) : "any image"));
  }

 private:
  machine::FlowDecoder decoder_;
  symbols::ImageMap images_;
  const Work work_;
  std::vector<CodeSample> samples_;  // as images_ has them
  uint64_t looked_at_ = 0;           // steps
  bool in_image_ = false;
};

/// Some steps in a row, at places that are as far apart as they can be. What is wrong with the
/// trace is for others to tell.
void look_at_some(const StepIndex& steps, CodeCheck& check) {
  const uint64_t count = steps.count();
  const uint64_t apart = std::max(count / kPlaces, kStepsOfPlace);
  std::vector<timeline::Place> places;
  for (uint64_t at = 0; at < count && !check.is_full(); at += apart) {
    const auto flow = timeline::open_flow(steps, at);
    const uint64_t end = at + kStepsOfPlace;
    for (bool more = flow.ok(); more;) {
      places.clear();
      const auto next = (*flow)->next(places);
      more = next.ok() && *next && !places.empty() && places.back().seq + 1 < end;
      for (const timeline::Place& one : places)
        if (one.seq < end) check.add(one.pc, Bytes(one.code).first(one.code[kOpcodeMax]));
    }
  }
}

class CheckedSource final : public SourceOver {
 public:
  CheckedSource(std::unique_ptr<Source> source, const symbols::ImageMap& images, const Work& work)
      : SourceOver(std::move(source)),
        check_(std::in_place, source_->catalog().machine, images, work) {}
  Result<bool> next(Batch& batch) override {
    auto more = source_->next(batch);
    if (!check_) return more;
    for (const Event& event : batch.events())
      if (const auto* step = std::get_if<Step>(&event.body)) check_->add(step->pc, step->opcode);
    if ((more.ok() && !*more) || check_->is_full()) {
      check_->tell();
      check_.reset();
    }
    return more;
  }

 private:
  std::optional<CodeCheck> check_;  // none: all is said
};

}  // namespace

void check_code(Source& source, const symbols::ImageMap& images, const Work& work) {
  const StepIndex* const steps = source.steps();
  if (steps == nullptr || images.images().empty()) return;
  CodeCheck check(source.catalog().machine, images, work);
  look_at_some(*steps, check);
  check.tell();
}

std::unique_ptr<Source> with_checked_code(std::unique_ptr<Source> source,
                                          const symbols::ImageMap& images, const Work& work) {
  if (images.images().empty()) return source;
  if (source->steps() == nullptr)
    return std::make_unique<CheckedSource>(std::move(source), images, work);
  check_code(*source, images, work);
  return source;
}

/// Traces with random access are of formats that carry instructions.
std::unique_ptr<Source> with_image_code(std::unique_ptr<Source> source,
                                        const symbols::ImageMap& images, const Work& work) {
  if (images.images().empty()) return source;
  source = with_checked_code(std::move(source), images, work);
  if (source->steps() != nullptr) return source;
  return with_image_opcodes(std::move(source), images);
}

}  // namespace tracewell::trace
