// The events of a trace that somebody wants to look at: steps have their numbers, notes stand at
// them, and what images say of addresses can be asked for.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "model/work.h"
#include "timeline/timeline.h"
#include "trace/file.h"
#include "trace/images/address_names.h"
#include "trace/images/images.h"
#include "trace/selection.h"

namespace tracewell::trace {

class SelectedEvents {
 public:
  static Result<SelectedEvents> open(const InputOptions& input, const SelectionOptions& selection,
                                     const ImageOptions& images, const Work& work);

  const AddressNames& names() const { return names_; }
  /// From now on there is a source(). No more than `limit` events: nobody waits for what is behind
  /// the last one, --where least of all. `what`: the stage of `work`.
  Status begin(uint64_t limit, std::string_view what, const Work& work);
  CountingSource& source() { return *source_; }
  /// Once they have been read: what is wrong with the trace, and what may be missing among them.
  void tell_doubts(const Work& work) const;

 private:
  SelectedEvents(InputOptions input, SelectionOptions selection)
      : input_(std::move(input)), selection_(std::move(selection)) {}

  InputOptions input_;
  SelectionOptions selection_;
  OpenTrace trace_;
  std::optional<timeline::Timeline> index_;  // until they begin
  AddressNames names_;
  std::unique_ptr<CountingSource> source_;
};

}  // namespace tracewell::trace
