// Where the modules of one run stand in the other. Address space randomisation moves them by whole
// pages, each by its own distance; nothing but the steps themselves tells by how much.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "timeline/diff/flow.h"

namespace tracewell::timeline {

class Bases {
 public:
  static constexpr uint64_t kPage = 4096;  // no system moves code by less

  /// Is `b` where `a` is in the other run? Learns from pairs that no other pair contradicts. Call
  /// it with the pairs in their order, where the distance is another than current().
  bool pair(const Place& a, const Place& b);
  /// Takes note of a pair at the distance current().
  void visit(uint64_t a) {
    const uint64_t page = a / kPage;
    if (visited_[page % visited_.size()] != page) first_visit(page);
  }
  /// No known pair says otherwise, and the page offsets agree.
  bool possible_pair(uint64_t a, uint64_t b) const;
  /// What pair() would say.
  bool would_pair(const Place& a, const Place& b) const;
  /// The distance (b - a, modulo 2^64) of the last pair.
  uint64_t current() const { return current_; }
  /// How many distances of code there are.
  size_t distances() const { return distances_.size(); }
  /// Is b - a one of the distances, of code or of what note() told?
  bool rebased(uint64_t a, uint64_t b) const;
  /// A distance that data has: a stack, a heap.
  void note(uint64_t distance);

  /// What was learned since the mark is forgotten again by undo().
  size_t mark() const { return learned_.size(); }
  void undo(size_t mark);

  struct Range {
    uint64_t from = 0, to = 0;  // of addresses in A, whole pages, `to` is behind it
    uint64_t distance = 0;
  };
  /// Runs of pages with the same distance, ascending.
  std::vector<Range> ranges() const;

 private:
  bool inside_other(uint64_t page, uint64_t distance) const;
  void learn(uint64_t page, uint64_t distance);
  void first_visit(uint64_t page);

  uint64_t current_ = 0;
  std::map<uint64_t, uint64_t> pages_;                // page in A -> distance
  std::unordered_map<uint64_t, uint64_t> other_way_;  // page in B -> page in A
  std::map<uint64_t, size_t> distances_;              // -> how many pages have it
  std::array<uint64_t, 4096> visited_ = {};  // pages, each at its place
  std::set<uint64_t> noted_;
  std::vector<std::pair<uint64_t, uint64_t>> learned_;  // pages in A and B, in order
};

/// Does the trace tell the step's opcode? (Some formats have none.)
inline bool is_code_known(const Place& place) { return place.code[15] != 0; }
/// As far as both are known.
inline bool same_length(const Place& a, const Place& b) {
  return a.code[15] == b.code[15] || !is_code_known(a) || !is_code_known(b);
}
/// Are two opcodes the same but for addresses, moved as these say? One that is not known is no
/// difference.
bool same_code(const Bases& bases, const Place& a, const Place& b);

}  // namespace tracewell::timeline
