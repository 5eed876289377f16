#include "report/templates/template_update.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/files/text_file.h"
#include "base/text/text.h"
#include "report/compile/compile.h"
#include "report/templates/template_lines.h"
#include "report/templates/templates.h"

namespace tracewell::report {
namespace {

// Behind @: the template becomes all of an empty file, and its last line has no end.
constexpr std::string_view kWhole = "whole";

struct Change {
  enum class Kind : uint8_t { Put, Delete };
  Kind kind = Kind::Put;
  uint16_t hook = 0;
  Lines lines;                // of the template, without the +
  std::optional<size_t> at;   // line, from 1; 0: the whole file
  size_t place_line = 0;      // of the list, where that stands
  Version version;
};

Error wrong(std::string_view name, size_t line, std::string_view text, std::string_view what) {
  return {Errc::Corrupt,
          fmt::format("{}:{}:1: {}\n  {}", printable(name), line + 1, what, printable(text)),
          {}};
}

/// The list of changes, with its templates' text in the same lines and columns as it has there.
class UpdateReader {
 public:
  UpdateReader(std::string_view text, std::string_view name)
      : lines_(lines_of(text)), name_(name) {}

  Result<std::vector<Change>> read() {
    const std::string& first = lines_[0];
    if (first.substr(0, first.find_last_not_of(" \t\r") + 1) != kUpdateHead)
      return wrong(name_, 0, first,
                   fmt::format("expected the first line to be \"{}\"", kUpdateHead));
    for (at_ = 1; at_ < lines_.size();) {
      const std::string& line = lines_[at_];
      if (is_blank(line) || line.starts_with('#')) {
        ++at_;
        continue;
      }
      TW_RETURN_IF_ERROR(line[0] == '+'   ? read_put()
                         : line[0] == '-' ? read_delete()
                         : line[0] == '@' ? read_place()
                                          : unknown());
    }
    if (place_) return wrong(name_, lines_.size() - 1, "", "expected a + behind the @");
    TW_RETURN_IF_ERROR(compile());
    return std::move(changes_);
  }

 private:
  Status unknown() {
    return wrong(name_, at_, lines_[at_], "expected + TEMPLATE, - HOOK or a comment");
  }

  Status read_place() {
    std::string_view rest = std::string_view(lines_[at_]).substr(1);
    const std::string_view word = take_word(rest);
    const auto number = word == kWhole ? std::optional<uint64_t>(0) : parse_number(word);
    if (!number || (*number == 0 && word != kWhole))
      return wrong(name_, at_, lines_[at_], "expected the number of a line behind @");
    place_ = static_cast<size_t>(*number);
    place_line_ = at_++;
    return {};
  }

  Status read_delete() {
    std::string_view rest = std::string_view(lines_[at_]).substr(1);
    const auto hook = parse_hook(take_word(rest));
    if (!hook || !is_blank(rest))
      return wrong(name_, at_, lines_[at_], "expected a hook of 3 or 4 hex digits behind -");
    changes_.push_back({Change::Kind::Delete, *hook, {}, std::nullopt, 0, {}});
    ++at_;
    return {};
  }

  Status read_put() {
    const size_t end = template_end(lines_, at_);
    lines_[at_][0] = ' ';
    const Extent extent = extent_at(lines_, at_);
    if (!extent.hook)
      return wrong(name_, at_, lines_[at_], "expected a hook of 3 or 4 hex digits behind +");
    Change change{Change::Kind::Put, *extent.hook, {}, place_, place_line_, extent.version};
    change.lines.assign(lines_.begin() + static_cast<ptrdiff_t>(at_),
                        lines_.begin() + static_cast<ptrdiff_t>(end));
    std::string& first = change.lines[0];
    first.erase(0, std::min<size_t>(first.starts_with("  ") ? 2 : 1, first.size()));
    place_.reset();
    put_lines_.emplace_back(at_, end);
    changes_.push_back(std::move(change));
    at_ = end;
    return {};
  }

  /// Errors of the templates, all of them at once.
  Status compile() {
    Lines only(lines_.size());
    for (const auto& [begin, end] : put_lines_)
      for (size_t i = begin; i < end; ++i) only[i] = lines_[i];
    Templates templates;
    std::string errors;
    for (const Diagnostic& one : templates.add(name_, text_of(only)))
      if (one.severity == Diagnostic::Severity::Error) errors += one.show();
    if (errors.empty()) return {};
    while (errors.ends_with('\n')) errors.pop_back();
    return {Errc::Corrupt, errors};
  }

  Lines lines_;
  std::string_view name_;
  size_t at_ = 0;
  std::optional<size_t> place_;
  size_t place_line_ = 0;
  std::vector<Change> changes_;
  std::vector<std::pair<size_t, size_t>> put_lines_;
};

class Updater {
 public:
  Updater(std::string_view text, bool ignore_versions)
      : mark_(take_byte_order_mark(text)), items_(text), ignore_versions_(ignore_versions) {}

  /// `name` is that of the list.
  Status apply(const Change& change, std::string_view name) {
    if (change.kind == Change::Kind::Delete)
      remove(change.hook);
    else if (change.at)
      return put_at(change, name);
    else if (const auto old = items_.last_of(change.hook))
      replace(change, *old);
    else
      insert(change, items_.place_for(change.hook));
    return {};
  }

  TemplateUpdate take() {
    std::string undo = std::string(kUpdateHead) + "\n";
    for (auto one = undo_.rbegin(); one != undo_.rend(); ++one) undo += *one;
    return {mark_ + items_.text(), std::move(undo), std::move(notes_)};
  }

 private:
  static TemplateItem item_of(const Change& change) {
    return {change.lines, true, change.hook, change.version};
  }

  Status put_at(const Change& change, std::string_view name) {
    if (*change.at == 0) {
      items_.insert_whole(item_of(change));
      note_added(change.hook);
      return {};
    }
    const TemplateItems::Place place = items_.at_line(*change.at - 1);
    if (!items_.is_end(place) && begins_with_mask(items_[place].lines[0]))
      return wrong(name, change.place_line, fmt::format("@ {}", *change.at),
                   fmt::format("line {} of the template file begins with &, and would become part "
                               "of template {:04X}",
                               items_.line_of(place) + 1, change.hook));
    insert(change, place);
    return {};
  }

  void insert(const Change& change, TemplateItems::Place place) {
    items_.insert(place, item_of(change));
    note_added(change.hook);
  }

  void note_added(uint16_t hook) {
    undo_.push_back(fmt::format("- {:04X}\n", hook));
    notes_.push_back(fmt::format("{:04X} added", hook));
  }

  void replace(const Change& change, TemplateItems::Place place) {
    const TemplateItem& old = items_[place];
    if (!ignore_versions_ && change.version < old.version) {
      notes_.push_back(fmt::format("{:04X} not replaced: version {}.{} is there, {}.{} is lower",
                                   change.hook, old.version.first, old.version.second,
                                   change.version.first, change.version.second));
      return;
    }
    undo_.push_back(fmt::format("+ {}\n", text_of(old.lines)));
    items_.replace(place, item_of(change));
    notes_.push_back(fmt::format("{:04X} replaced", change.hook));
  }

  void remove(uint16_t hook) {
    bool any = false;
    while (const auto place = items_.last_of(hook)) {
      const std::string at = items_.has_one() ? std::string(kWhole)
                                              : fmt::format("{}", items_.line_of(*place) + 1);
      undo_.push_back(fmt::format("@ {}\n+ {}\n", at, text_of(items_[*place].lines)));
      items_.remove(*place);
      any = true;
    }
    notes_.push_back(fmt::format("{:04X} {}", hook, any ? "deleted" : "was not there"));
  }

  std::string mark_;  // that the file begins with
  TemplateItems items_;
  bool ignore_versions_;
  std::vector<std::string> undo_, notes_;
};

constexpr std::string_view kListEnding = ".trc";

}  // namespace

Result<UpdateList> read_update_list(const std::string& named) {
  std::string stem = named;
  if (stem.ends_with(kListEnding)) stem.resize(stem.size() - kListEnding.size());
  UpdateList out;
  out.path = fmt::format("{}{}", stem, kListEnding);
  out.undo_path = fmt::format("{}.undo{}", stem, kListEnding);
  TW_ASSIGN_OR_RETURN(const auto file, InputFile::open(out.path, {}, kTextFileMax));
  TW_ASSIGN_OR_RETURN(out.text, tracewell::text_of(*file));
  out.facts = file->facts();
  return out;
}

Status check_uncompressed(std::string_view text, const std::string& path) {
  if (!text.starts_with("\x1f\x9d")) return {};
  return {Errc::Unsupported,
          fmt::format("{} is compressed (uncompress it first)", printable(path))};
}

Result<TemplateUpdate> update_templates(std::string_view text, std::string_view update,
                                        std::string_view name, bool ignore_versions) {
  UpdateReader reader(update, name);
  TW_ASSIGN_OR_RETURN(const std::vector<Change> changes, reader.read());
  Updater updater(text, ignore_versions);
  for (const Change& one : changes) TW_RETURN_IF_ERROR(updater.apply(one, name));
  return updater.take();
}

Result<std::vector<uint16_t>> template_hooks(const std::vector<std::string_view>& words,
                                             std::string_view option) {
  std::vector<uint16_t> out;
  for (const std::string_view word : words) {
    const auto hook = parse_hook(word);
    if (!hook)
      return {Errc::InvalidArgument,
              fmt::format("{}: '{}' is no hook: 3 or 4 hex digits", option, printable(word))};
    out.push_back(*hook);
  }
  return out;
}

Result<std::string> extract_templates(std::string_view text, const std::vector<uint16_t>& hooks) {
  const Lines lines = lines_of(text);
  std::map<uint16_t, std::vector<Extent>> templates;
  for (const Extent& one : extents_of(lines))
    if (one.hook) templates[*one.hook].push_back(one);
  std::string out = std::string(kUpdateHead) + "\n";
  std::set<uint16_t> done;
  for (const uint16_t hook : hooks) {
    const auto found = templates.find(hook);
    if (found == templates.end())
      return {Errc::NotFound, fmt::format("hook {:04X} has no template there", hook)};
    if (!done.insert(hook).second) continue;
    for (const Extent& one : found->second)
      out += "+ " + text_of({lines.begin() + static_cast<ptrdiff_t>(one.begin),
                             lines.begin() + static_cast<ptrdiff_t>(one.end)}) + "\n";
  }
  return out;
}

}  // namespace tracewell::report
