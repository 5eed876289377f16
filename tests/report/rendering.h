// A template, an entry, and the text that comes of them; for the tests of this folder.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/hex.h"
#include "report/render/render.h"

namespace tracewell::report {

/// An entry that owns its bytes. The hook word gives what the members do not say; it is big endian
/// whatever the data are.
struct OwnedEntry {
  std::vector<uint8_t> bytes;
  Entry entry;

  explicit OwnedEntry(std::string_view hex, uint8_t environment_bits = 64, bool generic = false)
      : bytes(from_hex(hex).value_or(std::vector<uint8_t>())) {
    entry.buffer = bytes;
    entry.endian = Endian::Big;
    entry.environment_bits = environment_bits;
    entry.generic = generic;
    if (environment_bits == 32) {
      entry.hook = static_cast<uint16_t>(entry.number_at(0, 2) & 0xfff0);
      entry.type = static_cast<uint16_t>(entry.number_at(0, 2) & 0xf);
      entry.subhook = static_cast<uint16_t>(entry.number_at(2, 2));
      entry.stored_hookword = entry.number_at(0, 4);
    } else {
      entry.type = static_cast<uint16_t>(entry.number_at(0, 2));
      entry.hook = static_cast<uint16_t>(entry.number_at(4, 2));
      entry.subhook = static_cast<uint16_t>(entry.number_at(6, 2));
      entry.stored_hookword = entry.number_at(0, 8);
    }
    const size_t head = entry.word_bytes() * (generic ? 2 : 1);
    entry.data_bytes = static_cast<uint32_t>(bytes.size() < head ? 0 : bytes.size() - head);
  }
};

/// Compiles `text` and keeps what was said about it.
struct Compiled {
  Templates templates;
  std::vector<Diagnostic> said;

  explicit Compiled(std::string_view text) : said(templates.add("t", text)) {
    for (Diagnostic& one : templates.link()) said.push_back(std::move(one));
  }
  uint64_t errors() const {
    uint64_t count = 0;
    for (const Diagnostic& one : said) count += one.severity == Diagnostic::Severity::Error;
    return count;
  }
  std::string all() const {
    std::string text;
    for (const Diagnostic& one : said) text += one.show();
    return text;
  }
  /// The first template that is not ours.
  const TemplateInfo* first() const {
    for (const TemplateInfo* info : templates.list())
      if (!info->reserved) return info;
    return nullptr;
  }
};

}  // namespace tracewell::report
