// Which events of a trace are wanted, and why none was left.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "filter/expression.h"
#include "model/problem.h"
#include "model/stream.h"
#include "model/work.h"
#include "trace/lost_events.h"

namespace tracewell::trace {

/// What a selection was made from: to say why it left nothing.
struct AskedEvents {
  std::optional<uint64_t> last;  // the largest number; none = there are no events
  bool steps = false;            // the events are executed instructions
  std::vector<filter::Expression::Spelled> numbers;  // of --where
  std::vector<std::string> symbols;   // that --where compares by ==
  std::vector<std::string> unplaced;  // modules, if --where asks for some
  std::vector<std::string> words;     // of --where, that not all events have
  bool frames = false, hooks = false;              // there are some
  bool tid = false, cpu = false, time_ns = false, process = false;  // some event has it
  uint64_t untold = 0;  // times that a step did not tell what it left in a register of --where
  uint64_t from = 0, to = UINT64_MAX;
  LostEvents lost;  // between these
};

struct SelectionOptions {
  uint64_t from = 0;
  uint64_t to = UINT64_MAX;
  std::string where;
  bool tells_gaps = false;         // by events, as filter::Selection has it
  std::shared_ptr<uint64_t> gaps;  // their number
  std::shared_ptr<AskedEvents> asked = std::make_shared<AskedEvents>();  // is filled on the way
  /// Was anything asked for? Then nothing left is told by the exit status.
  bool selects() const { return from != 0 || to != UINT64_MAX || !where.empty(); }
};

/// Cuts and selects, watches for problems (`strict`: the first one ends the stream with an error),
/// and is a stage of `work` under the name `what`. `problems` must outlive the result. `words`:
/// what --where may ask of addresses.
Result<std::unique_ptr<Source>> select_events(std::unique_ptr<Source> source,
                                              const SelectionOptions& selection,
                                              const ProblemLog& problems, bool strict,
                                              std::string_view what, const Work& work,
                                              filter::AddressWords words = {});

/// Of one that left nothing, and why: "no step fits --where 'pc == 401010'; is 401010 hexadecimal?
/// …". Once the selected events have been read. `more`: what else was asked, " --at 1".
std::string why_nothing(const SelectionOptions& selection, std::string_view more = {});
/// What to say to somebody who may have meant a hexadecimal number: "; is 401000 hexadecimal? Then
/// it is 0x401000". "" when it cannot be one.
std::string hex_hint(std::string_view text);
/// InvalidArgument when nothing can be between them: "--from 9 is behind --to 5".
Status check_range(uint64_t from, uint64_t to);

/// Which words --where has that not all events have.
void note_words(const filter::Expression& where, AskedEvents& asked);
/// The same events; what goes by is noted.
std::unique_ptr<Source> observed(std::unique_ptr<Source> source,
                                 std::shared_ptr<AskedEvents> asked);

/// For whoever keeps registers of threads: tells the first time that there are too many.
std::function<void()> tells_forgotten(const Work& work);

/// Counts the events that go through, but for the marks of sessions, which answer nothing.
class CountingSource final : public Source {
 public:
  explicit CountingSource(std::unique_ptr<Source> source) : source_(std::move(source)) {}
  const Catalog& catalog() const override { return source_->catalog(); }
  Result<bool> next(Batch& batch) override;
  uint64_t count() const { return count_; }

 private:
  std::unique_ptr<Source> source_;
  uint64_t count_ = 0;
};

}  // namespace tracewell::trace
