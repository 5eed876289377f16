#include "report/render/line.h"

#include <algorithm>
#include <utility>

#include "base/text/message.h"

namespace tracewell::report {

void TextBuffer::grow(size_t size) {
  const size_t capacity = std::max<size_t>({4096, capacity_ * 2, size_ + size});
  auto data = std::make_unique_for_overwrite<char[]>(capacity);
  if (size_ != 0) std::memcpy(data.get(), data_.get(), size_);
  data_ = std::move(data);
  capacity_ = capacity;
}

size_t put_outside(char* to, std::string_view text) {
  if (text.empty()) return 0;
  std::memcpy(to, text.data(), text.size());
  // The copy is looked at: a file that the text stands in may be written to meanwhile.
  std::string_view rest(to, text.size());
  while (true) {
    rest.remove_prefix(printable_length(rest));
    if (rest.empty()) return text.size();
    to[text.size() - rest.size()] = '.';
    rest.remove_prefix(1);
  }
}

namespace {

bool continues(char byte) { return (static_cast<uint8_t>(byte) & 0xc0) == 0x80; }

/// Bytes of a character that begins so; 1 = none does, or it is all of it.
size_t character_bytes(char lead) {
  const auto byte = static_cast<uint8_t>(lead);
  return byte < 0xc2 || byte > 0xf4 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

}  // namespace

/// The rest of `text`, behind what goes on with the character that was begun.
std::string_view Line::join(std::string_view text) {
  const size_t wanted = character_bytes(part_[0]);
  const size_t more = std::min(text.size(), wanted - part_size_);
  const size_t before = std::exchange(part_size_, 0);
  if (!std::ranges::all_of(text.substr(0, more), continues)) return text;
  std::memcpy(part_ + before, text.data(), more);
  if (before + more < wanted) {
    out_.append('.', more);
    part_size_ = before + more;
    part_end_ = out_.size();
    return {};
  }
  const std::string_view character(part_, wanted);
  if (printable_length(character) != wanted) return text;
  out_.cut(out_.size() - before);
  out_.append(character);
  return text.substr(more);
}

/// Of a character whose begin is the end of `text`.
void Line::keep_part(std::string_view text) {
  char end[3];
  const size_t size = std::min(text.size(), sizeof end);
  std::memcpy(end, text.data() + text.size() - size, size);
  for (size_t back = 1; back <= size; ++back) {
    const char byte = end[size - back];
    if (continues(byte)) continue;
    if (character_bytes(byte) <= back) return;
    std::memcpy(part_, end + size - back, back);
    part_size_ = back;
    part_end_ = out_.size();
    return;
  }
}

void Line::outside(std::string_view text) {
  if (part_size_ != 0 && !owed_ && part_end_ == out_.size())
    text = join(text);
  else
    part_size_ = 0;
  if (text.empty()) return;
  pay(text[0]);
  out_.commit(put_outside(out_.reserve(text.size()), text));
  keep_part(text);
}

void Line::fault(std::string_view what) {
  text("***");
  if (faults_++ == 0) {
    text(" ");
    text(what);
  }
  owe();
}

}  // namespace tracewell::report
