// What `tracewell find` looks for, and how it says what it found.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cli/images.h"
#include "cli/step_trace.h"
#include "cli/step_words.h"

namespace tracewell::cli {

struct FindOptions {
  InputOptions input;
  ImageOptions images;
  std::string what;      // exec, read, write, access, reg, bytes, value
  std::string argument;  // of it
  timeline::AddressRange range = {};  // what that says, of exec, read, write and access
  uint64_t from = 0, to = UINT64_MAX;  // steps, both included
  uint64_t limit = UINT64_MAX;
  bool backward = false;
  bool json = false;
};

/// Prints hits, up to the limit.
class HitPrinter {
 public:
  /// All stay while this is used. `notes` are by step.
  HitPrinter(const FindOptions& options, const StepWords& words, std::span<const Note> notes)
      : options_(options), words_(words), notes_(notes) {}

  const StepWords& words() const { return words_; }
  /// "step 12  pc …", then `text`, and what is noted at the step; or a JSON object with `more` in
  /// it. False when there have been enough.
  bool step(const Event& event, std::string_view text, const nlohmann::ordered_json& more) {
    return print(rendered(event, text, more));
  }
  bool line(std::string_view text, const nlohmann::ordered_json& whole) {
    return print(rendered(text, whole));
  }
  /// Adds what is noted at a step: lines to the text, "notes" to its object.
  void add_notes(uint64_t step, std::string& text, nlohmann::ordered_json& object) const;
  /// A hit as one of these made it.
  bool print(std::string_view hit);
  /// Any thread may ask.
  std::string rendered(const Event& event, std::string_view text,
                       const nlohmann::ordered_json& more) const;
  std::string rendered(std::string_view text, const nlohmann::ordered_json& whole) const;
  bool enough() const { return count_ >= options_.limit; }
  uint64_t count() const { return count_; }
  uint64_t most() const { return options_.limit; }

 private:
  const FindOptions& options_;
  const StepWords& words_;
  std::span<const Note> notes_;
  uint64_t count_ = 0;
};

/// One function for each of the words; errors are those of arguments and of reading.
Status find_executions(StepTrace& trace, const FindOptions& options, HitPrinter& hits);
Status find_accesses(StepTrace& trace, const FindOptions& options, HitPrinter& hits);
Status find_changes(StepTrace& trace, const FindOptions& options, HitPrinter& hits);
Status find_bytes(StepTrace& trace, const FindOptions& options, HitPrinter& hits);
Status find_value(StepTrace& trace, const FindOptions& options, HitPrinter& hits);

}  // namespace tracewell::cli
