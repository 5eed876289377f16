#include "trace/selection.h"

#include <algorithm>
#include <cstddef>
#include <variant>

#include <fmt/format.h>

#include "filter/select.h"
#include "trace/lost_files.h"

namespace tracewell::trace {
namespace {

/// Passes events on, and looks after whoever waits for them.
class WatchedSource final : public Source {
 public:
  WatchedSource(std::unique_ptr<Source> source, const ProblemLog& problems, bool strict,
                std::string_view what, const Work& work)
      : source_(std::move(source)),
        problems_(problems),
        strict_(strict),
        work_(work),
        stage_(work.stage(what)) {}

  const Catalog& catalog() const override { return source_->catalog(); }

  Result<bool> next(Batch& batch) override {
    TW_RETURN_IF_ERROR(work_.go_on());
    auto more = source_->next(batch);
    if (strict_) TW_RETURN_IF_ERROR(problems_.strict());
    if (strict_ && more.ok() && !*more) TW_RETURN_IF_ERROR(no_lost_files());
    if (more.ok()) stage_->at(done_ += batch.size());
    return more;
  }

 private:
  std::unique_ptr<Source> source_;
  const ProblemLog& problems_;
  bool strict_;
  const Work work_;
  std::unique_ptr<Stage> stage_;
  uint64_t done_ = 0;
};

/// Says the first time that a text was not searched to its end.
std::function<void(size_t, size_t)> tells_cut_searches(const Work& work) {
  return [work, told = false](size_t bytes, size_t searched) mutable {
    if (std::exchange(told, true)) return;
    work.tell(fmt::format(
        "--where: a text has {} bytes, and a pattern as large as this one is looked for in the "
        "first {}; what stands behind those is not found, nor in other such texts",
        bytes, searched));
  };
}

/// Says the first time that names were not searched to their end because of all those before.
std::function<void(size_t, size_t)> tells_spent_searches(const Work& work) {
  return [work, told = false](size_t bytes, size_t searched) mutable {
    if (std::exchange(told, true)) return;
    work.tell(fmt::format(
        "--where: a pattern is so hard to search, and the names of addresses are so long, that "
        "searches have used up the time that they have for so short a trace; of a name of {} bytes "
        "the first {} are searched, and so of others from here on; a simpler pattern finds more",
        bytes, searched));
  };
}

}  // namespace

Result<std::unique_ptr<Source>> select_events(std::unique_ptr<Source> source,
                                              const SelectionOptions& selection,
                                              const ProblemLog& problems, bool strict,
                                              std::string_view what, const Work& work,
                                              filter::AddressWords words) {
  TW_RETURN_IF_ERROR(check_range(selection.from, selection.to));
  filter::Selection wanted{selection.from, selection.to, std::nullopt, selection.tells_gaps,
                           selection.gaps, tells_forgotten(work), work};
  if (!selection.where.empty()) {
    TW_ASSIGN_OR_RETURN(wanted.where,
                        filter::Expression::parse(selection.where, source->catalog(),
                                                  std::move(words)));
    wanted.where->watch({.stop = work.stop,
                         .cut = tells_cut_searches(work),
                         .spent = tells_spent_searches(work),
                         .untold = [asked = selection.asked] { ++asked->untold; }});
    selection.asked->numbers = wanted.where->spelled_numbers();
    selection.asked->symbols = wanted.where->wanted_symbols();
    note_words(*wanted.where, *selection.asked);
    if (wanted.where->names("module"))
      for (const Module& one : source->catalog().modules)
        if (!one.is_placed()) selection.asked->unplaced.push_back(one.path);
  }
  selection.asked->from = selection.from;
  selection.asked->to = selection.to;
  if (selection.selects()) source = observed(std::move(source), selection.asked);
  return std::unique_ptr<Source>(std::make_unique<WatchedSource>(
      filter::select(std::move(source), std::move(wanted)), problems, strict, what, work));
}

std::function<void()> tells_forgotten(const Work& work) {
  return [work, told = false]() mutable {
    if (std::exchange(told, true)) return;
    work.tell(
        "more threads than registers are kept of: from time to time those of all threads are taken "
        "as not known until steps tell them again");
  };
}

Result<bool> CountingSource::next(Batch& batch) {
  auto more = source_->next(batch);
  count_ += static_cast<uint64_t>(std::ranges::count_if(batch.events(), [](const Event& event) {
    const auto* mark = std::get_if<Mark>(&event.body);
    return (mark == nullptr || !mark->session) && !is_only_known(event);
  }));
  return more;
}

}  // namespace tracewell::trace
