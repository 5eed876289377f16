// How answers name a step: where it is, what its instruction is, and what both are called.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "machine/control_flow.h"
#include "model/catalog.h"
#include "model/event.h"
#include "trace/images/address_names.h"
#include "trace/step_at.h"

namespace tracewell::render {

/// A thread, as all answers have it in JSON: null when the trace does not tell which it was.
nlohmann::ordered_json thread_number(uint64_t tid);

/// Those that are noted at a step; `notes` are by step.
std::span<const Note> notes_at(std::span<const Note> notes, uint64_t step);
/// "  note: the key is here", as a line below what is noted.
std::string note_line(const Note& note);

/// Any thread may ask.
class StepWords {
 public:
  explicit StepWords(const Catalog& catalog, trace::AddressNames names = {});

  /// "step 12  pc 0x401000 <match+19 at book.c:19>  90  nop  thread 7", as `print` begins it.
  std::string line(const trace::StepAt& step) const;
  std::string line(const Event& event) const { return line(trace::step_at(event)); }
  /// "step", "tid", "pc", "opcode", "disassembly"; with images "module", "symbol" and "source",
  /// all as `print --json` has them.
  nlohmann::ordered_json object(const trace::StepAt& step) const;
  nlohmann::ordered_json object(const Event& event) const;

  /// In Intel's spelling; "" when it is none.
  std::string instruction(Bytes opcode, uint64_t pc) const;
  /// " <match+19 at book.c:19>"; "" when nothing is known.
  std::string code(uint64_t address) const;
  /// " <table+8>"
  std::string data(uint64_t address) const;
  /// The same without its brackets.
  std::string code_name(uint64_t address) const;
  std::string data_name(uint64_t address) const;

 private:
  trace::AddressNames names_;
  machine::FlowDecoder decoder_;
  mutable std::mutex mutex_;  // of the decoder
};

}  // namespace tracewell::render
