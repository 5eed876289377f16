// What is wrong with a template file, and where.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tracewell::report {

/// A character of a template file; both count from 1, columns in bytes.
struct Place {
  uint32_t line = 0;
  uint32_t column = 0;
};

struct Diagnostic {
  /// A template with an Error is left out; a Warning is what `--check` tells.
  enum class Severity : uint8_t { Warning, Error };

  Severity severity = Severity::Error;
  std::string file;
  Place place;
  std::string code;  // stable, kebab-case: "syntax", "unreachable-case"
  std::string text;  // what is wrong, and what was expected
  std::string line;  // of the file, as it stands there; of a long one what is around the place
  uint32_t before_line = 0;  // how many bytes of the line stand in front of that

  /// FILE:LINE:COLUMN: error: TEXT [CODE], the line, and a caret under the place. Safe to print.
  std::string show() const;
};

/// Collects them for one file. Keeps the first kKeptMax in full and counts the rest.
class Diagnostics {
 public:
  static constexpr size_t kKeptMax = 1000;

  /// Borrows both until it is destroyed.
  Diagnostics(std::string_view file, std::string_view text) : file_(file), text_(text) {
    find_lines();
  }

  void error(Place place, std::string_view code, std::string text) {
    add(Diagnostic::Severity::Error, place, code, std::move(text));
  }
  void warning(Place place, std::string_view code, std::string text) {
    add(Diagnostic::Severity::Warning, place, code, std::move(text));
  }
  /// One of this file that is not (yet) to be told.
  Diagnostic make(Diagnostic::Severity severity, Place place, std::string_view code,
                  std::string text) const;
  /// In the order of the file's lines.
  std::vector<Diagnostic> take();
  uint64_t errors() const { return errors_; }
  std::string_view file() const { return file_; }

 private:
  void add(Diagnostic::Severity severity, Place place, std::string_view code, std::string text);
  std::string_view part_of_line(Place place, size_t& begin) const;
  void find_lines();

  std::string_view file_, text_;
  std::vector<size_t> lines_;  // where each begins
  std::vector<Diagnostic> kept_;
  uint64_t errors_ = 0;
};

}  // namespace tracewell::report
