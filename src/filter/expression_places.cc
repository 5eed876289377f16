// Where an expression may hold: what an index of executed places can be asked for.
#include <algorithm>
#include <iterator>
#include <utility>

#include "filter/expression.h"

namespace tracewell::filter {
namespace {

using Places = Expression::Places;

constexpr size_t kPlacesMax = 256;  // more take longer to look up than to read past

/// Ascending, each once.
std::vector<Places> joined(std::vector<Places> all) {
  std::ranges::sort(all, {}, &Places::first);
  std::vector<Places> out;
  for (const Places& one : all) {
    if (out.empty() || one.first > out.back().last)
      out.push_back(one);
    else
      out.back().last = std::max(out.back().last, one.last);
  }
  return out;
}

std::vector<Places> in_both(const std::vector<Places>& a, const std::vector<Places>& b) {
  std::vector<Places> out;
  for (const Places& one : a)
    for (const Places& other : b) {
      const Places both = {std::max(one.first, other.first), std::min(one.last, other.last)};
      if (both.first <= both.last) out.push_back(both);
    }
  return joined(std::move(out));
}

}  // namespace

std::optional<std::vector<Places>> Expression::places() const {
  auto out = places_of(root_);
  if (out && out->size() > kPlacesMax) return std::nullopt;
  return out;
}

/// An event without a pc makes each comparison with one false, as it does with one elsewhere; what
/// holds only if that holds does not hold then. Of all else nothing is said.
std::optional<std::vector<Places>> Expression::places_of(uint32_t node) const {
  const Node& one = nodes_[node];
  if (one.op == Op::And || one.op == Op::Or) {
    auto left = places_of(one.left), right = places_of(one.right);
    if (one.op == Op::And) {
      if (!left || !right) return left ? left : right;
      if (left->size() * right->size() > kPlacesMax * kPlacesMax) return left;
      return in_both(*left, *right);
    }
    if (!left || !right) return std::nullopt;
    left->insert(left->end(), right->begin(), right->end());
    return joined(*std::move(left));
  }
  if (one.op < Op::Equal || one.op == Op::Like) return std::nullopt;
  const auto is_pc = [](const Operand& operand) {
    return operand.kind == Operand::Kind::Field && operand.field == Field::Pc;
  };
  const Operand &left = operands_[one.left], &right = operands_[one.right];
  if (one.op == Op::In) {
    if (!is_pc(left)) return std::nullopt;
    return std::vector<Places>{{right.number, right.last}};
  }
  const bool turned = is_pc(right);
  const Operand& with = turned ? left : right;
  if ((!turned && !is_pc(left)) || with.kind != Operand::Kind::Number || with.negative)
    return std::nullopt;
  const uint64_t number = with.number;
  const auto below = [&](bool itself) -> std::vector<Places> {
    if (!itself && number == 0) return {};
    return {{0, itself ? number : number - 1}};
  };
  const auto above = [&](bool itself) -> std::vector<Places> {
    if (!itself && number == UINT64_MAX) return {};
    return {{itself ? number : number + 1, UINT64_MAX}};
  };
  switch (one.op) {
    case Op::Equal:
      return std::vector<Places>{{number, number}};
    case Op::Less:
    case Op::LessEqual:
      return turned ? above(one.op == Op::LessEqual) : below(one.op == Op::LessEqual);
    case Op::Greater:
    case Op::GreaterEqual:
      return turned ? below(one.op == Op::GreaterEqual) : above(one.op == Op::GreaterEqual);
    default:
      return std::nullopt;
  }
}

}  // namespace tracewell::filter
