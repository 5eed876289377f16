// What dprintf in agent style prints. The first line of the input is the format; what follows are
// the values, eight bytes each, and then what the program's strings are made of. No format may read
// values that are not there, ask for more of a string than may be printed, or make a longer text.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "agent/session/format_text.h"

using namespace tracewell;

namespace {

constexpr size_t kValuesMax = 32;

void require(bool good) {
  if (!good) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::string_view format = input.substr(0, input.find('\n'));
  std::string_view rest = input.substr(std::min(format.size() + 1, input.size()));
  std::vector<uint64_t> values;
  while (rest.size() >= 8 && values.size() < kValuesMax) {
    values.push_back(0);
    std::memcpy(&values.back(), rest.data(), 8);
    rest.remove_prefix(8);
  }
  values.shrink_to_fit();  // so that the sanitizer sees a read of one value too many

  const auto text = agent::format_text(format, values, [&](uint64_t address, size_t max) {
    require(address != 0 && max <= agent::kFormattedBytesMax);
    std::string string(rest.substr(address % (rest.size() + 1)));
    string.resize(std::min(string.find('\0'), string.size()));
    return string.substr(0, max);
  });
  if (!text.ok()) {
    require(!text.error().message.empty());
    return 0;
  }
  require(text->size() <= agent::kFormattedBytesMax);
  if (format.find_first_of("%\\") == format.npos) require(*text == format);
  return 0;
}
