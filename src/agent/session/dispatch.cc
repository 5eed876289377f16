// packets.def as a table, and the search in it.
#include <array>

#include "agent/packets.h"

namespace tracewell::agent {
namespace {

constexpr PacketEntry kTable[] = {
#define PACKET(name, identifier, needs, features) \
  {name, #identifier, &on_##identifier, Needs::needs, features},
#include "agent/packets.def"
#undef PACKET
};

constexpr bool names_are_unique() {
  for (const PacketEntry& a : kTable)
    for (const PacketEntry& b : kTable)
      if (&a != &b && (a.name == b.name || a.identifier == b.identifier)) return false;
  return true;
}
static_assert(names_are_unique(), "packets.def: a name or an identifier stands there twice");

constexpr bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool begins_with(std::string_view packet, std::string_view name) {
  if (!packet.starts_with(name)) return false;
  const bool ends_in_word = name.size() > 1 && is_word(name.back());
  return !ends_in_word || packet.size() == name.size() || !is_word(packet[name.size()]);
}

}  // namespace

std::span<const PacketEntry> packet_table() { return kTable; }

const PacketEntry* find_packet(std::string_view packet) {
  const PacketEntry* best = nullptr;
  for (const PacketEntry& entry : kTable)
    if ((!best || entry.name.size() > best->name.size()) && begins_with(packet, entry.name))
      best = &entry;
  return best;
}

std::string_view without_separators(std::string_view name) {
  while (name.size() > 1 && std::string_view(":;,?").find(name.back()) != name.npos)
    name.remove_suffix(1);
  return name;
}

bool available(const Session& session, Needs needs) {
  switch (needs) {
    case Needs::always: return true;
    case Needs::trace: return session.trace != nullptr;
    case Needs::control: return session.trace && session.trace->control();
    case Needs::processes: return session.target.process_control() != nullptr;
    case Needs::breakpoints: return session.target.breakpoints() != nullptr;
    case Needs::sites: return session.target.trace_sites() != nullptr;
    case Needs::facts: return session.target.facts() != nullptr;
    case Needs::libraries: return session.target.libraries() != nullptr;
    case Needs::signals: return session.target.signals() != nullptr;
    case Needs::system_calls: return session.target.system_calls() != nullptr;
    case Needs::thread_locals: return session.target.thread_locals() != nullptr;
    case Needs::time_travel: return session.target.time_travel() != nullptr;
  }
  return false;
}

}  // namespace tracewell::agent
