// Runs templates over entries.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <utility>

#include "report/entry.h"
#include "report/render/context.h"
#include "report/render/timers.h"
#include "report/templates/templates.h"

namespace tracewell::report {

enum class Outcome : uint8_t {
  Printed,
  Skipped,  // $SKIP: nothing was printed
  Stopped,  // $STOP: printed, and the report ends
};

/// One report's state: timers live as long as it does. Once it is warm, an event allocates nothing.
/// Whatever the data and the templates say, an event costs time in proportion to the templates and
/// its bytes, and makes at most about kTextMax bytes. All events together cost time, and make text,
/// in proportion to their number and bytes, and a fixed time and text besides. One thread at a
/// time.
class Renderer {
 public:
  static constexpr size_t kTextMax = 1 << 20;
  static constexpr uint64_t kCommonWork = 250'000'000;  // instructions: some seconds
  static constexpr uint64_t kCommonWorkMax = uint64_t{1} << 60;
  /// Asked now and then: true = nobody waits for the event any more. May be empty.
  using Stop = std::function<bool()>;

  /// Borrows the first three, which must not change meanwhile. Text is appended to `out`.
  /// `common_work`: instructions for those events together whose own share is not enough, also of
  /// text: of that, a byte is as much as four.
  Renderer(const Templates& templates, const LogFacts& facts, TextBuffer& out, Stop stop = {},
           uint64_t common_work = kCommonWork)
      : templates_(templates),
        context_(facts, out),
        own_work_(static_cast<int64_t>(std::min(common_work, kCommonWorkMax))),
        stop_(std::move(stop)) {}

  Renderer(const Renderer&) = delete;
  Renderer& operator=(const Renderer&) = delete;

  /// From now on, the instructions for all events together are those of `other`, which lives as
  /// long.
  void share_work_of(Renderer& other) { common_work_ = other.common_work_; }
  /// What comes now is of another log, whose facts are borrowed too.
  void use(const LogFacts& facts) { context_.facts = &facts; }
  /// From now on, which parts of the text are the template's own words is put there.
  void note_literals(std::vector<TextSpan>* literals) { context_.line.note_literals(literals); }

  /// The text of one event, without columns: the label and what its template prints, or the raw
  /// form; no newline at its end. Lines behind the first begin with `indent` blanks. When nobody
  /// waits, nothing: Skipped.
  Outcome render(const Entry& entry, uint32_t indent);
  /// The same by a template of the caller's choice.
  Outcome render(const Entry& entry, uint32_t indent, const TemplateInfo& info);
  /// Errors of the data that the event's lines show.
  uint32_t faults() const { return context_.line.faults(); }

 private:
  struct LoopState {
    uint64_t left;  // rounds, with the present one
  };
  struct Frame {
    uint32_t back;   // where to go on
    uint32_t loops;  // that were open
    uint32_t depth;  // of values
  };
  enum class Next : uint8_t { Go, End };

  void begin(const Entry& entry, uint32_t indent, const TemplateInfo& info);
  Next step(const Instruction& it);
  Next control(const Instruction& it);
  void moves(const Instruction& it);
  void arithmetic(Op op);
  void prints(const Instruction& it);
  void stores(const Instruction& it);
  void push_code(const Instruction& it);
  void flag_tests(const Instruction& it);
  void loop(const Instruction& it);
  void loop_end(const Instruction& it);
  void call(const Instruction& it);
  Next leave();
  void timer(const Instruction& it);
  bool tired();
  bool too_long();
  bool spent();
  void take_from_common();
  template <class Key>
  uint32_t target_of(const Switch<Key>& table, const auto& value) {
    return take_failed() ? table.end : table.target(value);
  }

  void push(Value value) { values_[depth_++] = value; }
  void push(uint64_t number) { values_[depth_++] = {.number = number, .text = {}, .missing = 0}; }
  Value pop() { return values_[--depth_]; }
  /// Did what was to be popped fail? Asking forgets it.
  bool take_failed() {
    const bool failed = context_.failed;
    context_.failed = false;
    return failed;
  }

  const Templates& templates_;
  Context context_;
  Timers timers_;
  std::array<uint64_t, kSlotsMax + 1> slots_ = {};
  std::array<Value, 64> values_ = {};
  std::array<LoopState, (kCallsMax + 1)* 40> loops_ = {};
  std::array<Frame, kCallsMax> frames_ = {};
  uint32_t at_ = 0, slots_used_ = 0, depth_ = 0, loop_depth_ = 0, frame_depth_ = 0;
  uint64_t rounds_left_ = 0;
  int64_t work_left_ = 0;  // in instructions
  int64_t work_given_ = 0, work_share_ = 0;  // to the event; of that, what is not from common_work_
  bool common_ended_ = false;  // it would have been given more
  uint64_t text_given_ = 0, text_share_ = 0;  // in bytes, likewise
  int64_t own_work_;
  int64_t* common_work_ = &own_work_;  // what is left for events whose share is not enough
  Stop stop_;
  Outcome outcome_ = Outcome::Printed;
};

/// The raw form of an entry without template; begins at the column where its text begins.
void print_raw(Context& context);

}  // namespace tracewell::report
