// The text of one event while it is being made, and the rule of the blanks between its items: an
// item owes one, and it is paid only when something follows on the line that is no blank itself.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace tracewell::report {

/// Bytes that grow and are used again: a loop over events does not allocate once it is warm.
class TextBuffer {
 public:
  void clear() { size_ = 0; }
  size_t size() const { return size_; }
  std::string_view text() const { return {data_.get(), size_}; }
  void cut(size_t size) { size_ = size < size_ ? size : size_; }
  /// Room for `size` bytes; they count once commit() says how many were written.
  char* reserve(size_t size) {
    if (capacity_ - size_ < size) grow(size);
    return data_.get() + size_;
  }
  void commit(size_t size) { size_ += size; }
  void append(std::string_view text) {
    if (text.empty()) return;
    std::memcpy(reserve(text.size()), text.data(), text.size());
    size_ += text.size();
  }
  void append(char c, size_t times) {
    std::memset(reserve(times + 1), c, times);
    size_ += times;
  }

 private:
  void grow(size_t size);
  std::unique_ptr<char[]> data_;
  size_t size_ = 0, capacity_ = 0;
};

/// Text from outside as Line::outside() shows it, as many bytes as it has.
size_t put_outside(char* to, std::string_view text);

/// A part of a text, from `begin` to before `end`.
struct TextSpan {
  size_t begin = 0, end = 0;
};

class Line {
 public:
  explicit Line(TextBuffer& out) : out_(out) {}

  /// From now on, notes what of the text in `out` are words of the template's; nullptr = no more.
  void note_literals(std::vector<TextSpan>* literals) { literals_ = literals; }

  /// Begins an event. Lines behind its first are indented by `indent` blanks.
  void begin(uint32_t indent) {
    indent_ = indent;
    begin_ = line_begin_ = out_.size();
    number_ = 1;
    owed_ = false;
    faults_ = 0;
    part_size_ = 0;
  }
  void text(std::string_view text) {
    if (text.empty()) return;
    pay(text[0]);
    out_.append(text);
  }
  /// Words of the template's.
  void literal(std::string_view words) {
    text(words);
    if (literals_ && !words.empty())
      literals_->push_back({out_.size() - words.size(), out_.size()});
  }
  void blanks(size_t count) {
    if (count == 0) return;
    owed_ = false;
    out_.append(' ', count);
  }
  /// Pays what is owed for an item that does not begin with a blank, and makes room for it.
  char* item(size_t size) {
    pay('0');
    return out_.reserve(size);
  }
  void commit(size_t size) { out_.commit(size); }
  /// An item was printed (perhaps of no length) and owes a blank.
  void owe() { owed_ = out_.size() != line_begin_; }
  void new_line() {
    owed_ = false;
    out_.append('\n', 1);
    out_.append(' ', indent_);
    line_begin_ = out_.size();
    ++number_;
  }
  void tab() {
    owed_ = false;
    out_.append('\t', 1);
  }
  /// Data that is text: what would act on a terminal, end the line, or show other text otherwise,
  /// and bytes that are no characters, become dots, one for each byte. A character whose bytes come
  /// one by one is one, where nothing is printed between them.
  void outside(std::string_view text);
  /// An error of the data, in its line: "*** WHAT", and "***" alone for those behind the first.
  void fault(std::string_view what);

  uint32_t number() const { return number_; }
  uint32_t faults() const { return faults_; }
  /// Bytes of this event so far.
  size_t size() const { return out_.size() - begin_; }
  /// Takes back what was printed of this event.
  void drop() { out_.cut(begin_); }

 private:
  void pay(char next) {
    if (!owed_) return;
    owed_ = false;
    if (next != ' ' && next != '\t' && next != '\n') out_.append(' ', 1);
  }

  std::string_view join(std::string_view text);
  void keep_part(std::string_view text);

  TextBuffer& out_;
  size_t begin_ = 0, line_begin_ = 0;
  uint32_t indent_ = 0, number_ = 1, faults_ = 0;
  bool owed_ = false;
  std::vector<TextSpan>* literals_ = nullptr;
  // The begin of a character, which stands as dots up to `part_end_`.
  char part_[4] = {};
  size_t part_size_ = 0, part_end_ = 0;
};

}  // namespace tracewell::report
