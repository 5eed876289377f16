#include "render/report_rows.h"

#include <cstddef>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text/hex.h"
#include "base/text/text.h"
#include "formats/csv.h"
#include "render/json_document.h"

namespace tracewell::render {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kHead =
    "log,id,subhook,label,time_ns,elapsed_ns,delta_ns,tid,pid,cpu,process,fields,text\r\n";

/// Of an event without template its words, under the names that templates have for them.
std::vector<report::Field> words_of(const report::Entry& entry) {
  std::vector<report::Field> fields;
  const size_t word = entry.word_bytes();
  size_t at = word;
  for (size_t index = 1; at + word <= entry.buffer.size() && (index == 1 || !entry.generic);
       ++index, at += word)
    fields.push_back({fmt::format("D{}", index), fmt::format("0x{:x}", entry.number_at(at, word))});
  if (at < entry.buffer.size()) fields.push_back({"data", to_hex(entry.buffer.subspan(at))});
  return fields;
}

std::vector<report::Field> fields_of(const report::ReportRow& row) {
  if (!row.has_template) return words_of(row.entry);
  return {row.fields.begin(), row.fields.end()};
}

/// Any number of them: the map itself would look through all for each.
Json as_object(const std::vector<report::Field>& fields) {
  Json::object_t out;
  std::unordered_map<std::string_view, size_t> places;
  for (const report::Field& field : fields) {
    const auto [place, is_new] = places.try_emplace(field.name, out.size());
    if (is_new)
      out.emplace_back(field.name, field.value);
    else
      (out.begin() + static_cast<ptrdiff_t>(place->second))->second = field.value;
  }
  return out;
}

Json number_or_null(bool known, int64_t number) {
  return known ? Json(number) : Json();
}

std::string to_line(const report::ReportRow& row) {
  const report::Entry& entry = row.entry;
  const Json fields = as_object(fields_of(row));
  const Json out = {
      {"log", row.log},
      {"id", fmt::format("{:04X}", entry.hook)},
      {"subhook", entry.subhook},
      {"label", row.has_template ? Json(row.label) : Json()},
      {"time_ns", number_or_null(row.time_ns.has_value(), row.time_ns.value_or(0))},
      {"elapsed_ns", number_or_null(row.times.known, row.times.elapsed_ns)},
      {"delta_ns", number_or_null(row.times.known, row.times.delta_ns)},
      {"tid", number_or_null(entry.tid != 0, entry.tid)},
      {"pid", number_or_null(entry.pid != 0, entry.pid)},
      {"cpu", number_or_null(entry.cpu >= 0, entry.cpu)},
      {"process", entry.process_path.empty() ? Json() : Json(entry.process_path)},
      {"fields", fields},
      {"text", row.text},
  };
  return json_document(out) + "\n";
}

/// A name or a value in the cell of fields: a backslash stands before what separates those.
void put_escaped(std::string& cell, std::string_view text) {
  for (const char c : text) {
    if (c == ';' || c == '=' || c == '\\') cell += '\\';
    cell += c;
  }
}

std::string fields_cell(const report::ReportRow& row) {
  std::string cell;
  for (const report::Field& field : fields_of(row)) {
    if (!cell.empty()) cell += "; ";
    put_escaped(cell, field.name);
    cell += '=';
    put_escaped(cell, field.value);
  }
  return cell;
}

}  // namespace

Status ReportRows::begin() {
  return json_ ? Status() : out_.write(kHead);
}

Status ReportRows::put(const report::ReportRow& row) {
  if (json_) return out_.write(to_line(row));
  const report::Entry& entry = row.entry;
  const auto number = [](bool known, auto value) {
    return known ? fmt::format("{}", value) : std::string();
  };
  line_.clear();
  const auto text_cell = [this](std::string_view text) {
    if (!line_.empty()) line_ += ',';
    formats::put_csv_cell(line_, text, csv_safe_);
  };
  text_cell(printable(row.log));
  line_ += fmt::format(",{:04X},{}", entry.hook, entry.subhook);
  text_cell(printable(row.label));
  for (const std::string& cell :
       {number(row.time_ns.has_value(), row.time_ns.value_or(0)),
        number(row.times.known, row.times.elapsed_ns), number(row.times.known, row.times.delta_ns),
        number(entry.tid != 0, entry.tid), number(entry.pid != 0, entry.pid),
        number(entry.cpu >= 0, entry.cpu)})
    line_ += "," + cell;
  text_cell(printable(entry.process_path));
  // Lines and tabs in these are the template's: what is data in them has dots instead.
  text_cell(fields_cell(row));
  text_cell(row.text);
  line_ += "\r\n";
  return out_.write(line_);
}

}  // namespace tracewell::render
