// Why a tracepoint is a trap: one table of reasons and their texts, by which an Error tells it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tracewell::target {

enum class TrapReason : uint8_t {
#define TRAP_REASON(name, scope, text) name,
#include "target/trap_reasons.def"
#undef TRAP_REASON
};

/// What a reason holds for, beside the tracepoint.
enum class TrapScope : uint8_t { Tracepoint, Place, Process };

TrapScope scope_of(TrapReason reason);
std::string_view text_of(TrapReason reason);

/// The table's text, and what else there is to say of it.
Error because(TrapReason reason, std::string_view more = {}, Errc code = Errc::Unsupported);
/// Other: it was not made so.
TrapReason trap_reason(const Error& error);

}  // namespace tracewell::target
