#include "timeline/diff_meet.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "machine/control_flow.h"

namespace tracewell::timeline {
namespace {

constexpr size_t kAnchor = 12;     // places that have to be the same
constexpr size_t kTries = 8;       // places that look the same and are looked at
constexpr uint32_t kNone = UINT32_MAX;
constexpr uint64_t kFactor = 0x9e3779b97f4a7c15;

/// What is the same wherever a module stands.
uint64_t key_of(const Place& place, bool codes) {
  return ((place.pc % Bases::kPage) << 8 | (codes ? place.code[15] : 0)) * kFactor + 1;
}

/// Hashes of all runs of kAnchor places; behind the end of a thread is a place, too. `codes`: of
/// their opcodes, too.
std::vector<uint64_t> anchors_of(std::span<const Place> places, bool all, bool codes) {
  std::vector<uint64_t> out;
  const size_t count = places.size() + (all ? kAnchor - 1 : 0);
  if (count < kAnchor) return out;
  uint64_t oldest = 1;
  for (size_t i = 1; i < kAnchor; ++i) oldest *= kFactor;
  const auto key = [&](size_t i) { return i < places.size() ? key_of(places[i], codes) : 0; };
  out.reserve(count);
  uint64_t hash = 0;
  for (size_t i = 0; i < count; ++i) {
    if (i >= kAnchor) hash -= key(i - kAnchor) * oldest;
    hash = hash * kFactor + key(i);
    if (i + 1 >= kAnchor) out.push_back(hash);
  }
  return out;
}

bool same_way(const Bases& bases, std::span<const Place> a, std::span<const Place> b,
              size_t most) {
  const size_t count = std::min({most, a.size(), b.size()});
  for (size_t i = 0; i < count; ++i)
    if (!bases.would_pair(a[i], b[i]) || !same_length(a[i], b[i])) return false;
  return count > 0;
}

/// First places with a hash, and from each place the next that may have it.
class AnchorTable {
 public:
  explicit AnchorTable(const std::vector<uint64_t>& hashes)
      : hashes_(hashes),
        first_(std::bit_ceil(hashes.size() * 2 + 1), kNone),
        next_(hashes.size(), kNone) {
    for (size_t i = hashes.size(); i-- > 0;) {
      uint32_t& first = first_[slot(hashes[i])];
      next_[i] = first;
      first = static_cast<uint32_t>(i);
    }
  }
  /// Calls `look` with places in ascending order until it says stop (false).
  template <class Look>
  void each(uint64_t hash, Look&& look) const {
    for (uint32_t i = first_[slot(hash)]; i != kNone; i = next_[i])
      if (hashes_[i] == hash && !look(size_t{i})) return;
  }

 private:
  size_t slot(uint64_t hash) const { return (hash ^ hash >> 32) & (first_.size() - 1); }

  const std::vector<uint64_t>& hashes_;
  std::vector<uint32_t> first_, next_;
};

/// The step `last` went into a loop with `stays`, and out of it with `leaves`.
std::optional<Meeting> exit_of(const Place& last, std::span<const Place> stays, const Place& leaves,
                               uint32_t address_bytes, const auto& same_place) {
  const machine::FlowDecoder decoder(address_bytes == 8 ? "x86-64" : "i386");
  std::optional<ExtraRounds> loop;
  const Place* before = &last;
  for (size_t i = 0; i < stays.size(); ++i) {
    const Place& now = stays[i];
    if (before->pc == last.pc && i > 0 && same_place(leaves, now)) {
      const bool outside = loop && (now.pc < loop->head || now.pc > loop->latch);
      if (!outside) return std::nullopt;
      return Meeting{0, i, loop};
    }
    if (!loop && now.pc <= last.pc && last.pc <= before->pc &&
        (now.pc == before->pc ||
         decoder.decode(Bytes(before->code).first(before->code[15])).flow == machine::Flow::Jump))
      loop = ExtraRounds{false, now.pc, before->pc, before->pc != last.pc};
    before = &now;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Meeting> find_loop_exit(const Bases& bases, const Parting& parting) {
  if (parting.last_a == nullptr || parting.a.empty() || parting.b.empty()) return std::nullopt;
  auto in_b = exit_of(*parting.last_b, parting.b, parting.a[0], parting.address_bytes,
                      [&](const Place& a, const Place& b) {
                        return bases.possible_pair(a.pc, b.pc);
                      });
  auto in_a = exit_of(*parting.last_a, parting.a, parting.b[0], parting.address_bytes,
                      [&](const Place& b, const Place& a) {
                        return bases.possible_pair(a.pc, b.pc);
                      });
  if (in_a) {
    std::swap(in_a->a, in_a->b);
    in_a->loop->in_a = true;
  }
  std::optional<Meeting> best;
  for (const auto& one : {in_a, in_b}) {
    // A loop and its exit need no more evidence; the next difference may be right behind it.
    if (!one || !same_way(bases, parting.a.subspan(one->a), parting.b.subspan(one->b), 1)) continue;
    if (!best || one->a + one->b < best->a + best->b) best = one;
  }
  return best;
}

std::optional<Meeting> find_anchor(const Bases& bases, const Parting& parting) {
  const bool codes = std::ranges::all_of(parting.a, is_code_known) &&
                     std::ranges::all_of(parting.b, is_code_known);
  const std::vector<uint64_t> of_a = anchors_of(parting.a, parting.all_a, codes);
  const std::vector<uint64_t> of_b = anchors_of(parting.b, parting.all_b, codes);
  const AnchorTable table(of_b);
  std::optional<Meeting> best;
  const size_t count = std::min(of_a.size(), parting.a.size());
  for (size_t i = 0; i < count && (!best || i < best->a + best->b); ++i) {
    size_t tries = 0;
    table.each(of_a[i], [&](size_t j) {
      if (best && i + j >= best->a + best->b) return false;
      if (i + j > 0 && j < parting.b.size() &&
          same_way(bases, parting.a.subspan(i), parting.b.subspan(j), kAnchor)) {
        best = Meeting{i, j, {}};
        return false;
      }
      return ++tries < kTries;
    });
  }
  return best;
}

}  // namespace tracewell::timeline
