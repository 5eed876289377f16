#include "report/templates/templates.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/check.h"

namespace tracewell::report {
namespace {
constexpr uint16_t kUndefined = 0x0070, kDefault = 0x0080;
/// What templates are compiled to takes many times their bytes. AIX's own file has less than half.
constexpr size_t kTemplateFileMax = size_t{4} << 20;
}  // namespace

std::string_view take_byte_order_mark(std::string_view& text) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  const std::string_view mark = text.substr(0, text.starts_with(kMark) ? kMark.size() : 0);
  text.remove_prefix(mark.size());
  return mark;
}

Templates::Templates() : by_hook_(65536, -1) {
  const auto wrong = add("reserved", reserved_templates());
  TW_CHECK(wrong.empty());
  for (TemplateInfo& info : infos_) info.reserved = true;
  add_raw(kUndefined, "UNDEFINED TRACE ID");
  add_raw(kDefault, "DEFAULT");
  link();
}

void Templates::add_raw(uint16_t hook, std::string_view label) {
  TemplateInfo info;
  info.hook = hook;
  info.label = label;
  info.reserved = true;
  info.begin = static_cast<uint32_t>(program_.code.size());
  program_.code.emplace_back().op = Op::Raw;
  program_.code.emplace_back().op = Op::Return;
  by_hook_[hook] = static_cast<int32_t>(infos_.size());
  infos_.push_back(std::move(info));
}

std::vector<Diagnostic> Templates::add(std::string_view file, std::string_view text) {
  take_byte_order_mark(text);
  Diagnostics diagnostics(file, text);
  if (text.size() > kTemplateFileMax) {
    diagnostics.error({1, 1}, "size",
                      fmt::format("the file has {} bytes, and {} is the most that a file of "
                                  "templates may have: write several",
                                  text.size(), kTemplateFileMax));
    return diagnostics.take();
  }
  parse_templates(text, diagnostics, [&](const TemplateText& source) {
    Compiler compiler(program_, diagnostics);
    if (auto info = compiler.compile(source)) put(*std::move(info), diagnostics);
  });
  return diagnostics.take();
}

void Templates::put(TemplateInfo info, Diagnostics& diagnostics) {
  int32_t& at = by_hook_[info.hook];
  if (at >= 0) {
    TemplateInfo& old = infos_[static_cast<size_t>(at)];
    if (!old.reserved)
      diagnostics.warning(info.place, "duplicate-hook",
                          fmt::format("this replaces the template of the same hook in {}, line {}",
                                      old.file, old.place.line));
    old = std::move(info);
    return;
  }
  at = static_cast<int32_t>(infos_.size());
  infos_.push_back(std::move(info));
}

std::vector<Diagnostic> Templates::link() {
  std::vector<Diagnostic> missing;
  for (Program::CallTarget& call : program_.calls) {
    const TemplateInfo* callee = find(call.hook);
    call.begin = callee ? static_cast<int32_t>(callee->begin) : -1;
    call.slots = callee ? callee->slots : 0;
    if (!callee && missing.size() < Diagnostics::kKeptMax) missing.push_back(call.missing);
  }
  return missing;
}

std::vector<const TemplateInfo*> Templates::list() const {
  std::vector<const TemplateInfo*> all;
  for (const TemplateInfo& info : infos_) all.push_back(&info);
  std::sort(all.begin(), all.end(), [](auto* a, auto* b) { return a->hook < b->hook; });
  return all;
}

}  // namespace tracewell::report
