#include "formats/tvt/header.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "base/text/text.h"
#include "formats/json/jsonl_value.h"
#include "formats/json/scan.h"
#include "formats/tvt.h"
#include "machine/tdesc.h"
#include "machine/x86.h"

namespace tracewell::formats {
namespace {

using json::Json;

constexpr size_t kMemberBytesMax = 1 << 20;
constexpr size_t kRegistersMax = 1024;

class HeaderReader {
 public:
  HeaderReader(std::string_view text, ProblemLog& problems)
      : text_(text), scan_(text), problems_(problems) {}

  Result<TvtHeader> read() {
    if (!scan_.skip('{')) return Error{Errc::Corrupt, "not a JSON object", 0};
    while (!scan_.done() && scan_.peek() != '}')
      if (!read_member()) break;
    if (header_.rows_begin == 0)
      return Error{Errc::Corrupt, "there is no list of rows (\"trace\")", scan_.at()};
    find_machine();
    make_layout();
    return std::move(header_);
  }

 private:
  void problem(size_t at, std::string code, std::string text) {
    problems_.add({at, Problem::Severity::Damage, std::move(code), std::move(text)});
  }

  /// false: nothing behind it can be found.
  bool read_member() {
    const size_t start = scan_.at();
    const auto key = scan_.value(kMemberBytesMax);
    const auto name = key ? json::parse(*key) : std::nullopt;
    if (!name || !name->is_string() || !scan_.skip(':')) {
      problem(start, "bad-member", "not a member of an object; what follows is left out");
      return false;
    }
    const std::string word = name->get<std::string>();
    const bool rows = word == "trace" && scan_.peek() == '[' && header_.rows_begin == 0;
    if (rows) header_.rows_begin = scan_.at() + 1;
    const size_t at = scan_.at();
    const auto value = scan_.value(rows ? text_.size() : kMemberBytesMax);
    if (!value) {
      // Where the rows end, their reader tells.
      if (!rows) problem(at, "bad-member", fmt::format("\"{}\" does not end within 1 MiB; it and "
                                                       "what follows is left out",
                                                       printable(word)));
      return false;
    }
    if (!rows) take(word, std::string(*value), at);
    scan_.skip(',');
    return true;
  }

  void take(const std::string& name, const std::string& text, size_t at) {
    const auto value = json::parse(text);
    if (!value) {
      problem(at, "bad-member", fmt::format("\"{}\" is not JSON; left out", printable(name)));
    } else if (name == "arch") {
      arch_ = json::text(*value).value_or("");
    } else if (name == "ip_reg") {
      ip_reg_ = json::text(*value).value_or("");
    } else if (name == "pointer_size") {
      pointer_bytes_ = json::unsigned_number(*value).value_or(0);
    } else if (name == "regs") {
      take_registers(*value, at);
    } else if (name == "reg_sizes") {
      take_sizes(*value, at);
    } else {
      header_.catalog.extras.emplace_back(std::string(kTvtExtra) + name, text);
    }
  }

  /// {name: place}, or [name].
  void take_registers(const Json& value, size_t at) {
    names_.clear();
    size_t place = 0;
    if (value.is_array()) {
      for (const Json& item : value) put_name(json::text(item).value_or(""), place++, at);
    } else if (value.is_object()) {
      for (const auto& [name, where] : value.items())
        put_name(name, json::unsigned_number(where).value_or(UINT64_MAX), at);
    } else {
      problem(at, "bad-member", "\"regs\" names no registers");
    }
  }

  /// By place, in bytes.
  void take_sizes(const Json& value, size_t at) {
    sizes_.clear();
    const size_t count = value.is_array() ? value.size() : 0;
    for (size_t i = 0; i < count && i < kRegistersMax; ++i)
      sizes_.push_back(json::unsigned_number(value[i]).value_or(0));
    if (count == 0 || count > kRegistersMax ||
        std::ranges::any_of(sizes_, [](uint64_t size) { return size == 0 || size > 8; })) {
      problem(at, "bad-member", "\"reg_sizes\" are no sizes of registers; left out");
      sizes_.clear();
    }
  }

  void put_name(const std::string& name, uint64_t place, size_t at) {
    if (place >= kRegistersMax || name.empty()) {
      problem(at, "bad-register",
              fmt::format("register \"{}\" has no place in a row; left out", printable(name)));
      return;
    }
    if (names_.size() <= place) names_.resize(place + 1);
    names_[place] = name;
  }

  void find_machine() {
    Catalog& catalog = header_.catalog;
    if (arch_ == "x64" || (arch_.empty() && (ip_reg_ == "rip" || pointer_bytes_ == 8)))
      catalog.machine = "x86-64";
    else if (arch_ == "x86" || (arch_.empty() && (ip_reg_ == "eip" || pointer_bytes_ == 4)))
      catalog.machine = "i386";
    else if (!arch_.empty())
      catalog.machine = arch_;
    catalog.address_bytes = catalog.machine == "i386" ? 4 : 8;
    if (pointer_bytes_ == 4 || pointer_bytes_ == 8)
      catalog.address_bytes = static_cast<uint32_t>(pointer_bytes_);
  }

  /// The usual layout where it has all of the names; else one of these names alone.
  void make_layout() {
    RegisterLayout& layout = header_.catalog.registers;
    if (header_.catalog.machine == "x86-64") layout = machine::x86_64_layout({});
    if (header_.catalog.machine == "i386") layout = machine::i386_layout({});
    const RegisterLayout usual = layout;
    const bool fits = std::all_of(names_.begin(), names_.end(), [&](const std::string& name) {
      return name.empty() || usual.find(name);
    });
    if (!fits) layout = {};
    for (size_t place = 0; place < names_.size(); ++place) {
      const std::string& name = names_[place];
      const Register* found = layout.find(name);
      if (name.empty() || (found && !fits)) {
        header_.columns.push_back(TvtHeader::kNoRegister);
        continue;
      }
      if (!found) found = &add_register(layout, place, usual.find(name));
      header_.columns.push_back(static_cast<uint32_t>(found - layout.registers.data()));
    }
    machine::mark_special_registers(layout, header_.catalog.machine);
  }

  const Register& add_register(RegisterLayout& layout, size_t place, const Register* usual) {
    const uint64_t told = place < sizes_.size() ? sizes_[place] : 0;
    Register one;
    one.name = names_[place];
    one.number = static_cast<uint32_t>(layout.registers.size());
    one.offset = layout.size_bytes;
    one.size_bytes = usual       ? usual->size_bytes
                     : told != 0 ? static_cast<uint32_t>(told)
                                 : header_.catalog.address_bytes;
    one.type = usual ? usual->type : fmt::format("int{}", one.size_bytes * 8);
    layout.size_bytes += one.size_bytes;
    layout.registers.push_back(std::move(one));
    return layout.registers.back();
  }

  std::string_view text_;
  JsonScan scan_;
  ProblemLog& problems_;
  TvtHeader header_;
  std::string arch_, ip_reg_;
  uint64_t pointer_bytes_ = 0;
  std::vector<std::string> names_;  // by place; empty = none
  std::vector<uint64_t> sizes_;     // by place, 1 to 8; empty = not told
};

}  // namespace

Result<TvtHeader> read_tvt_header(std::string_view text, ProblemLog& problems) {
  return HeaderReader(text, problems).read();
}

}  // namespace tracewell::formats
