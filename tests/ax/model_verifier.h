// A second verifier: it walks all pairs of place and height, instead of each place once.
#pragma once

#include <set>
#include <utility>
#include <vector>

#include "ax/verify.h"
#include "model_reader.h"

namespace tracewell::ax::model {

/// Values that an opcode takes and leaves.
inline std::pair<int, int> effect(const Step& step) {
  const unsigned c = step.code;
  if ((c >= 0x02 && c <= 0x0b) || (c >= 0x0f && c <= 0x15 && c != 0x12)) return {2, 1};
  if (c == 0x0c || c == 0x2f) return {2, 0};
  if ((c >= 0x22 && c <= 0x26) || c == 0x2c) return {0, 1};
  if (c == 0x20 || c == 0x29) return {1, 0};
  if (c == 0x21 || c == 0x27 || c == 0x2e) return {0, 0};
  if (c == 0x28) return {1, 2};
  if (c == 0x2b) return {2, 2};
  if (c == 0x33) return {3, 3};
  const int operand = static_cast<int>(step.operand);
  if (c == 0x32) return {operand + 1, operand + 2};
  return c == 0x34 ? std::pair{operand + 2, 0} : std::pair{1, 1};
}

/// Is the code to be accepted? Walks all pairs of place and height that control can be in.
inline bool accepts(const std::vector<uint8_t>& code, Purpose purpose) try {
  std::set<size_t> starts;
  for (size_t at = 0; at < code.size(); at = read(code, at).next) starts.insert(at);
  for (const size_t at : starts) {
    const Step step = read(code, at);
    if (step.code == 0x01 || (step.code >= 0x1b && step.code <= 0x1f)) return false;
    if ((step.code == 0x20 || step.code == 0x21) && !starts.contains(step.operand)) return false;
  }
  std::set<std::pair<size_t, int>> seen;
  std::vector<std::pair<size_t, int>> waiting{{0, 0}};
  while (!waiting.empty()) {
    const auto [at, height] = waiting.back();
    waiting.pop_back();
    if (!seen.insert({at, height}).second) continue;
    const Step step = read(code, at);
    const auto [takes, leaves] = effect(step);
    const int after = height - takes + leaves;
    if (height < takes || after > 100) return false;
    if (step.code == 0x27 && height == 0 && purpose == Purpose::Condition) return false;
    if (step.code == 0x20 || step.code == 0x21) waiting.push_back({step.operand, after});
    if (step.code != 0x21 && step.code != 0x27) waiting.push_back({step.next, after});
  }
  std::set<size_t> places;
  for (const auto& [at, height] : seen)
    if (!places.insert(at).second) return false;
  return true;
} catch (Fault) {
  return false;
}

}  // namespace tracewell::ax::model
