#include "timeline/diff/meet.h"

#include <algorithm>
#include <bit>
#include <vector>

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

}  // namespace

LoopExit::LoopExit(const Bases& bases, const Place& last, const Place& leaves, bool other_is_a,
                   uint32_t address_bytes)
    : bases_(bases),
      last_(last),
      leaves_(leaves),
      other_is_a_(other_is_a),
      decoder_(address_bytes == 8 ? "x86-64" : "i386"),
      before_(last) {}

bool LoopExit::same_place(const Place& now) const {
  return other_is_a_ ? bases_.possible_pair(leaves_.pc, now.pc)
                     : bases_.possible_pair(now.pc, leaves_.pc);
}

bool LoopExit::look_at(std::span<const Place> places) {
  for (const Place& now : places) {
    if (before_.pc == last_.pc && count_ > 0 && same_place(now)) {
      found_ = loop_ && (now.pc < loop_->head || now.pc > loop_->latch);
      exit_ = now;
      return false;
    }
    if (!loop_ && now.pc <= last_.pc && last_.pc <= before_.pc &&
        (now.pc == before_.pc ||
         decoder_.decode(Bytes(before_.code).first(before_.code[15])).flow == machine::Flow::Jump))
      loop_ = ExtraRounds{!other_is_a_, now.pc, before_.pc, before_.pc != last_.pc};
    before_ = now;
    ++count_;
  }
  return true;
}

std::optional<Meeting> find_loop_exit(const Bases& bases, const Parting& parting) {
  if (parting.last_a == nullptr || parting.a.empty() || parting.b.empty()) return std::nullopt;
  const auto exit_of = [&](bool in_a) -> std::optional<Meeting> {
    LoopExit exit(bases, in_a ? *parting.last_a : *parting.last_b,
                  in_a ? parting.b[0] : parting.a[0], !in_a, parting.address_bytes);
    exit.look_at(in_a ? parting.a : parting.b);
    if (!exit.steps()) return std::nullopt;
    const auto steps = static_cast<size_t>(*exit.steps());
    return Meeting{in_a ? steps : 0, in_a ? 0 : steps, exit.loop(), {}, 0};
  };
  const auto in_b = exit_of(false), in_a = exit_of(true);
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
        best = Meeting{i, j, {}, {}, 0};
        return false;
      }
      return ++tries < kTries;
    });
  }
  return best;
}

}  // namespace tracewell::timeline
