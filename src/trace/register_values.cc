#include "trace/register_values.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include <fmt/format.h>

#include "base/bytes.h"
#include "base/text/text.h"
#include "machine/usage.h"

namespace tracewell::trace {
namespace {

constexpr size_t kShownBytesMax = 64;  // of a register; what is larger is for programs

/// What hardly anybody asks for, and what stands in the way of everything else.
constexpr std::array<std::string_view, 10> kHidden = {
    "cs", "ss", "ds", "es", "fs", "gs", "fs_base", "gs_base", "cr0_npx", "x64dbg_rest"};

struct Flag {
  std::string_view name;
  uint32_t bit, bits;
};
constexpr Flag kFlags[] = {{"cf", 0, 1},    {"pf", 2, 1},  {"af", 4, 1},  {"zf", 6, 1},
                           {"sf", 7, 1},    {"tf", 8, 1},  {"if", 9, 1},  {"df", 10, 1},
                           {"of", 11, 1},   {"iopl", 12, 2}, {"nt", 14, 1}, {"rf", 16, 1},
                           {"vm", 17, 1},   {"ac", 18, 1}, {"vif", 19, 1}, {"vip", 20, 1},
                           {"id", 21, 1}};

std::string in_small_letters(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

std::optional<std::vector<uint8_t>> value_in(const Catalog& catalog, const RegisterState& state,
                                             const machine::RegisterPlace& place) {
  if (!state.is_valid(place.index)) return std::nullopt;
  const Register& one = catalog.registers.registers[place.index];
  const Bytes part = machine::bytes_of(
      place, Bytes(state.block).subspan(one.offset, one.size_bytes), catalog.endian);
  return std::vector<uint8_t>(part.begin(), part.end());
}

/// ymm1 is ymm1h above xmm1.
std::optional<NamedRegister> vector_of_halves(const Catalog& catalog, const RegisterState& state,
                                              const std::string& name) {
  if (!name.starts_with("ymm")) return std::nullopt;
  const auto low = machine::find_register(catalog.registers, "x" + name.substr(1));
  const auto high = machine::find_register(catalog.registers, name + "h");
  if (!low || !high) return std::nullopt;
  NamedRegister out{name, value_in(catalog, state, *low)};
  const auto above = value_in(catalog, state, *high);
  if (out.bytes && above)
    out.bytes->insert(out.bytes->end(), above->begin(), above->end());
  else
    out.bytes.reset();
  return out;
}

std::optional<NamedRegister> flag_of(const Catalog& catalog, const RegisterState& state,
                                     const std::string& name) {
  const auto* const flag = std::ranges::find(kFlags, name, &Flag::name);
  const auto flags = machine::find_register(catalog.registers, "eflags");
  if (!flags || (flag == std::end(kFlags) && name != "rflags")) return std::nullopt;
  NamedRegister out{name, value_in(catalog, state, *flags)};
  if (!out.bytes || flag == std::end(kFlags)) return out;
  const uint64_t all = load_uint(out.bytes->data(), out.bytes->size(), catalog.endian);
  const uint64_t mask = (uint64_t{1} << flag->bits) - 1;
  out.bytes = std::vector<uint8_t>{static_cast<uint8_t>(all >> flag->bit & mask)};
  return out;
}

Error no_such(std::string_view text, const std::string& why) {
  return {Errc::InvalidArgument, fmt::format("{}: {}", printable(text), why), {}};
}

/// A register or a number, times a number.
Result<uint64_t> term(const Catalog& catalog, const RegisterState& state, std::string_view all,
                      std::string_view text) {
  if (text.ends_with('*')) return no_such(all, "a number is missing behind *");
  uint64_t product = 1;
  while (true) {
    const std::string_view factor = take_until(text, '*');
    std::optional<uint64_t> value = parse_number(factor);
    if (is_relative(factor)) {
      TW_ASSIGN_OR_RETURN(const NamedRegister one, register_by_name(catalog, state, factor));
      if (!one.bytes) return no_such(all, one.name + " is not known there");
      if (one.bytes->size() > 8)
        return no_such(all, fmt::format("{} has {} bytes, and an address has no more than 8",
                                        one.name, one.bytes->size()));
      value = load_uint(one.bytes->data(), one.bytes->size(), catalog.endian);
    }
    if (!value)
      return no_such(all, "wanted are registers and numbers, with + - * between them: $rsp+8");
    product *= *value;
    if (text.empty()) return product;
  }
}

}  // namespace

bool is_shown_unasked(const Register& one) {
  return one.size_bytes <= kShownBytesMax && std::ranges::find(kHidden, one.name) == kHidden.end();
}

Result<NamedRegister> register_by_name(const Catalog& catalog, const RegisterState& state,
                                       std::string_view name) {
  const std::string_view bare = name.substr(name.starts_with('$') ? 1 : 0);
  if (const auto place = machine::find_register(catalog.registers, bare))
    return NamedRegister{place->name, value_in(catalog, state, *place)};
  const std::string small = in_small_letters(bare);
  if (auto found = vector_of_halves(catalog, state, small)) return *std::move(found);
  if (auto found = flag_of(catalog, state, small)) return *std::move(found);
  return {Errc::InvalidArgument, fmt::format("this trace has no register {}", printable(name)),
          failures::kNoSuchRegister};
}

Result<uint64_t> relative_address(const Catalog& catalog, const RegisterState& state,
                                  std::string_view text) {
  uint64_t sum = 0;
  bool minus = false;
  for (std::string_view rest = text;;) {
    const size_t end = std::min(rest.find_first_of("+-"), rest.size());
    TW_ASSIGN_OR_RETURN(const uint64_t value, term(catalog, state, text, rest.substr(0, end)));
    sum += minus ? 0 - value : value;
    if (end == rest.size()) break;
    minus = rest[end] == '-';
    rest.remove_prefix(end + 1);
  }
  const uint32_t bytes = catalog.address_bytes;
  return bytes < 8 ? sum & ((uint64_t{1} << (8 * bytes)) - 1) : sum;
}

}  // namespace tracewell::trace
