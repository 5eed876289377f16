// The catalog from JSON. Written by hand as often as by machine, so everything may be missing.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "base/text/text.h"
#include "formats/json/jsonl_value.h"
#include "formats/jsonl/layout.h"
#include "formats/jsonl/lines.h"
#include "machine/architecture.h"
#include "machine/tdesc.h"

namespace tracewell::formats {
namespace {

using json::Json;
constexpr uint32_t kRegisterBytesMax = 65536;
using machine::kRegisterBlockBytesMax;

/// Takes members of one object into fields; a member of the wrong type is a problem.
class ObjectReader {
 public:
  ObjectReader(const Json& object, ProblemLog& problems) : object_(object), problems_(problems) {}

  const Json* get(const char* key) const { return json::member(object_, key); }

  template <class Field>
  void number(const char* key, Field& field) const {
    take(key, [&](const Json& value) {
      const auto got = json::unsigned_number(value);
      if (!got || *got > std::numeric_limits<typename Unwrapped<Field>::type>::max()) return false;
      field = static_cast<typename Unwrapped<Field>::type>(*got);
      return true;
    });
  }
  void signed_number(const char* key, int64_t& field) const {
    take(key, [&](const Json& value) { return set(field, json::signed_number(value)); });
  }
  template <class Field>
  void boolean(const char* key, Field& field) const {
    take(key, [&](const Json& value) { return set(field, json::boolean(value)); });
  }
  template <class Field>
  void text(const char* key, Field& field) const {
    take(key, [&](const Json& value) { return set(field, json::text(value)); });
  }
  void bytes(const char* key, std::vector<uint8_t>& field) const {
    take(key, [&](const Json& value) { return set(field, json::bytes(value)); });
  }
  /// Calls `read(item)` for each item of an array.
  template <class Read>
  void array(const char* key, Read&& read) const {
    take(key, [&](const Json& value) {
      if (!value.is_array()) return false;
      for (const Json& item : value) read(item);
      return true;
    });
  }
  void texts(const char* key, std::vector<std::string>& field) const {
    array(key, [&](const Json& item) {
      if (auto one = json::text(item))
        field.push_back(*std::move(one));
      else
        complain(key);
    });
  }
  void complain(const char* key) const {
    problems_.add({std::nullopt, Problem::Severity::Warning, "bad-key",
                   fmt::format("the value of \"{}\" makes no sense; left out", key)});
  }

 private:
  template <class T>
  struct Unwrapped {
    using type = T;
  };
  template <class T>
  struct Unwrapped<std::optional<T>> {
    using type = T;
  };
  template <class Field, class Got>
  static bool set(Field& field, Got&& got) {
    if (got) field = *std::forward<Got>(got);
    return got.has_value();
  }
  template <class Read>
  void take(const char* key, Read&& read) const {
    const Json* value = get(key);
    if (value && !read(*value)) complain(key);
  }

  const Json& object_;
  ProblemLog& problems_;
};

TracepointDef read_tracepoint(const Json& item, ProblemLog& problems) {
  const ObjectReader in(item, problems);
  TracepointDef out;
  in.number("number", out.number);
  in.number("address", out.address);
  in.boolean("enabled", out.enabled);
  in.number("step_count", out.step_count);
  in.number("pass_count", out.pass_count);
  in.number("fast_length", out.fast_length);
  in.boolean("static", out.is_static);
  in.bytes("condition", out.condition);
  in.texts("actions", out.actions);
  in.texts("step_actions", out.step_actions);
  in.array("sources", [&](const Json& source) {
    const ObjectReader piece(source, problems);
    TracepointDef::Source& one = out.sources.emplace_back();
    piece.text("type", one.type);
    piece.text("text", one.text);
  });
  if (const Json* usage = in.get("usage")) {
    const ObjectReader numbers(*usage, problems);
    TracepointDef::Usage counted;
    numbers.number("hits", counted.hits);
    numbers.number("bytes", counted.bytes);
    out.usage = counted;
  }
  return out;
}

VariableDef read_variable(const Json& item, ProblemLog& problems) {
  const ObjectReader in(item, problems);
  VariableDef out;
  in.number("number", out.number);
  in.text("name", out.name);
  in.signed_number("initial_value", out.initial_value);
  in.boolean("builtin", out.builtin);
  return out;
}

RunStatus read_status(const Json& item, ProblemLog& problems) {
  const ObjectReader in(item, problems);
  RunStatus out;
  in.boolean("running", out.running);
  std::string stop;
  in.text("stop", stop);
  out.stop = RunStatus::Stop::Unknown;  // also if nothing is said of it
  for (int i = 0; i <= static_cast<int>(RunStatus::Stop::Unknown); ++i)
    if (stop_name(static_cast<RunStatus::Stop>(i)) == stop)
      out.stop = static_cast<RunStatus::Stop>(i);
  in.text("stop_text", out.stop_text);
  in.number("stop_tracepoint", out.stop_tracepoint);
  in.number("frames", out.frames);
  in.number("frames_created", out.frames_created);
  in.number("buffer_free", out.buffer_free);
  in.number("buffer_size", out.buffer_size);
  in.boolean("circular", out.circular);
  in.boolean("disconnected", out.disconnected);
  in.number("start_time_us", out.start_time_us);
  in.number("stop_time_us", out.stop_time_us);
  in.text("user_name", out.user_name);
  in.text("notes", out.notes);
  return out;
}

/// Registers behind the largest block go, with all that follow: their places would not be packed.
void cut_layout(RegisterLayout& layout, ProblemLog& problems) {
  for (Register& one : layout.registers) {
    if (one.size_bytes > kRegisterBlockBytesMax - layout.size_bytes) {
      problems.add({0, Problem::Severity::Warning, "bad-key",
                    fmt::format("register \"{}\" and those behind it have no room in a block of {} "
                                "bytes; left out",
                                printable(one.name), kRegisterBlockBytesMax)});
      layout.registers.resize(static_cast<size_t>(&one - layout.registers.data()));
      return;
    }
    one.offset = layout.size_bytes;
    layout.size_bytes += one.size_bytes;
  }
}

/// As listed: by number, packed. Names are keys of events, so each is there once.
RegisterLayout read_registers(const ObjectReader& in, ProblemLog& problems) {
  RegisterLayout layout;
  in.array("registers", [&](const Json& item) {
    const ObjectReader one(item, problems);
    Register reg;
    reg.number = layout.registers.empty() ? 0 : layout.registers.back().number + 1;
    one.text("name", reg.name);
    one.number("number", reg.number);
    one.number("size", reg.size_bytes);
    one.text("type", reg.type);
    if (reg.size_bytes == 0 || reg.size_bytes > kRegisterBytesMax || reg.number > UINT16_MAX ||
        layout.registers.size() > UINT16_MAX)
      return in.complain("registers");
    layout.registers.push_back(std::move(reg));
  });
  auto& all = layout.registers;
  std::stable_sort(all.begin(), all.end(),
                   [](const Register& a, const Register& b) { return a.number < b.number; });
  std::vector<std::string_view> names;
  bool same_number = false;
  for (const Register& one : all) {
    same_number |= &one != &all[0] && (&one)[-1].number == one.number;
    names.push_back(one.name);
  }
  std::sort(names.begin(), names.end());
  const bool same_name = std::adjacent_find(names.begin(), names.end()) != names.end();
  if (same_name || same_number) {
    in.complain("registers");
    return {};
  }
  cut_layout(layout, problems);
  return layout;
}

void read_machine(const ObjectReader& in, Catalog& catalog, ProblemLog& problems) {
  in.text("target_description", catalog.target_description);
  if (!catalog.target_description.empty()) {
    const auto target = machine::parse_tdesc(catalog.target_description, problems, 0);
    catalog.machine = target.machine;
    catalog.address_bytes = target.address_bytes;
    catalog.endian = target.endian;
  }
  in.text("machine", catalog.machine);
  if (const auto* known = machine::find_machine(catalog.machine)) {
    catalog.endian = known->endian;
    catalog.address_bytes = known->address_bytes;
  }
  std::string endian;
  in.text("endian", endian);
  if (endian == "big")
    catalog.endian = Endian::Big;
  else if (endian == "little")
    catalog.endian = Endian::Little;
  else if (!endian.empty())
    in.complain("endian");
  in.number("address_bytes", catalog.address_bytes);

  uint32_t block_bytes = 0;
  in.number("register_block_bytes", block_bytes);
  if (block_bytes > kRegisterBlockBytesMax) {
    in.complain("register_block_bytes");
    block_bytes = 0;
  }
  catalog.registers.size_bytes = block_bytes;
  catalog.registers = in.get("registers") ? read_registers(in, problems) : implied_layout(catalog);
  if (block_bytes >= catalog.registers.size_bytes)
    catalog.registers.size_bytes = block_bytes;
  else if (block_bytes != 0)
    in.complain("register_block_bytes");
  machine::mark_special_registers(catalog.registers, catalog.machine);
}

}  // namespace

Result<Catalog> catalog_from_json(std::string_view line, ProblemLog& problems) {
  const auto document = json::parse(line);
  const Json* object = document ? json::member(*document, "catalog") : nullptr;
  if (!object || !object->is_object())
    return Error{Errc::Corrupt, "the first line is not a catalog: {\"catalog\":{…}}", 0};
  const ObjectReader in(*object, problems);
  Catalog catalog;
  read_machine(in, catalog, problems);
  if (const Json* status = in.get("status")) catalog.status = read_status(*status, problems);
  in.array("variables",
           [&](const Json& item) { catalog.variables.push_back(read_variable(item, problems)); });
  in.array("tracepoints", [&](const Json& item) {
    catalog.tracepoints.push_back(read_tracepoint(item, problems));
  });
  const json::Complain complain = [&](const char* key) { in.complain(key); };
  in.array("modules",
           [&](const Json& item) { catalog.modules.push_back(json::module_of(item, complain)); });
  in.array("processes", [&](const Json& item) {
    if (catalog.processes.size() >= kProcessesMax) return in.complain("processes");
    catalog.processes.push_back(json::process_of(item, complain));
  });
  in.bytes("auxv", catalog.auxv);
  in.text("source_path", catalog.source_path);
  in.array("extras", [&](const Json& item) {
    const bool pair = item.is_array() && item.size() == 2;
    auto key = pair ? json::text(item[0]) : std::nullopt;
    auto value = pair ? json::text(item[1]) : std::nullopt;
    if (key && value)
      catalog.extras.emplace_back(*std::move(key), *std::move(value));
    else
      in.complain("extras");
  });
  return catalog;
}

}  // namespace tracewell::formats
