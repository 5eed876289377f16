// A template file is taken as lines, so that whatever is not changed stays as it stands: comments,
// blanks, the lack of a last line's end.
#include "report/template_update.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "report/templates.h"

namespace tracewell::report {
namespace {

using Lines = std::vector<std::string>;
using Version = std::pair<uint64_t, uint64_t>;

/// Lines of a template in its file.
struct Extent {
  size_t begin = 0, end = 0;
  std::optional<uint16_t> hook;  // nullopt: what stands there is no template
  Version version;
};

struct Change {
  enum class Kind : uint8_t { Put, Delete };
  Kind kind = Kind::Put;
  uint16_t hook = 0;
  Lines lines;                // of the template, without the +
  std::optional<size_t> at;   // line, from 1
  Version version;
};

/// Without a byte order mark.
Lines lines_of(std::string_view text) {
  take_byte_order_mark(text);
  Lines out;
  for (const std::string_view line : split(text, '\n')) out.emplace_back(line);
  return out;
}

std::string text_of(const Lines& lines) {
  std::string out;
  for (size_t i = 0; i < lines.size(); ++i) out.append(i == 0 ? "" : "\n").append(lines[i]);
  return out;
}

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

/// A backslash is the last that stands in it.
bool is_continued(std::string_view line) {
  const size_t last = line.find_last_not_of(" \t\r");
  return last != std::string_view::npos && line[last] == '\\';
}

bool begins_with_mask(std::string_view line) {
  const size_t first = line.find_first_not_of(" \t");
  return first != std::string_view::npos && line[first] == '&';
}

/// Behind the last line of the template that begins at `at`.
size_t template_end(const Lines& lines, size_t at) {
  bool continued = is_continued(lines[at]);
  for (++at; at < lines.size(); ++at) {
    if (continued && lines[at].starts_with('#')) continue;
    if (!continued && !begins_with_mask(lines[at])) break;
    continued = is_continued(lines[at]);
  }
  return std::min(at, lines.size());
}

std::string_view take_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  const std::string_view word = text.substr(0, text.find_first_of(" \t\r\\"));
  text.remove_prefix(word.size());
  return word;
}

Version parse_version(std::string_view text) {
  const std::string_view major = take_until(text, '.');
  return {parse_number(major).value_or(0), parse_number(text).value_or(0)};
}

Extent extent_at(const Lines& lines, size_t at) {
  Extent out{at, template_end(lines, at), std::nullopt, {}};
  std::string head;
  for (size_t i = at; i < out.end; ++i) head += lines[i] + " ";
  std::ranges::replace(head, '\\', ' ');
  std::string_view rest = head;
  out.hook = parse_hook(take_word(rest));
  out.version = parse_version(take_word(rest));
  return out;
}

std::vector<Extent> extents_of(const Lines& lines) {
  std::vector<Extent> out;
  for (size_t at = 0; at < lines.size();) {
    if (is_blank(lines[at]) || lines[at].starts_with('#')) {
      ++at;
      continue;
    }
    out.push_back(extent_at(lines, at));
    at = out.back().end;
  }
  return out;
}

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
    const auto number = parse_number(take_word(rest));
    if (!number || *number == 0)
      return wrong(name_, at_, lines_[at_], "expected the number of a line behind @");
    place_ = static_cast<size_t>(*number);
    ++at_;
    return {};
  }

  Status read_delete() {
    std::string_view rest = std::string_view(lines_[at_]).substr(1);
    const auto hook = parse_hook(take_word(rest));
    if (!hook || !is_blank(rest))
      return wrong(name_, at_, lines_[at_], "expected a hook of 3 or 4 hex digits behind -");
    changes_.push_back({Change::Kind::Delete, *hook, {}, std::nullopt, {}});
    ++at_;
    return {};
  }

  Status read_put() {
    const size_t end = template_end(lines_, at_);
    lines_[at_][0] = ' ';
    const Extent extent = extent_at(lines_, at_);
    if (!extent.hook)
      return wrong(name_, at_, lines_[at_], "expected a hook of 3 or 4 hex digits behind +");
    Change change{Change::Kind::Put, *extent.hook, {}, place_, extent.version};
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
  std::vector<Change> changes_;
  std::vector<std::pair<size_t, size_t>> put_lines_;
};

class Updater {
 public:
  Updater(std::string_view text, bool ignore_versions)
      : mark_(take_byte_order_mark(text)),
        lines_(lines_of(text)),
        ignore_versions_(ignore_versions) {}

  void apply(const Change& change) {
    if (change.kind == Change::Kind::Delete) return remove(change.hook);
    if (change.at) return insert(change, std::min(*change.at - 1, lines_.size()));
    std::optional<Extent> old;
    size_t place = lines_.size();
    bool found_place = false;
    for (const Extent& one : extents_of(lines_)) {
      if (one.hook == change.hook) old = one;  // of several the last one counts
      if (!found_place && one.hook && *one.hook > change.hook) {
        place = above_comments(one.begin);
        found_place = true;
      }
    }
    if (old) return replace(change, *old);
    // Behind the last line there is, not behind its end.
    if (!found_place && !lines_.empty() && lines_.back().empty()) --place;
    insert(change, place);
  }

  TemplateUpdate take() {
    std::string undo = std::string(kUpdateHead) + "\n";
    for (auto one = undo_.rbegin(); one != undo_.rend(); ++one) undo += *one;
    return {mark_ + text_of(lines_), std::move(undo), std::move(notes_)};
  }

 private:
  /// Comments right above a template are its own.
  size_t above_comments(size_t at) const {
    while (at > 0 && lines_[at - 1].starts_with('#')) --at;
    return at;
  }

  static std::string put_text(size_t at, const Lines& lines) {
    return fmt::format("@ {}\n+ {}\n", at + 1, text_of(lines));
  }

  void insert(const Change& change, size_t at) {
    lines_.insert(lines_.begin() + static_cast<ptrdiff_t>(at), change.lines.begin(),
                  change.lines.end());
    undo_.push_back(fmt::format("- {:04X}\n", change.hook));
    notes_.push_back(fmt::format("{:04X} added", change.hook));
  }

  void replace(const Change& change, const Extent& old) {
    if (!ignore_versions_ && change.version < old.version) {
      notes_.push_back(fmt::format("{:04X} not replaced: version {}.{} is there, {}.{} is lower",
                                   change.hook, old.version.first, old.version.second,
                                   change.version.first, change.version.second));
      return;
    }
    const auto begin = lines_.begin() + static_cast<ptrdiff_t>(old.begin);
    const auto end = lines_.begin() + static_cast<ptrdiff_t>(old.end);
    const Lines before(begin, end);
    const auto at = lines_.erase(begin, end);
    lines_.insert(at, change.lines.begin(), change.lines.end());
    undo_.push_back(fmt::format("+ {}\n", text_of(before)));
    notes_.push_back(fmt::format("{:04X} replaced", change.hook));
  }

  void remove(uint16_t hook) {
    bool any = false;
    const std::vector<Extent> extents = extents_of(lines_);
    for (auto one = extents.rbegin(); one != extents.rend(); ++one) {
      if (one->hook != hook) continue;
      const auto begin = lines_.begin() + static_cast<ptrdiff_t>(one->begin);
      const auto end = lines_.begin() + static_cast<ptrdiff_t>(one->end);
      undo_.push_back(put_text(one->begin, {begin, end}));
      lines_.erase(begin, end);
      any = true;
    }
    notes_.push_back(fmt::format("{:04X} {}", hook, any ? "deleted" : "was not there"));
  }

  std::string mark_;  // that the file begins with
  Lines lines_;
  bool ignore_versions_;
  std::vector<std::string> undo_, notes_;
};

}  // namespace

Result<TemplateUpdate> update_templates(std::string_view text, std::string_view update,
                                        std::string_view name, bool ignore_versions) {
  UpdateReader reader(update, name);
  TW_ASSIGN_OR_RETURN(const std::vector<Change> changes, reader.read());
  Updater updater(text, ignore_versions);
  for (const Change& one : changes) updater.apply(one);
  return updater.take();
}

Result<std::string> extract_templates(std::string_view text, const std::vector<uint16_t>& hooks) {
  const Lines lines = lines_of(text);
  const std::vector<Extent> extents = extents_of(lines);
  std::string out = std::string(kUpdateHead) + "\n";
  for (const uint16_t hook : hooks) {
    bool any = false;
    for (const Extent& one : extents) {
      if (one.hook != hook) continue;
      out += "+ " + text_of({lines.begin() + static_cast<ptrdiff_t>(one.begin),
                             lines.begin() + static_cast<ptrdiff_t>(one.end)}) + "\n";
      any = true;
    }
    if (!any) return {Errc::NotFound, fmt::format("hook {:04X} has no template there", hook)};
  }
  return out;
}

}  // namespace tracewell::report
