// QTDP and QTDPsrc: how a client downloads tracepoints (manual, "Tracepoint Packets").
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "model/catalog.h"
#include "rsp/text.h"

namespace tracewell::rsp {

/// `QTDP:<n>:<addr>:<E|D>:<step>:<pass>[:F<len>][:S][:X<len>,<code>][-]`
struct QtdpDefinition {
  TracepointDef definition;  // its actions are empty
  bool more = false;         // trailing `-`: action packets follow (or, with comments only, none)
};

/// `<E|D>:<step>:<pass>[:F<len>][:S][:X<len>,<code>]`, which QTDP and T pieces share, into the
/// fields of `definition`. Stops at the first option it does not know and leaves the cursor at its
/// colon, or at whatever else follows.
Status read_definition_body(TextReader& in, TracepointDef& definition);

/// `QTDP:-<n>:<addr>:[S]<action>+[-]`
struct QtdpActions {
  uint32_t number = 0;
  uint64_t address = 0;
  bool stepping_start = false;  // these and all that follow are while-stepping actions
  std::vector<std::string> actions;
  bool more = false;            // trailing `-`: more action packets follow
};

/// A piece of what the user typed.
struct SourcePiece {
  uint32_t number = 0;
  uint64_t address = 0;
  std::string type;     // "at", "cond", "cmd"
  uint64_t start = 0;   // where in the whole text this piece begins, bytes
  uint64_t length = 0;  // of the whole text, bytes
  std::string text;
};

/// Takes the whole packet's body behind `QTDP:`; true for the action form.
inline bool is_qtdp_actions(std::string_view body) { return body.starts_with('-'); }
/// Which tracepoint a body of either form is about; nullopt when even that cannot be read.
std::optional<std::pair<uint32_t, uint64_t>> qtdp_identity(std::string_view body);
/// Behind `QTDP:`. InvalidArgument with the offset of what is wrong.
Result<QtdpDefinition> parse_qtdp_definition(std::string_view body);
/// Behind `QTDP:`, with its leading `-`.
Result<QtdpActions> parse_qtdp_actions(std::string_view body);
/// Behind `QTDPsrc:`, or behind the `Z` of an uploaded piece.
Result<SourcePiece> parse_qtdpsrc(std::string_view body);
/// Behind its `<n>:<addr>:`; number and address are left alone.
Status parse_source_body(std::string_view body, SourcePiece& piece);

/// Adds a piece to a tracepoint's texts: one that starts at 0 is a new text, any other continues
/// the last text of its type. InvalidArgument when it does not fit there.
Status append_source(std::vector<TracepointDef::Source>& sources, const SourcePiece& piece);

}  // namespace tracewell::rsp
