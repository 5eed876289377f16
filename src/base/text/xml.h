// XML text in what others parse.
#pragma once

#include <string>
#include <string_view>

namespace tracewell {

/// `text` as the value of an attribute (in either kind of quotes) or as element content. It is
/// shown as printable() (base/text/text.h) shows it: one odd file name must not make a whole
/// document unreadable, nor reach the terminal of whoever reads it.
std::string escape_xml(std::string_view text);

/// A document that somebody else wrote, without what acts on a terminal, be it there as a character
/// or by its number. All that is not ASCII becomes `_`: what it means depends on the encoding.
std::string plain_xml(std::string_view document);

}  // namespace tracewell
