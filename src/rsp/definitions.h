// Tracepoint and variable definitions as text: the pieces that qTfP and qTfV upload, which
// are also the `tp` and `tsv` lines of trace files. The manual does not spell them out; the grammar
// is what GDB and gdbserver exchange:
//   T<n>:<addr>:<E|D>:<step>:<pass>[:F<len>][:S][:X<len>,<code>]   definition
//   A<n>:<addr>:<action>    S<n>:<addr>:<stepping action>
//   Z<n>:<addr>:<type>:<start>:<total>:<hex text>                    source text
//   V<n>:<addr>:<hits>:<bytes>                                       usage
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/catalog.h"

namespace tracewell::rsp {

/// A piece, cut but not yet understood. `body` borrows from the text.
struct Piece {
  enum class Kind : char {
    Definition = 'T',
    Action = 'A',
    StepAction = 'S',
    Source = 'Z',
    Usage = 'V',
  };
  Kind kind = Kind::Definition;
  uint32_t number = 0;
  uint64_t address = 0;
  std::string_view body;  // behind "<n>:<addr>:"
  size_t body_at = 0;     // its offset in the text
};
Result<Piece> parse_piece(std::string_view text);

/// Puts pieces together, in time linear in their number. A record is made on demand (disabled, as
/// GDB does, until its T comes); a second T overwrites what T says and nothing else. Pieces of a
/// source text are joined by their `start`. The texts of actions are taken as they are.
class DefinitionBuilder {
 public:
  /// `leftover`, if given, gets the options of a T that we do not know ("" = none), which are
  /// skipped, as GDB does with a warning. A failing piece changes nothing.
  Status apply(std::string_view piece, std::string* leftover = nullptr);
  const std::vector<TracepointDef>& definitions() const { return definitions_; }
  std::vector<TracepointDef> take();

 private:
  struct KeyHash {
    size_t operator()(const std::pair<uint64_t, uint32_t>& key) const;
  };
  std::vector<TracepointDef> definitions_;  // in the order of first mention
  std::unordered_map<std::pair<uint64_t, uint32_t>, size_t, KeyHash> index_;
};

/// One piece into a list that somebody else keeps; searches the list, so for short ones.
Status apply_piece(std::vector<TracepointDef>& definitions, std::string_view piece,
                   std::string* leftover = nullptr);

/// T, every A, every S, every Z, and V if there is usage. Addresses have minimal digits. Source
/// texts are cut into pieces of at most `source_chunk` bytes of text (0 = never).
std::vector<std::string> format_pieces(const TracepointDef& definition, size_t source_chunk = 0);

/// `<E|D>:<step>:<pass>[:F<len>][:S][:X<len>,<code>]`, as read_definition_body() takes it.
std::string format_definition_body(const TracepointDef& definition);

/// `<n>:<value>:<builtin>:<hex name>`, of qTfV, `tsv` lines and QTDV alike.
Result<VariableDef> parse_variable(std::string_view text);
/// Minimal digits, or (QTDV) a value of 16.
std::string format_variable(const VariableDef& variable, bool padded_value = false);

}  // namespace tracewell::rsp
