#include "pads/patches.h"

namespace tracewell::pads {
namespace {

template <class Do>
void each_byte(const std::vector<Write>& writes, const Do& visit) {
  for (const Write& write : writes)
    for (size_t i = 0; i < write.bytes.size(); ++i) visit(write.address + i, write.bytes[i]);
}

template <class Do>
void each_written(const Plan& plan, const Do& visit) {
  each_byte(plan.writes, visit);
}

template <class Do>
void each_moved(const Plan& plan, const Do& visit) {
  for (const Jump& jump : plan.jumps)
    for (const Moved& moved : jump.moved)
      for (uint64_t i = 0; i < moved.length; ++i) visit(moved.address + i);
}

}  // namespace

const Patches::Byte* Patches::byte(uint64_t address) const {
  const auto it = bytes_.find(address);
  return it == bytes_.end() ? nullptr : &it->second;
}

std::optional<uint8_t> Patches::value(uint64_t address) const {
  const Byte* there = byte(address);
  if (there != nullptr && there->written) return there->value;
  const Bytes bytes = code_->bytes_at(address);
  if (bytes.empty()) return std::nullopt;
  return bytes[0];
}

const Patches::Entry* Patches::find(uint64_t site) const {
  const auto it = entries_.find(site);
  return it == entries_.end() ? nullptr : &it->second;
}

const Patches::Entry* Patches::serving(uint64_t site) const {
  const auto rider = riders_.find(site);
  const Entry* entry = find(rider == riders_.end() ? site : rider->second);
  return entry != nullptr && entry->slots.contains(site) ? entry : nullptr;
}

const Patches::Entry* Patches::meeting(Range range) const {
  for (uint64_t at = range.start; at < range.end; ++at) {
    const Byte* byte = this->byte(at);
    if (byte == nullptr) continue;
    return find(byte->written || byte->moved ? byte->owner : byte->relied.front());
  }
  return nullptr;
}

bool Patches::fits(const Plan& plan) const {
  bool good = !entries_.contains(plan.site);
  each_written(plan, [&](uint64_t at, uint8_t) { good = good && free(at); });
  each_moved(plan, [&](uint64_t at) {
    const Byte* byte = this->byte(at);
    good = good && (byte == nullptr || (!byte->moved && !byte->written));
  });
  each_byte(plan.relied, [&](uint64_t at, uint8_t value) {
    good = good && this->value(at) == value;
  });
  for (const Jump& jump : plan.jumps) good = good && space_.is_free(jump.pad_range());
  return good;
}

bool Patches::add_rider(const Plan& plan) {
  const auto host = entries_.find(plan.host);
  if (host == entries_.end() || host->second.slots.contains(plan.site)) return false;
  if (plan.site != plan.host) {
    if (!host->second.plan.copies(plan.site)) return false;
    riders_[plan.site] = plan.host;
  }
  host->second.slots.insert(plan.site);
  return true;
}

bool Patches::add(const Plan& plan) {
  if (plan.kind == Kind::None) return false;
  if (plan.kind == Kind::Rider) return add_rider(plan);
  if (!fits(plan)) return false;
  each_written(plan, [&](uint64_t at, uint8_t value) {
    Byte& byte = bytes_[at];
    byte.owner = plan.site;
    byte.written = true;
    byte.value = value;
  });
  each_moved(plan, [&](uint64_t at) {
    Byte& byte = bytes_[at];
    byte.owner = plan.site;
    byte.moved = true;
  });
  each_byte(plan.relied, [&](uint64_t at, uint8_t) {
    bytes_[at].relied.push_back(plan.site);
  });
  for (const Jump& jump : plan.jumps) {
    space_.place(jump.pad_range());
    if (jump.reach.mask == 0) behind_last_ = jump.pad_range().end;
  }
  entries_[plan.site] = {plan, {plan.site}};
  return true;
}

bool Patches::needed(const Plan& plan) const {
  bool needed = false;
  each_written(plan, [&](uint64_t at, uint8_t) { needed = needed || !byte(at)->relied.empty(); });
  return needed;
}

std::set<uint64_t> Patches::take_out(const Plan& plan) {
  std::set<uint64_t> relied_on;
  const auto tidy = [this](uint64_t at) {
    const auto it = bytes_.find(at);
    if (it != bytes_.end() && !it->second.written && !it->second.moved &&
        it->second.relied.empty())
      bytes_.erase(it);
  };
  each_byte(plan.relied, [&](uint64_t at, uint8_t) {
    Byte& byte = bytes_[at];
    std::erase(byte.relied, plan.site);
    if (byte.written) relied_on.insert(byte.owner);
    tidy(at);
  });
  each_written(plan, [&](uint64_t at, uint8_t) { bytes_[at].written = false; });
  each_moved(plan, [&](uint64_t at) { bytes_[at].moved = false; });
  each_written(plan, [&](uint64_t at, uint8_t) { tidy(at); });
  each_moved(plan, tidy);
  for (const Jump& jump : plan.jumps) space_.remove(jump.pad_range());
  return relied_on;
}

Patches::Removal Patches::remove(uint64_t site) {
  Removal removal;
  const auto rider = riders_.find(site);
  const uint64_t host = rider == riders_.end() ? site : rider->second;
  if (rider != riders_.end()) riders_.erase(rider);
  const auto entry = entries_.find(host);
  if (entry == entries_.end() || entry->second.slots.erase(site) == 0) return removal;
  // What goes may have been the last to need another one that only waits for that.
  std::set<uint64_t> looked_at = {host};
  while (!looked_at.empty()) {
    const auto it = entries_.find(*looked_at.begin());
    looked_at.erase(looked_at.begin());
    if (it == entries_.end()) continue;
    if (!it->second.slots.empty() || needed(it->second.plan)) {
      if (it->first == host) removal.changed.push_back(host);
      continue;
    }
    looked_at.merge(take_out(it->second.plan));
    removal.gone.push_back(std::move(it->second.plan));
    entries_.erase(it);
  }
  return removal;
}

}  // namespace tracewell::pads
