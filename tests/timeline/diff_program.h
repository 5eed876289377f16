// Random programs of a structure that is known.
#pragma once

#include <cstdint>
#include <random>
#include <utility>
#include <vector>

namespace tracewell::timeline::test {

/// Code in a tree. Addresses are offsets into a module.
struct Node {
  enum class Kind : uint8_t { Plain, Branch, Loop, While, Call };
  Kind kind = Kind::Plain;
  std::vector<uint64_t> pcs;   // Plain: one an instruction; else of the deciding one
  std::vector<Node> first, second;
  uint64_t back_jump = 0;      // While: at the end of the round; Branch: at the end of `first`
  uint64_t return_pc = 0;      // Call
  size_t callee = 0;           // Call: module
  size_t module = 0;
};

inline const std::vector<uint8_t>& nop() {
  static const std::vector<uint8_t> kBytes = {0x90};
  return kBytes;
}
inline const std::vector<uint8_t>& jump_if() {
  static const std::vector<uint8_t> kBytes = {0x0f, 0x84, 0, 0, 0, 0};
  return kBytes;
}
inline const std::vector<uint8_t>& jump() {
  static const std::vector<uint8_t> kBytes = {0xe9, 0, 0, 0, 0};
  return kBytes;
}
inline const std::vector<uint8_t>& call() {
  static const std::vector<uint8_t> kBytes = {0xff, 0x15, 0, 0, 0, 0};
  return kBytes;
}
inline const std::vector<uint8_t>& ret() {
  static const std::vector<uint8_t> kBytes = {0xc3};
  return kBytes;
}

class RandomProgram {
 public:
  static constexpr size_t kModules = 3;

  RandomProgram(uint32_t seed, unsigned nodes) : random_(seed) {
    for (size_t i = 0; i < kModules; ++i) next_[i] = 0x1000 + 16 * below(64);
    for (unsigned i = 0; i < nodes; ++i) main.push_back(node(0, 0));
    main.push_back(plain(0));
  }

  std::vector<Node> main;

 private:
  uint64_t below(uint64_t limit) { return random_() % limit; }
  uint64_t place(size_t module, size_t bytes) {
    return std::exchange(next_[module], next_[module] + bytes);
  }

  Node plain(size_t module) {
    Node out;
    out.module = module;
    for (uint64_t i = 2 + below(12); i > 0; --i) out.pcs.push_back(place(module, 1));
    return out;
  }

  Node node(size_t module, unsigned depth) {
    const uint64_t what = depth > 3 ? 0 : below(10);
    Node out;
    out.module = module;
    switch (what) {
      case 5:
      case 6:
        out.kind = Node::Kind::Branch;
        out.pcs = {place(module, jump_if().size())};
        out.first = {plain(module), node(module, depth + 1)};
        out.back_jump = place(module, jump().size());
        out.second = {node(module, depth + 1), plain(module)};
        return out;
      case 7:
        out.kind = Node::Kind::Loop;
        out.first = {plain(module), node(module, depth + 1)};
        out.pcs = {place(module, jump_if().size())};
        return out;
      case 8:
        out.kind = Node::Kind::While;
        out.second = {plain(module)};  // the test
        out.pcs = {place(module, jump_if().size())};
        out.first = {node(module, depth + 1), plain(module)};
        out.back_jump = place(module, jump().size());
        return out;
      case 9: {
        out.kind = Node::Kind::Call;
        out.pcs = {place(module, call().size())};
        const size_t other = below(kModules);
        out.first = {plain(other), node(other, depth + 1), plain(other)};
        out.return_pc = place(other, ret().size());
        out.callee = other;
        return out;
      }
      default: return plain(module);
    }
  }
  std::mt19937_64 random_;
  uint64_t next_[kModules] = {};
};

}  // namespace tracewell::timeline::test
