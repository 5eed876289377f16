// XML text in what others parse.
#pragma once

#include <string>
#include <string_view>

namespace tracewell {

/// `text` as the value of an attribute (in either kind of quotes) or as element content. What XML
/// cannot hold (control characters, bytes that are not UTF-8) becomes U+FFFD: one odd file name
/// must not make a whole document unreadable.
std::string escape_xml(std::string_view text);

}  // namespace tracewell
