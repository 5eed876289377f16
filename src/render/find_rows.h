// How `tracewell find` shows what was found.
#pragma once

#include <span>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "render/step_words.h"
#include "trace/questions/find.h"

namespace tracewell::render {

class FindRows {
 public:
  /// All must outlive this. `notes` are by step. `json`: an object a hit, otherwise a line.
  FindRows(const StepWords& words, Endian endian, bool names_values, std::span<const Note> notes,
           bool json)
      : words_(words), endian_(endian), names_values_(names_values), notes_(notes), json_(json) {}

  /// Without the end of the line.
  std::string row(const trace::Hit& hit) const;

 private:
  using Json = nlohmann::ordered_json;
  std::string step_row(const trace::StepHit& hit) const;
  std::string memory_row(const trace::MemoryHit& hit) const;
  void add(const trace::FoundExecution&, std::string&, Json&) const {}
  void add(const trace::FoundAccess& found, std::string& text, Json& more) const;
  void add(const timeline::ChangeByOthers& found, std::string& text, Json& more) const;
  void add(const trace::FoundRegister& found, std::string& text, Json& more) const;
  void add(const trace::FoundValue& found, std::string& text, Json& more) const;
  void add_name(uint64_t address, Json& more) const;
  void add_notes(uint64_t step, std::string& text, Json& object) const;

  const StepWords& words_;
  Endian endian_;
  bool names_values_;  // of values: which of several it was
  std::span<const Note> notes_;
  bool json_;
};

}  // namespace tracewell::render
