// From rows that show the registers before their instruction to steps that tell what is news.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "formats/steps/memory_pieces.h"
#include "formats/steps/shown_row.h"
#include "model/batch.h"
#include "model/registers.h"

namespace tracewell::formats {

/// Where the accesses of an instruction stand: in its own row, or, as what happened since the row
/// before, in the next one.
enum class AccessesTold : uint8_t { WithStep, BehindStep };

/// Finds out what each row's instruction changed: what the next row shows differently, if it is
/// the same thread's. Holds one row back for that, and the registers of as many threads as there is
/// room for. Where something of other threads' registers became unknown, another session begins.
class ShownRows {
 public:
  explicit ShownRows(const RegisterLayout& layout, AccessesTold told = AccessesTold::WithStep)
      : layout_(layout), told_(told) {}

  /// Adds the row before this one to `batch`, and keeps this one; `row` gets another's memory.
  void add(ShownRow& row, Batch& batch);
  /// Of rows that tell accesses behind their step: `row` is no step, but its accesses are those of
  /// the row before it. A gap follows.
  void add_accesses(const ShownRow& row);
  /// A row is missing here, `why`: nobody knows what the one before it changed. Of registers that
  /// later rows do not show nothing is known any more, unless `registers_known`.
  void gap(std::string_view why, bool registers_known = false);
  /// The row that is read now shows registers that cannot be read.
  void forget() { ++forgotten_; }
  /// Adds the last row.
  void finish(Batch& batch);

 private:
  struct Thread {
    RegisterState registers;
    uint64_t forgotten = 0;  // as it was at the thread's last row
  };
  void tell_gap(uint64_t seq, Batch& batch);
  size_t threads_max() const;
  void forget(const Thread& thread, ShownRow& row) const;
  void start_over();
  void drop_repeated(ShownRow& row);
  void show_pc(ShownRow& row) const;
  void keep_news(ShownRow& row);
  void take_accesses(const ShownRow& row);
  void deal_accesses(ShownRow& row, bool follows);
  void emit(const std::vector<ShownRow::Value>* changed, const std::vector<uint8_t>* bytes,
            Batch& batch);

  const RegisterLayout& layout_;
  const AccessesTold told_;
  std::unordered_map<uint64_t, Thread> by_thread_;
  std::optional<ShownRow> held_;
  bool accesses_taken_ = false;  // those of the held row were told behind it
  std::vector<uint64_t> seen_;  // for each register, the number of the last row that shows it
  uint64_t rows_ = 0;
  uint64_t gap_rows_ = 0;  // missing in front of the next row
  std::string gap_why_;    // of the first of them
  uint64_t forgotten_ = 0;  // times that what registers hold became unknown
  bool overflown_ = false;  // there were threads that are not in by_thread_
  bool starts_over_ = false;  // another session begins with the row that is added
};

}  // namespace tracewell::formats
