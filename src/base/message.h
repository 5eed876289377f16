// Messages for people, and what may stand in them.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.h"

namespace tracewell {

/// How many bytes at the head of `text` printable() (base/text.h) would leave as they are.
size_t printable_length(std::string_view text);

/// With `hint` behind the first `what` in the message, or else at its end: "cannot make /var/log
/// (-o names another one): Permission denied".
Error hinting(Error error, std::string_view what, std::string_view hint);

}  // namespace tracewell
