// One function a parser; the name of this file lets the build find it.
#include "describe.h"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text/hex.h"
#include "base/text/text.h"
#include "rsp/actions.h"
#include "rsp/breakpoint.h"
#include "rsp/definitions.h"
#include "rsp/frame_select.h"
#include "rsp/framing.h"
#include "rsp/qtdp.h"
#include "rsp/qxfer.h"
#include "rsp/status.h"
#include "rsp/thread_id.h"
#include "rsp/vcont.h"

namespace tracewell::rsp {
namespace {

template <class T>
Lines refused(const Result<T>& result) {
  return {fmt::format("refused: {} {}", errc_name(result.error().code), result.error().text())};
}

Lines describe_items(Sender sender, std::string_view text) {
  static constexpr std::string_view kKinds[] = {"packet", "notification", "bad",      "oversized",
                                                "ack",    "nak",          "interrupt"};
  Decoder decoder(sender, 32);
  decoder.feed(text);
  Lines lines;
  while (auto item = decoder.next()) {
    std::string line(kKinds[static_cast<size_t>(item->kind)]);
    if (!item->payload.empty()) line += " '" + quote(item->payload) + "'";
    lines.push_back(line);
    if (item->payload == "QStartNoAckMode") decoder.set_no_ack(true);
  }
  return lines;
}

Lines describe_status(std::string_view text) {
  std::vector<std::string> unknown;
  const auto status = parse_status(text, &unknown);
  if (!status.ok()) return refused(status);
  Lines lines{"wire  " + format_status(*status), "tfile " + format_status_tfile(*status)};
  for (const std::string& field : unknown) lines.push_back("unknown " + quote(field));
  return lines;
}

Lines describe_pieces(std::string_view text) {
  DefinitionBuilder builder;
  std::vector<TracepointDef> list;
  Lines lines;
  for (const std::string_view piece : split(text, ' ')) {
    std::string leftover;
    const Status status = builder.apply(piece, &leftover);
    const Status same = apply_piece(list, piece);
    if (status.ok() != same.ok()) lines.push_back("apply_piece differs");
    if (!status.ok()) lines.push_back(refused(status)[0]);
    if (!leftover.empty()) lines.push_back("leftover " + leftover);
  }
  Lines others;
  for (const TracepointDef& one : list)
    for (const std::string& piece : format_pieces(one)) others.push_back(piece);
  const size_t before = lines.size();
  for (const TracepointDef& one : builder.definitions())
    for (const std::string& piece : format_pieces(one)) lines.push_back(piece);
  if (Lines(lines.begin() + static_cast<ptrdiff_t>(before), lines.end()) != others)
    lines.push_back("apply_piece differs");
  return lines;
}

Lines describe_variable(std::string_view text) {
  const auto variable = parse_variable(text);
  if (!variable.ok()) return refused(variable);
  return {fmt::format("{} '{}'", variable->initial_value, quote(variable->name)),
          format_variable(*variable), format_variable(*variable, true)};
}

Lines describe_actions(std::string_view text) {
  const auto actions = parse_actions(text);
  const auto pieces = split_actions(text);
  if (actions.ok() != pieces.ok()) return {"split_actions differs"};
  if (!actions.ok()) return refused(actions);
  Lines lines;
  for (size_t i = 0; i < actions->size(); ++i) {
    std::string line = format_action((*actions)[i]);
    if (line != (*pieces)[i]) line += " written " + (*pieces)[i];
    lines.push_back(line);
  }
  return lines;
}

Lines describe_qtdp(std::string_view body) {
  if (is_qtdp_actions(body)) {
    const auto actions = parse_qtdp_actions(body);
    if (!actions.ok()) return refused(actions);
    return {fmt::format("actions of {:x} at {:x}{}{}", actions->number, actions->address,
                        actions->stepping_start ? ", stepping" : "", actions->more ? ", more" : ""),
            fmt::format("{}", fmt::join(actions->actions, " "))};
  }
  const auto parsed = parse_qtdp_definition(body);
  if (!parsed.ok()) return refused(parsed);
  return {format_pieces(parsed->definition)[0] + (parsed->more ? ", more" : "")};
}

Lines describe_source(std::string_view body) {
  const auto source = parse_qtdpsrc(body);
  if (!source.ok()) return refused(source);
  return {fmt::format("{:x} at {:x} {} {}+{} of {}: '{}'", source->number, source->address,
                      source->type, source->start, source->text.size(), source->length,
                      quote(source->text))};
}

Lines describe_frame_select(std::string_view body) {
  static constexpr std::string_view kKinds[] = {"none", "number", "pc",
                                                "tracepoint", "range", "outside"};
  const auto select = parse_frame_select(body);
  if (!select.ok()) return refused(select);
  return {fmt::format("{} {}", kKinds[static_cast<size_t>(select->kind)],
                      format_frame_select(*select))};
}

Lines describe_thread(std::string_view text) {
  const auto id = parse_thread_id(text);
  if (!id.ok()) return refused(id);
  return {fmt::format("{} {} {} {}", id->pid, id->tid, format_thread_id(*id, true),
                      format_thread_id(*id, false))};
}

Lines describe_vcont(std::string_view body) {
  static constexpr std::string_view kKinds[] = {"continue", "step", "stop", "range-step"};
  const auto actions = parse_vcont(body);
  if (!actions.ok()) return refused(actions);
  Lines lines;
  for (const VContAction& one : *actions) {
    std::string line(kKinds[static_cast<size_t>(one.kind)]);
    if (one.signal != 0) line += fmt::format(" signal {}", one.signal);
    if (one.kind == VContAction::Kind::RangeStep)
      line += fmt::format(" {:x} to {:x}", one.start, one.end);
    line += " " + (one.thread ? format_thread_id(*one.thread, true) : "others");
    lines.push_back(line);
  }
  return lines;
}

Lines describe_breakpoint(std::string_view packet) {
  const auto request = parse_breakpoint(packet);
  if (!request.ok()) return refused(request);
  Lines lines{fmt::format("{} {} at {:x}, {:x}", request->insert ? "insert" : "remove",
                          static_cast<int>(request->type), request->address, request->kind)};
  for (const auto& code : request->conditions) lines.push_back("if " + to_hex(code));
  for (const auto& code : request->commands) lines.push_back("do " + to_hex(code));
  if (request->persist) lines.push_back("persist");
  return lines;
}

Lines describe_qxfer(std::string_view body) {
  const auto request = parse_qxfer(body);
  if (!request.ok()) return refused(request);
  const std::string what = request->write
                               ? to_hex(request->data)
                               : fmt::format("{:x} bytes", request->length);
  return {fmt::format("{} {} '{}' at {:x}: {}", request->write ? "write" : "read",
                      request->object, request->annex, request->offset, what)};
}

}  // namespace

std::string quote(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c < ' ' || c > '~')
      out += fmt::format("\\x{:02x}", static_cast<uint8_t>(c));
    else
      out += c == '\\' ? "\\\\" : std::string(1, c);
  }
  return out;
}

std::string unquote(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && text.substr(i + 1, 1) == "\\") ++i;
    if (text[i] == '\\' && text.substr(i + 1, 1) == "x") {
      out += static_cast<char>(hex_digit(text[i + 2]) << 4 | hex_digit(text[i + 3]));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

Lines describe(std::string_view name, std::string_view text) {
  if (name == "client") return describe_items(Sender::Client, text);
  if (name == "stub") return describe_items(Sender::Stub, text);
  if (name == "status") return describe_status(text);
  if (name == "pieces") return describe_pieces(text);
  if (name == "variable") return describe_variable(text);
  if (name == "actions") return describe_actions(text);
  if (name == "qtdp") return describe_qtdp(text);
  if (name == "qtdpsrc") return describe_source(text);
  if (name == "qtframe") return describe_frame_select(text);
  if (name == "thread") return describe_thread(text);
  if (name == "vcont") return describe_vcont(text);
  if (name == "breakpoint") return describe_breakpoint(text);
  if (name == "qxfer") return describe_qxfer(text);
  return {"unknown parser"};
}

}  // namespace tracewell::rsp
