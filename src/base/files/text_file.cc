#include "base/files/text_file.h"

#include <fmt/format.h>

#include "base/text/text.h"

namespace tracewell {

Result<std::string> text_of(const InputFile& file, uint64_t bytes_max) {
  const Bytes bytes = file.bytes();
  if (bytes.size() > bytes_max)
    return Error{Errc::Limit,
                 fmt::format("{} has more than {} bytes, which is the most that is read of a text",
                             printable(file.path()), bytes_max),
                 {}};
  return std::string(as_text(bytes));
}

Result<std::string> read_text_file(const std::string& path) {
  TW_ASSIGN_OR_RETURN(const auto file, InputFile::open(path, {}, kTextFileMax));
  return text_of(*file);
}

}  // namespace tracewell
