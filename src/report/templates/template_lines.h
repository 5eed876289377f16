// A template file as lines, so that whatever is not changed in it stays as it stands: comments,
// blanks, the lack of a last line's end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tracewell::report {

using Lines = std::vector<std::string>;
using Version = std::pair<uint64_t, uint64_t>;

/// Without a byte order mark; one at least.
Lines lines_of(std::string_view text);
std::string text_of(const Lines& lines);
bool is_blank(std::string_view line);
/// Behind a template, such a line is part of it.
bool begins_with_mask(std::string_view line);
std::string_view take_word(std::string_view& text);

/// Lines of a template in its file.
struct Extent {
  size_t begin = 0, end = 0;
  std::optional<uint16_t> hook;  // nullopt: what stands there is no template
  Version version;
};

/// Behind the last line of the template that begins at `at`.
size_t template_end(const Lines& lines, size_t at);
Extent extent_at(const Lines& lines, size_t at);
std::vector<Extent> extents_of(const Lines& lines);

/// A template with all of its lines, or a line between templates.
struct TemplateItem {
  Lines lines;
  bool is_template = false;
  std::optional<uint16_t> hook;  // nullopt: what stands there is no template
  Version version;

  bool is_comment() const { return !is_template && lines[0].starts_with('#'); }
};

/// What a file consists of, in its order, to be changed at any place. It is kept in blocks, so that
/// a change takes time with the number of these, and not with the file's size.
class TemplateItems {
 public:
  /// Holds until the next change.
  struct Place {
    size_t block = 0, item = 0;
  };

  /// Without a byte order mark.
  explicit TemplateItems(std::string_view text);

  const TemplateItem& operator[](Place place) const {
    return blocks_[place.block].items[place.item];
  }
  /// Of several templates of a hook the last one counts.
  std::optional<Place> last_of(uint16_t hook) const;
  /// Where a template of the hook belongs: before the first one of a higher hook, whose are the
  /// comments right above it; or at the end.
  Place place_for(uint16_t hook) const;
  /// The item that begins with a line, or that this is part of; or the end.
  Place at_line(size_t line) const;
  size_t line_of(Place place) const;
  bool is_end(Place place) const { return place.item == blocks_[place.block].items.size(); }
  /// The only item; a last line's end is another one.
  bool has_one() const { return blocks_.size() == 1 && blocks_[0].items.size() == 1; }

  void insert(Place place, TemplateItem item);  // before what is there
  /// Without an end of its line where there is nothing else; else before what is there.
  void insert_whole(TemplateItem item);
  void replace(Place place, TemplateItem item);
  void remove(Place place);
  std::string text() const;

 private:
  static constexpr size_t kBlockItems = 512;
  struct Block {
    std::vector<TemplateItem> items;
    size_t lines = 0, comments = 0;       // of these items; how many are comments
    std::map<uint16_t, uint32_t> hooks;  // how many templates each has
  };
  void count(Block& block, const TemplateItem& item, bool more);
  Place above_comments(Place place) const;

  std::vector<Block> blocks_;  // one at least; the first one alone may be empty
};

}  // namespace tracewell::report
