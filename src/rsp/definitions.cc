#include "rsp/definitions.h"

#include <algorithm>

#include "base/text/hex.h"
#include "rsp/qtdp.h"
#include "rsp/text.h"

namespace tracewell::rsp {
namespace {

Error bad_piece(const TextReader& in, std::string_view what) {
  return {Errc::InvalidArgument, std::string(what), in.offset()};
}

void overwrite_definition(TracepointDef& to, TracepointDef&& from) {
  to.enabled = from.enabled;
  to.step_count = from.step_count;
  to.pass_count = from.pass_count;
  to.fast_length = from.fast_length;
  to.is_static = from.is_static;
  to.condition = std::move(from.condition);
}

Status update_definition(TracepointDef& to, std::string_view body, std::string* leftover) {
  TextReader in(body);
  TracepointDef parsed;
  TW_RETURN_IF_ERROR(read_definition_body(in, parsed));
  overwrite_definition(to, std::move(parsed));
  if (leftover) *leftover = in.rest();
  return {};
}

Status update_usage(TracepointDef& to, std::string_view body) {
  TextReader in(body);
  const auto hits = in.hex_until(':');
  if (!hits) return bad_piece(in, "bad hit count");
  const auto bytes = in.hex();
  if (!bytes) return bad_piece(in, "bad usage");
  to.usage = TracepointDef::Usage{*hits, *bytes};
  return {};
}

Status update_part(TracepointDef& to, const Piece& piece, std::string* leftover) {
  if (leftover) leftover->clear();
  switch (piece.kind) {
    case Piece::Kind::Definition: return update_definition(to, piece.body, leftover);
    case Piece::Kind::Action: to.actions.emplace_back(piece.body); return {};
    case Piece::Kind::StepAction: to.step_actions.emplace_back(piece.body); return {};
    case Piece::Kind::Source: {
      SourcePiece source;
      TW_RETURN_IF_ERROR(parse_source_body(piece.body, source));
      return append_source(to.sources, source);
    }
    case Piece::Kind::Usage: return update_usage(to, piece.body);
  }
  return {Errc::InvalidArgument, "unknown piece"};
}

/// Changes nothing when it fails.
Status update(TracepointDef& to, const Piece& piece, std::string* leftover) {
  Status status = update_part(to, piece, leftover);
  if (!status.ok()) status.error().offset = status.error().offset.value_or(0) + piece.body_at;
  return status;
}

TracepointDef fresh_definition(const Piece& piece) {
  TracepointDef fresh;
  fresh.number = piece.number;
  fresh.address = piece.address;
  fresh.enabled = false;
  return fresh;
}

}  // namespace

Result<Piece> parse_piece(std::string_view text) {
  TextReader in(text);
  const char kind = in.peek();
  if (kind == '\0' || std::string_view("TASZV").find(kind) == std::string_view::npos)
    return bad_piece(in, "unknown piece of a tracepoint");
  in.skip(kind);
  const auto number = in.hex32();
  if (!number || !in.skip(':')) return bad_piece(in, "bad tracepoint number");
  const auto address = in.hex_until(':');
  if (!address) return bad_piece(in, "bad tracepoint address");
  return Piece{static_cast<Piece::Kind>(kind), *number, *address, in.rest(), in.offset()};
}

size_t DefinitionBuilder::KeyHash::operator()(const std::pair<uint64_t, uint32_t>& key) const {
  // Addresses of code share their low and high bits; a multiplication spreads what differs.
  return static_cast<size_t>((key.first ^ uint64_t{key.second} << 48) * 0x9e3779b97f4a7c15u >> 7);
}

Status DefinitionBuilder::apply(std::string_view text, std::string* leftover) {
  TW_ASSIGN_OR_RETURN(const Piece piece, parse_piece(text));
  const std::pair<uint64_t, uint32_t> key(piece.address, piece.number);
  if (const auto at = index_.find(key); at != index_.end())
    return update(definitions_[at->second], piece, leftover);
  TracepointDef fresh = fresh_definition(piece);
  TW_RETURN_IF_ERROR(update(fresh, piece, leftover));
  index_.emplace(key, definitions_.size());
  definitions_.push_back(std::move(fresh));
  return {};
}

std::vector<TracepointDef> DefinitionBuilder::take() {
  index_.clear();
  return std::exchange(definitions_, {});
}

Status apply_piece(std::vector<TracepointDef>& definitions, std::string_view text,
                   std::string* leftover) {
  TW_ASSIGN_OR_RETURN(const Piece piece, parse_piece(text));
  const auto at = std::find_if(definitions.begin(), definitions.end(), [&](const auto& one) {
    return one.number == piece.number && one.address == piece.address;
  });
  if (at != definitions.end()) return update(*at, piece, leftover);
  TracepointDef fresh = fresh_definition(piece);
  TW_RETURN_IF_ERROR(update(fresh, piece, leftover));
  definitions.push_back(std::move(fresh));
  return {};
}

}  // namespace tracewell::rsp
