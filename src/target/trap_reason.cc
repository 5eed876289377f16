#include "target/trap_reason.h"

#include <iterator>

#include "base/check.h"

namespace tracewell::target {
namespace {

struct ReasonRow {
  TrapScope scope;
  std::string_view text;
};
constexpr ReasonRow kReasons[] = {
#define TRAP_REASON(name, scope, text) {TrapScope::scope, text},
#include "target/trap_reasons.def"
#undef TRAP_REASON
};

const ReasonRow& row_of(TrapReason reason) {
  TW_CHECK(static_cast<size_t>(reason) < std::size(kReasons));
  return kReasons[static_cast<size_t>(reason)];
}

}  // namespace

TrapScope scope_of(TrapReason reason) { return row_of(reason).scope; }

std::string_view text_of(TrapReason reason) { return row_of(reason).text; }

Error because(TrapReason reason, std::string_view more, Errc code) {
  return {code, std::string(text_of(reason)).append(more), {}};
}

TrapReason trap_reason(const Error& error) {
  for (size_t i = 0; i < std::size(kReasons); ++i)
    if (!kReasons[i].text.empty() && error.message.starts_with(kReasons[i].text))
      return static_cast<TrapReason>(i);
  return TrapReason::Other;
}

}  // namespace tracewell::target
