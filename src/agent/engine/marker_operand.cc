#include "agent/engine/marker_operand.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <string>
#include <utility>

#include "ax/opcodes.h"
#include "ax/verify.h"
#include "base/bytes.h"

namespace tracewell::agent {
namespace {

using ax::Opcode;

/// A register as an operand names it: some bits of one in the layout.
struct RegisterPart {
  const Register* whole = nullptr;
  uint32_t from = 0;
  uint32_t bits = 64;
};

/// One whose name ends in `rest`: "rax" or "eax" for "ax".
const Register* whole_register(const RegisterLayout& layout, std::string_view rest) {
  const Register* found = layout.find("r" + std::string(rest));
  return found != nullptr ? found : layout.find("e" + std::string(rest));
}

/// r8d, r8w, r8b.
RegisterPart numbered_part(const RegisterLayout& layout, std::string_view name) {
  const std::string_view whole = name.substr(0, name.size() - 1);
  switch (name.back()) {
    case 'd': return {layout.find(whole), 0, 32};
    case 'w': return {layout.find(whole), 0, 16};
    case 'b': return {layout.find(whole), 0, 8};
    default: return {};
  }
}

RegisterPart find_part(const RegisterLayout& layout, std::string_view name) {
  if (const Register* whole = layout.find(name)) return {whole, 0, 8 * whole->size_bytes};
  if (name.size() < 2) return {};
  if (name[0] == 'r') return numbered_part(layout, name);
  if (name.size() == 3 && name[0] == 'e') return {whole_register(layout, name.substr(1)), 0, 32};
  if (name.size() == 3 && name[2] == 'l')  // sil, dil, bpl, spl
    return {whole_register(layout, name.substr(0, 2)), 0, 8};
  if (name.size() != 2) return {};
  const std::string of_byte = {name[0], 'x'};
  if (name[1] == 'l') return {whole_register(layout, of_byte), 0, 8};
  if (name[1] == 'h') return {whole_register(layout, of_byte), 8, 8};
  return {whole_register(layout, name), 0, 16};
}

class Compiler {
 public:
  Compiler(std::string_view text, const RegisterLayout& layout) : rest_(text), layout_(layout) {}

  std::optional<MarkerOperand> compile() {
    MarkerOperand out;
    out.is_signed = skip('-');
    const auto bytes = number();
    if (!bytes || (*bytes != 1 && *bytes != 2 && *bytes != 4 && *bytes != 8) || !skip('@'))
      return std::nullopt;
    const auto bits = static_cast<uint8_t>(*bytes * 8);
    if (!place(bits) || !rest_.empty()) return std::nullopt;
    if (bits < 64) {
      put(out.is_signed ? Opcode::op_ext : Opcode::op_zero_ext);
      code_.push_back(bits);
    }
    put(Opcode::op_end);
    out.code = std::move(code_);
    if (!ax::verify(out.code, ax::Purpose::Condition).ok()) return std::nullopt;
    return out;
  }

 private:
  bool skip(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  std::optional<uint64_t> number() {
    uint64_t value = 0;
    const bool hex = rest_.starts_with("0x");
    if (hex) rest_.remove_prefix(2);
    const auto [end, error] =
        std::from_chars(rest_.data(), rest_.data() + rest_.size(), value, hex ? 16 : 10);
    if (error != std::errc()) return std::nullopt;
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    return value;
  }

  /// "8", "-8", "4+-24".
  std::optional<uint64_t> sum() {
    uint64_t all = 0;
    do {
      const bool minus = skip('-') || (skip('+') && skip('-'));
      const auto value = number();
      if (!value) return std::nullopt;
      all += minus ? 0 - *value : *value;
    } while (rest_.starts_with('+') || rest_.starts_with('-'));
    return all;
  }

  void put(Opcode opcode) { code_.push_back(static_cast<uint8_t>(opcode)); }

  void put_number(uint64_t value) {
    put(Opcode::op_const64);
    ByteWriter(code_, Endian::Big).uint(value, 8);
  }

  bool put_register() {
    if (!skip('%')) return false;
    const size_t size = rest_.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789");
    const RegisterPart part = find_part(layout_, rest_.substr(0, size));
    if (part.whole == nullptr || part.whole->size_bytes > 8) return false;
    rest_.remove_prefix(std::min(size, rest_.size()));
    put(Opcode::op_reg);
    ByteWriter(code_, Endian::Big).uint(part.whole->number, 2);
    if (part.from != 0) {
      put_number(part.from);
      put(Opcode::op_rsh_unsigned);
    }
    if (part.bits < 64) {
      put(Opcode::op_zero_ext);
      code_.push_back(static_cast<uint8_t>(part.bits));
    }
    return true;
  }

  bool place(uint8_t bits) {
    if (skip('$')) {
      const auto value = sum();
      if (value) put_number(*value);
      return value.has_value();
    }
    if (rest_.starts_with('%')) return put_register();
    if (!put_address()) return false;
    put(bits == 8    ? Opcode::op_ref8
        : bits == 16 ? Opcode::op_ref16
        : bits == 32 ? Opcode::op_ref32
                     : Opcode::op_ref64);
    return true;
  }

  /// [DISTANCE](%BASE), (%BASE,%INDEX), (%BASE,%INDEX,SCALE), (,%INDEX,SCALE)
  bool put_address() {
    const auto distance = rest_.starts_with('(') ? std::optional<uint64_t>(0) : sum();
    if (!distance || !skip('(')) return false;
    put_number(*distance);
    if (!rest_.starts_with(',')) {
      if (!put_register()) return false;
      put(Opcode::op_add);
    }
    if (skip(',')) {
      if (!put_register()) return false;
      if (skip(',')) {
        const auto scale = number();
        if (!scale || !std::has_single_bit(*scale) || *scale > 8) return false;
        put_number(*scale);
        put(Opcode::op_mul);
      }
      put(Opcode::op_add);
    }
    if (layout_.pc() != nullptr && layout_.pc()->size_bytes == 4) {  // sums have no carry there
      put(Opcode::op_zero_ext);
      code_.push_back(32);
    }
    return skip(')');
  }

  std::string_view rest_;
  const RegisterLayout& layout_;
  std::vector<uint8_t> code_;
};

}  // namespace

std::optional<MarkerOperand> compile_marker_operand(std::string_view text,
                                                    const RegisterLayout& layout) {
  return Compiler(text, layout).compile();
}

}  // namespace tracewell::agent
