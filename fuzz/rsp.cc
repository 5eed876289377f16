// The remote protocol's parsers. The first byte chooses one, the second seeds how input is cut.
// What a parser accepts must survive being written and read again; what differs aborts.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/text/xml.h"
#include "rsp/actions.h"
#include "rsp/breakpoint.h"
#include "rsp/definitions.h"
#include "rsp/frame_select.h"
#include "rsp/frames.h"
#include "rsp/framing.h"
#include "rsp/qtdp.h"
#include "rsp/qxfer.h"
#include "rsp/status.h"
#include "rsp/thread_id.h"
#include "rsp/vcont.h"

using namespace tracewell;
using namespace tracewell::rsp;

namespace {

constexpr size_t kLimit = 256;

std::vector<std::string> items(Sender sender, bool no_ack, Bytes input, size_t step) {
  Decoder decoder(sender, kLimit);
  decoder.set_no_ack(no_ack);
  std::vector<std::string> out;
  for (size_t at = 0; at < input.size(); at += step) {
    decoder.feed(input.subspan(at, std::min(step, input.size() - at)));
    while (auto item = decoder.next()) {
      TW_CHECK(item->payload.size() <= kLimit);
      out.push_back(static_cast<char>('0' + static_cast<int>(item->kind)) + item->payload);
    }
  }
  return out;
}

void fuzz_decoder(uint8_t seed, Bytes input) {
  const Sender sender = seed & 1 ? Sender::Stub : Sender::Client;
  const bool no_ack = seed & 2;
  const auto whole = items(sender, no_ack, input, input.size() + 1);
  TW_CHECK(whole == items(sender, no_ack, input, 1 + (seed >> 2)));
}

void fuzz_framing(uint8_t seed, Bytes input) {
  const std::string payload = escape(input);
  const std::string packet = frame(payload, seed & 1);
  Decoder decoder(Sender::Stub);
  const size_t cut = packet.size() * seed / 256;
  decoder.feed(packet.substr(0, cut));
  TW_CHECK(!decoder.next());
  decoder.feed(packet.substr(cut));
  const auto item = decoder.next();
  TW_CHECK(item && item->kind == Item::Kind::Packet && item->payload == payload);
  const auto back = unescape(item->payload);
  TW_CHECK(back.ok() && as_text(*back) == as_text(input));
  (void)unescape(as_text(input));
  (void)escape_xml(as_text(input));
  (void)plain_text(as_text(input));
}

void fuzz_status(std::string_view text) {
  std::vector<std::string> unknown;
  const auto status = parse_status(text, &unknown);
  if (!status.ok()) return;
  const std::string wire = format_status(*status);
  const std::string file = format_status_tfile(*status);
  TW_CHECK(format_status(*parse_status(wire)) == wire);
  TW_CHECK(format_status_tfile(*parse_status(file)) == file);
}

std::vector<std::string> all_pieces(const std::vector<TracepointDef>& definitions, size_t chunk) {
  std::vector<std::string> pieces;
  for (const TracepointDef& one : definitions)
    for (std::string& piece : format_pieces(one, chunk)) pieces.push_back(std::move(piece));
  return pieces;
}

/// Lines of pieces.
void fuzz_pieces(uint8_t seed, std::string_view text) {
  DefinitionBuilder builder;
  std::vector<TracepointDef> list;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view piece = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    std::string leftover;
    TW_CHECK(builder.apply(piece, &leftover).ok() == apply_piece(list, piece).ok());
  }
  const auto pieces = all_pieces(builder.definitions(), 0);
  TW_CHECK(pieces == all_pieces(list, 0));
  DefinitionBuilder again;
  for (const std::string& piece : all_pieces(list, seed)) TW_CHECK(again.apply(piece).ok());
  TW_CHECK(pieces == all_pieces(again.definitions(), 0));
}

void fuzz_qtdp(std::string_view text) {
  if (const auto parsed = parse_qtdp_definition(text); parsed.ok()) {
    const std::string body = format_definition_body(parsed->definition);
    const auto again = parse_qtdp_definition("1:2:" + body);
    TW_CHECK(again.ok() && format_definition_body(again->definition) == body);
  }
  if (const auto parsed = parse_qtdp_actions(text); parsed.ok())
    for (const std::string& action : parsed->actions) TW_CHECK(split_actions(action)->size() == 1);
  (void)parse_qtdpsrc(text);
  if (const auto variable = parse_variable(text); variable.ok()) {
    const std::string padded = format_variable(*variable, true);
    TW_CHECK(format_variable(*parse_variable(padded)) == format_variable(*variable));
  }
}

void fuzz_actions(std::string_view text) {
  const auto actions = parse_actions(text);
  const auto pieces = split_actions(text);
  TW_CHECK(actions.ok() == pieces.ok());
  if (!actions.ok()) return;
  TW_CHECK(actions->size() == pieces->size());
  std::string joined, canonical;
  for (const std::string& piece : *pieces) joined += piece;
  for (const Action& action : *actions) canonical += format_action(action);
  TW_CHECK(joined == text);
  TW_CHECK(*parse_actions(canonical) == *actions);
}

void fuzz_packets(std::string_view text) {
  if (const auto select = parse_frame_select(text); select.ok())
    TW_CHECK(*parse_frame_select(format_frame_select(*select)) == *select);
  if (const auto id = parse_thread_id(text); id.ok())
    TW_CHECK(*parse_thread_id(format_thread_id(*id, true)) == *id);
  (void)parse_vcont(text);
  (void)parse_breakpoint(text);
  (void)parse_qxfer(text);
}

void fuzz_qxfer_reply(uint8_t seed, Bytes input) {
  std::string read;
  const size_t packet = 3 + (seed & 15);
  const uint64_t length = 1 + (seed >> 4);
  while (true) {
    const std::string reply = qxfer_reply(input, read.size(), length, packet);
    TW_CHECK(reply.size() <= packet);
    read += as_text(*unescape(reply.substr(1)));
    if (reply[0] == 'l') break;
  }
  TW_CHECK(read == as_text(input));
}

/// Whatever blocks are found must encode to the bytes that they were found in.
void fuzz_frames(uint8_t seed, Bytes input) {
  const Endian endian = seed & 1 ? Endian::Big : Endian::Little;
  const auto header = read_frame_header(input, endian);
  if (!header || header->tracepoint == 0) return;
  const Bytes data = input.subspan(kFrameHeaderBytes);
  const Bytes body = data.first(std::min<size_t>(header->size, data.size()));
  BlockWalker walker(body, seed >> 1, endian);
  std::vector<FrameBlock> blocks;
  while (auto block = walker.next()) blocks.push_back(*block);
  if (walker.failed()) TW_CHECK(walker.error().offset == walker.offset());
  if (!walker.failed()) TW_CHECK(walker.offset() == body.size());
  std::vector<uint8_t> out;
  TW_CHECK(encode_frame(out, header->tracepoint, blocks, endian).ok());
  TW_CHECK(out.size() == kFrameHeaderBytes + walker.offset());
  TW_CHECK(as_text(Bytes(out).subspan(kFrameHeaderBytes)) ==
           as_text(body.first(walker.offset())));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const uint8_t seed = data[1];
  const Bytes input(data + 2, size - 2);
  const std::string_view text = as_text(input);
  switch (data[0] % 9) {
    case 0: fuzz_decoder(seed, input); break;
    case 1: fuzz_framing(seed, input); break;
    case 2: fuzz_status(text); break;
    case 3: fuzz_pieces(seed, text); break;
    case 4: fuzz_qtdp(text); break;
    case 5: fuzz_actions(text); break;
    case 6: fuzz_packets(text); break;
    case 7: fuzz_qxfer_reply(seed, input); break;
    case 8: fuzz_frames(seed, input); break;
  }
  return 0;
}
