// Messages for people, and what may stand in them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace tracewell {

/// How many bytes at the head of `text` printable() (base/text/text.h) would leave as they are.
size_t printable_length(std::string_view text);

/// Appends `json`, a part of a document, with what printable() would not leave as it is escaped as
/// \uNNNN, so that it means the same and is safe to print. Outside ASCII, and for DEL, such things
/// stand in strings alone; what is below 0x20 stays, since lines end with it.
void append_plain_json(std::string& out, std::string_view json);

/// With `hint` behind the first `what` in the message, or else at its end: "cannot make /var/log
/// (-o names another one): Permission denied".
Error hinting(Error error, std::string_view what, std::string_view hint);

}  // namespace tracewell
