#include "rsp/qtdp.h"

#include "base/text/hex.h"
#include "rsp/actions.h"
#include "rsp/text.h"

namespace tracewell::rsp {
namespace {

Error bad_packet(const TextReader& in, std::string_view what) {
  return {Errc::InvalidArgument, std::string(what), in.offset()};
}

/// The error of a part, with its offset counted from the start of the whole.
Error moved(Error error, size_t part_at) {
  error.offset = error.offset.value_or(0) + part_at;
  return error;
}

/// `<n>:<addr>:`
Status read_identity(TextReader& in, uint32_t& number, uint64_t& address) {
  const auto n = in.hex32();
  if (!n || !in.skip(':')) return bad_packet(in, "bad tracepoint number");
  const auto at = in.hex_until(':');
  if (!at) return bad_packet(in, "bad tracepoint address");
  number = *n;
  address = *at;
  return {};
}

}  // namespace

std::optional<std::pair<uint32_t, uint64_t>> qtdp_identity(std::string_view body) {
  TextReader in(body);
  in.skip('-');
  uint32_t number = 0;
  uint64_t address = 0;
  if (!read_identity(in, number, address)) return std::nullopt;
  return std::pair(number, address);
}

Status read_definition_body(TextReader& in, TracepointDef& definition) {
  definition.enabled = in.peek() == 'E';
  if (!in.skip('E') && !in.skip('D')) return bad_packet(in, "neither E nor D");
  if (!in.skip(':')) return bad_packet(in, "no step count");
  const auto steps = in.hex_until(':');
  if (!steps) return bad_packet(in, "bad step count");
  const auto passes = in.hex();
  if (!passes) return bad_packet(in, "bad pass count");
  definition.step_count = *steps;
  definition.pass_count = *passes;
  while (true) {
    if (in.skip(":F")) {
      definition.fast_length = in.hex();
      if (!definition.fast_length) return bad_packet(in, "bad length of a fast tracepoint");
    } else if (in.skip(":S")) {
      definition.is_static = true;
    } else if (in.skip(":X")) {
      auto code = in.sized_hex_bytes();
      if (!code) return bad_packet(in, "bad condition");
      definition.condition = *std::move(code);
    } else {
      return {};
    }
  }
}

Result<QtdpDefinition> parse_qtdp_definition(std::string_view body) {
  TextReader in(body);
  QtdpDefinition result;
  TW_RETURN_IF_ERROR(read_identity(in, result.definition.number, result.definition.address));
  TW_RETURN_IF_ERROR(read_definition_body(in, result.definition));
  result.more = in.skip('-');
  if (!in.done()) return bad_packet(in, "unknown option of a tracepoint");
  return result;
}

Result<QtdpActions> parse_qtdp_actions(std::string_view body) {
  TextReader in(body);
  if (!in.skip('-')) return bad_packet(in, "tracepoint actions begin with -");
  QtdpActions result;
  TW_RETURN_IF_ERROR(read_identity(in, result.number, result.address));
  result.stepping_start = in.skip('S');
  const size_t actions_at = in.offset();
  std::string_view actions = in.take_rest();
  // No action ends in `-`: the one inside `M-1,…` has digits behind it.
  result.more = actions.ends_with('-');
  if (result.more) actions.remove_suffix(1);
  auto pieces = split_actions(actions);
  if (!pieces.ok()) return moved(std::move(pieces).error(), actions_at);
  if (pieces->empty()) return bad_packet(in, "tracepoint actions without an action");
  result.actions = *std::move(pieces);
  return result;
}

Status parse_source_body(std::string_view body, SourcePiece& piece) {
  TextReader in(body);
  const size_t colon = body.find(':');
  if (colon == 0 || colon == std::string_view::npos) return bad_packet(in, "source without a type");
  const std::string_view type = in.take_until(':');
  const auto start = in.hex_until(':');
  if (!start) return bad_packet(in, "bad start of a source text");
  const auto length = in.hex_until(':');
  if (!length) return bad_packet(in, "bad length of a source text");
  auto text = text_from_hex(in.rest());
  if (!text) return bad_packet(in, "source text that is not hex");
  if (*start > *length || text->size() > *length - *start)
    return bad_packet(in, "source text longer than it says");
  piece.type = type;
  piece.start = *start;
  piece.length = *length;
  piece.text = *std::move(text);
  return {};
}

Result<SourcePiece> parse_qtdpsrc(std::string_view body) {
  TextReader in(body);
  SourcePiece piece;
  TW_RETURN_IF_ERROR(read_identity(in, piece.number, piece.address));
  if (Status status = parse_source_body(in.rest(), piece); !status.ok())
    return moved(std::move(status).error(), in.offset());
  return piece;
}

Status append_source(std::vector<TracepointDef::Source>& sources, const SourcePiece& piece) {
  if (piece.start == 0) {
    sources.push_back({piece.type, piece.text});
    return {};
  }
  for (auto at = sources.rbegin(); at != sources.rend(); ++at) {
    if (at->type != piece.type) continue;
    if (at->text.size() != piece.start) break;
    at->text += piece.text;
    return {};
  }
  return {Errc::InvalidArgument, "piece of a source text that continues nothing"};
}

}  // namespace tracewell::rsp
