// The handlers: on_<IDENTIFIER> of each entry in packets.def, and the table of them.
#pragma once

#include <span>
#include <string_view>

#include "agent/session/session.h"

namespace tracewell::agent {

/// Parses `body` (what follows the packet's name), does it, writes the reply.
using PacketHandler = void (*)(Session& session, std::string_view body, Reply& reply);

/// What must be there for a packet to be known.
enum class Needs : uint8_t {
  always,
  trace,
  control,
  processes,
  breakpoints,
  sites,
  facts,
  libraries,
  signals,
  system_calls,
  thread_locals,
  time_travel,
};

struct PacketEntry {
  std::string_view name;
  std::string_view identifier;
  PacketHandler handler;
  Needs needs;
  std::string_view features;
};

/// All of packets.def, in its order.
std::span<const PacketEntry> packet_table();

/// The entry with the longest name that `packet` begins with. A name of several characters that
/// ends in a letter or digit ("qC") is only found when no letter or digit follows, so that "qCfoo"
/// stays unknown. nullptr = unknown, to be answered empty.
const PacketEntry* find_packet(std::string_view packet);

/// The name without the separators at its end: "vCont" of "vCont;".
std::string_view without_separators(std::string_view name);

/// Does the session have what the packet needs?
bool available(const Session& session, Needs needs);

#define PACKET(name, identifier, needs, features) \
  void on_##identifier(Session& session, std::string_view body, Reply& reply);
#include "agent/packets.def"
#undef PACKET

}  // namespace tracewell::agent
