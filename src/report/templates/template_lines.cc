#include "report/templates/template_lines.h"

#include <algorithm>
#include <iterator>

#include "base/text/text.h"
#include "report/templates/templates.h"

namespace tracewell::report {
namespace {

/// A backslash is the last that stands in it.
bool is_continued(std::string_view line) {
  const size_t last = line.find_last_not_of(" \t\r");
  return last != std::string_view::npos && line[last] == '\\';
}

Version parse_version(std::string_view text) {
  const std::string_view major = take_until(text, '.');
  return {parse_number(major).value_or(0), parse_number(text).value_or(0)};
}

}  // namespace

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

bool begins_with_mask(std::string_view line) {
  const size_t first = line.find_first_not_of(" \t");
  return first != std::string_view::npos && line[first] == '&';
}

std::string_view take_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  const std::string_view word = text.substr(0, text.find_first_of(" \t\r\\"));
  text.remove_prefix(word.size());
  return word;
}

size_t template_end(const Lines& lines, size_t at) {
  bool continued = is_continued(lines[at]);
  for (++at; at < lines.size(); ++at) {
    if (continued && lines[at].starts_with('#')) continue;
    if (!continued && !begins_with_mask(lines[at])) break;
    continued = is_continued(lines[at]);
  }
  return std::min(at, lines.size());
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

TemplateItems::TemplateItems(std::string_view text) : blocks_(1) {
  const Lines lines = lines_of(text);
  const auto add = [&](TemplateItem item) {
    if (blocks_.back().items.size() == kBlockItems) blocks_.emplace_back();
    count(blocks_.back(), item, true);
    blocks_.back().items.push_back(std::move(item));
  };
  size_t at = 0;
  const auto add_between = [&](size_t end) {
    for (; at < end; ++at) add({{lines[at]}, false, std::nullopt, {}});
  };
  for (const Extent& one : extents_of(lines)) {
    add_between(one.begin);
    const auto begin = lines.begin() + static_cast<ptrdiff_t>(one.begin);
    const auto end = lines.begin() + static_cast<ptrdiff_t>(one.end);
    add({{begin, end}, true, one.hook, one.version});
    at = one.end;
  }
  add_between(lines.size());
}

/// `more`: it comes to the block; or it goes.
void TemplateItems::count(Block& block, const TemplateItem& item, bool more) {
  const size_t comments = item.is_comment() ? 1 : 0;
  block.lines = more ? block.lines + item.lines.size() : block.lines - item.lines.size();
  block.comments = more ? block.comments + comments : block.comments - comments;
  if (!item.hook) return;
  if (more)
    ++block.hooks[*item.hook];
  else if (--block.hooks[*item.hook] == 0)
    block.hooks.erase(*item.hook);
}

std::optional<TemplateItems::Place> TemplateItems::last_of(uint16_t hook) const {
  for (size_t block = blocks_.size(); block-- > 0;) {
    if (!blocks_[block].hooks.contains(hook)) continue;
    for (size_t item = blocks_[block].items.size(); item-- > 0;)
      if (blocks_[block].items[item].hook == hook) return Place{block, item};
  }
  return std::nullopt;
}

TemplateItems::Place TemplateItems::place_for(uint16_t hook) const {
  for (size_t block = 0; block < blocks_.size(); ++block) {
    const Block& here = blocks_[block];
    if (here.hooks.empty() || here.hooks.rbegin()->first <= hook) continue;
    for (size_t item = 0; item < here.items.size(); ++item)
      if (here.items[item].hook && *here.items[item].hook > hook)
        return above_comments({block, item});
  }
  // Behind the last line there is, not behind its end.
  Place end{blocks_.size() - 1, blocks_.back().items.size()};
  if (end.item > 0) {
    const TemplateItem& last = blocks_.back().items.back();
    if (!last.is_template && last.lines[0].empty()) --end.item;
  }
  return end;
}

TemplateItems::Place TemplateItems::above_comments(Place place) const {
  while (true) {
    const Block& block = blocks_[place.block];
    if (place.item == block.items.size() && block.comments == place.item) place.item = 0;
    while (place.item > 0 && block.items[place.item - 1].is_comment()) --place.item;
    if (place.item > 0 || place.block == 0) return place;
    const std::vector<TemplateItem>& before = blocks_[place.block - 1].items;
    if (before.empty() || !before.back().is_comment()) return place;
    place = {place.block - 1, before.size()};
  }
}

TemplateItems::Place TemplateItems::at_line(size_t line) const {
  for (size_t block = 0; block < blocks_.size(); ++block) {
    if (line >= blocks_[block].lines) {
      line -= blocks_[block].lines;
      continue;
    }
    size_t item = 0;
    for (; line >= blocks_[block].items[item].lines.size(); ++item)
      line -= blocks_[block].items[item].lines.size();
    return {block, item};
  }
  return {blocks_.size() - 1, blocks_.back().items.size()};
}

size_t TemplateItems::line_of(Place place) const {
  size_t line = 0;
  for (size_t block = 0; block < place.block; ++block) line += blocks_[block].lines;
  for (size_t item = 0; item < place.item; ++item)
    line += blocks_[place.block].items[item].lines.size();
  return line;
}

void TemplateItems::insert(Place place, TemplateItem item) {
  Block& block = blocks_[place.block];
  count(block, item, true);
  block.items.insert(block.items.begin() + static_cast<ptrdiff_t>(place.item), std::move(item));
  if (block.items.size() < 2 * kBlockItems) return;
  Block second;
  const auto middle = block.items.begin() + kBlockItems;
  for (auto one = middle; one != block.items.end(); ++one) {
    count(block, *one, false);
    count(second, *one, true);
  }
  second.items.assign(std::make_move_iterator(middle), std::make_move_iterator(block.items.end()));
  block.items.erase(middle, block.items.end());
  blocks_.insert(blocks_.begin() + static_cast<ptrdiff_t>(place.block) + 1, std::move(second));
}

void TemplateItems::insert_whole(TemplateItem item) {
  const Place first;
  if (has_one() && (*this)[first].lines == Lines{""}) return replace(first, std::move(item));
  insert(first, std::move(item));
}

void TemplateItems::replace(Place place, TemplateItem item) {
  TemplateItem& old = blocks_[place.block].items[place.item];
  count(blocks_[place.block], old, false);
  count(blocks_[place.block], item, true);
  old = std::move(item);
}

void TemplateItems::remove(Place place) {
  Block& block = blocks_[place.block];
  count(block, block.items[place.item], false);
  block.items.erase(block.items.begin() + static_cast<ptrdiff_t>(place.item));
  if (block.items.empty() && blocks_.size() > 1)
    blocks_.erase(blocks_.begin() + static_cast<ptrdiff_t>(place.block));
}

std::string TemplateItems::text() const {
  std::string out;
  bool first = true;
  for (const Block& block : blocks_)
    for (const TemplateItem& item : block.items) {
      out.append(first ? "" : "\n").append(text_of(item.lines));
      first = false;
    }
  return out;
}

}  // namespace tracewell::report
