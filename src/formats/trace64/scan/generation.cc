#include "formats/trace64/scan/generation.h"

#include <algorithm>
#include <bitset>
#include <optional>

#include <fmt/format.h>

#include "formats/trace64/blocks/user.h"

namespace tracewell::formats::trace64 {
namespace {

constexpr uint64_t kWordedBlocksMax = 20000;          // whose words are looked at
constexpr uint64_t kBlocksInAll = 2'000'000;  // of all sessions, for pushes
constexpr size_t kDumpsMax = 4096;            // of a session, likewise

class Detective {
 public:
  Detective(Bytes file, const Scan& scan)
      : file_(file), scan_(scan), shape_(scan.shape()), judge_(shape_) {}

  Generation find() {
    for (size_t i = 0; i < scan_.sessions().size(); ++i) look_at_session(i);
    found_.minimal = !repeats_ && unannounced_;
    return std::move(found_);
  }

 private:
  /// Its first blocks, up to what is missing.
  void look_at_session(size_t session) {
    const auto& sessions = scan_.sessions();
    const uint64_t from = sessions[session];
    const uint64_t to = session + 1 < sessions.size() ? sessions[session + 1] : scan_.count();
    const Keyframe* key = scan_.keyframe_at(from);
    uint64_t at = key->offset;
    const auto& gaps = scan_.gaps();
    const auto gap = std::lower_bound(gaps.begin(), gaps.end(), at,
                                      [](const Gap& one, uint64_t o) { return one.from < o; });
    const uint64_t end = gap == gaps.end() ? scan_.end() : gap->from;
    judge_.restart();
    Block block;
    for (uint64_t seq = from; seq < to && at < end && blocks_ < kBlocksInAll; at += block.size) {
      const bool words = worded_ < kWordedBlocksMax;
      if (judge_.is_sure() && !words) break;
      if (read_block(file_, at, shape_, scan_.is_hidden(at), block) != Reading::Whole) break;
      if (block.is_user()) continue;
      if (words) look_at_words(block, seq == from, seq + 1 == to);
      judge_.add(block);
      ++seq;
      ++blocks_;
    }
    found_.push_old.push_back(told(from, to).value_or(judge_.verdict()));
    found_.both_entries |= judge_.both_entries();
    found_.leave_entries |= judge_.leave_entries();
    found_.leave_bare |= judge_.leave_bare();
  }

  /// What a block of ours says of the session of the steps from `from` to in front of `to`.
  std::optional<PushOld> told(uint64_t from, uint64_t to) {
    const auto& all = scan_.user_blocks();
    const uint64_t begin = scan_.keyframe_at(from)->offset;
    const uint64_t end = to == scan_.count() ? scan_.end() : scan_.keyframe_at(to)->offset;
    std::optional<PushOld> out;
    for (; told_at_ < all.size() && all[told_at_].offset < end; ++told_at_) {
      const UserBlock& one = all[told_at_];
      if (one.type != kOwnBlockType) continue;
      const auto own = read_own_block(one.type, file_.subspan(one.offset + 5, one.size));
      if (!own || own->kind != OwnKind::Pushes || own->data.empty()) continue;
      const bool of_step_behind = own->data.size() == 2 && own->data[1] == 1;
      if (of_step_behind && one.seq >= to) break;  // the next session's first step is a push
      if (of_step_behind ? one.seq >= from : own->data.size() == 1 && one.offset >= begin)
        if (own->data[0] <= kPushOldMax) out = static_cast<PushOld>(own->data[0]);
    }
    return out ? out : told_at_dumps(from, to);
  }

  /// The same, by what stands in front of full dumps: where damage has taken the other block.
  std::optional<PushOld> told_at_dumps(uint64_t from, uint64_t to) const {
    const auto& all = scan_.keyframes();
    auto at = std::ranges::lower_bound(all, from, {}, &Keyframe::seq);
    Block block;
    for (size_t i = 0; i < kDumpsMax && at != all.end() && at->seq < to; ++i, ++at) {
      if (at->joint < Joint::Begins) return std::nullopt;  // not of our writing
      for (uint64_t place = at->lead; place < at->offset; place += block.size) {
        if (read_block(file_, place, shape_, false, block) != Reading::Whole) break;
        const auto own = read_own_block(block.type, block.user_data);
        if (own && own->kind == OwnKind::Dump && own->data.size() == 2 &&
            own->data[1] <= kPushOldMax)
          return static_cast<PushOld>(own->data[1]);
      }
    }
    return std::nullopt;
  }

  /// x64dbg announces a change in the block before, with the value that is about to go. A session's
  /// last block does so in either style: nobody knows what with.
  void look_at_words(const Block& block, bool first, bool last) {
    std::bitset<kWordsMax> listed;
    uint32_t word = 0;
    for (uint32_t i = 0; i < block.register_count; ++i, ++word) {
      word += block.positions[i];
      if (word >= shape_.words) break;  // somebody has changed the file
      listed.set(word);
      if (first || block.is_full(shape_)) continue;
      const uint64_t value =
          load_uint(block.values + i * shape_.word, shape_.word, Endian::Little);
      if (state_.valid[word] && state_.word(word, shape_) == value)
        repeats_ |= !last;
      else if (!listed_[word])
        unannounced_ = true;
    }
    ++worded_;
    listed_ = listed;
    state_.apply(block, shape_);
  }

  Bytes file_;
  const Scan& scan_;
  const Shape& shape_;
  PushJudge judge_;
  WordState state_;
  std::bitset<kWordsMax> listed_;
  Generation found_;
  uint64_t blocks_ = 0, worded_ = 0;  // looked at; their words, too
  size_t told_at_ = 0;  // user blocks in front of this one were looked at
  bool repeats_ = false, unannounced_ = false;
};

}  // namespace

Generation find_generation(Bytes file, const Scan& scan) { return Detective(file, scan).find(); }

namespace {

/// Of those that are in front of steps, the scan keeps only what they say.
bool has_own_blocks(const Scan& scan, Bytes file) {
  if (scan.sessions_told_from() || scan.has_unknown()) return true;
  if (std::ranges::any_of(scan.gaps(), &Gap::told)) return true;
  return std::ranges::any_of(scan.user_blocks(), [&](const UserBlock& one) {
    return read_own_block(one.type, file.subspan(one.offset + 5, one.size)).has_value();
  });
}

std::string describe_x64dbg(const Generation& generation, const Scan& scan) {
  auto some = [&](PushOld which) {
    return std::find(generation.push_old.begin(), generation.push_old.end(), which) !=
           generation.push_old.end();
  };
  std::string since, until;
  if (generation.both_entries) {
    since = until = "June 2024";
  } else if (some(PushOld::Top) && some(PushOld::Slot)) {
    return "x64dbg, sessions of before and since June 2024";
  } else if (some(PushOld::Top)) {
    since = "June 2024";
  } else if (some(PushOld::Slot)) {
    until = "June 2024";
  } else if (generation.leave_entries) {
    since = "June 2024";
  }
  const bool bare_dump =
      std::any_of(scan.keyframes().begin(), scan.keyframes().end(),
                  [](const Keyframe& one) { return one.full && !one.flagged; });
  if (bare_dump) since = "May 2026";
  if (!scan.hidden().empty() && until.empty()) until = "August 2026";
  // Those of before could not write several threads without the fault.
  if (scan.hidden().empty() && scan.threads().size() > 1)
    return until.empty() ? "x64dbg, August 2026 or later (or before, and repaired since then)"
                         : fmt::format("x64dbg, before {} (repaired since then)", until);
  if (since.empty() && until.empty()) return "x64dbg, not known when";
  if (since == until) return "x64dbg, " + since;
  if (since.empty()) return "x64dbg, before " + until;
  return "x64dbg, " + since + (until.empty() ? " or later" : " to " + until);
}

}  // namespace

std::string describe(const Generation& generation, const Scan& scan, Bytes file) {
  const bool ours = has_own_blocks(scan, file);
  // What x64dbg wrote has no blocks of ours at its first step when it is written again.
  if (ours && (generation.minimal || scan.sessions_told_from() == 0)) return "Tracewell";
  if (generation.minimal) return "not x64dbg: only words that change are listed";
  return describe_x64dbg(generation, scan) + (ours ? "; written again by Tracewell" : "");
}

std::vector<std::pair<std::string, std::string>> reading_facts(const Generation& generation,
                                                               const Scan& scan, Bytes file) {
  std::vector<std::pair<std::string, std::string>> out = {
      {"recorder", describe(generation, scan, file)},
      {"sessions", fmt::format("{}", scan.sessions().size())},
      {"reading", scan.hidden().empty() ? "as written" : "repaired"},
      {"repairs", fmt::format("{}", scan.hidden().size())}};
  const auto zeros = std::ranges::count_if(scan.gaps(), &Gap::zeros) + scan.ends_in_zeros(file);
  if (zeros != 0)
    out.emplace_back("zero_pages", fmt::format("taken for gaps in {} place{}", zeros,
                                               zeros == 1 ? "" : "s"));
  return out;
}

}  // namespace tracewell::formats::trace64
