#include "base/result.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

namespace tracewell {

void check_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "tracewell: internal error: %s does not hold (%s:%d)\n", condition, file,
               line);
  std::abort();
}

std::string_view errc_name(Errc code) {
  switch (code) {
    case Errc::Corrupt: return "corrupt";
    case Errc::Truncated: return "truncated";
    case Errc::Unsupported: return "unsupported";
    case Errc::InvalidArgument: return "invalid-argument";
    case Errc::NotFound: return "not-found";
    case Errc::Io: return "io";
    case Errc::Protocol: return "protocol";
    case Errc::Target: return "target";
    case Errc::Limit: return "limit";
    case Errc::Stopped: return "stopped";
  }
  return "unknown";
}

namespace {

constexpr std::string_view kBehindContext = ": ";

}  // namespace

std::string_view Error::stable_code() const { return failure.empty() ? errc_name(code) : failure; }

std::vector<std::string_view> Error::causes() const {
  std::vector<std::string_view> out;
  std::string_view rest = message;
  for (auto bytes = contexts.rbegin(); bytes != contexts.rend(); ++bytes) {
    if (rest.size() < *bytes + kBehindContext.size()) break;
    out.push_back(rest.substr(0, *bytes));
    rest.remove_prefix(*bytes + kBehindContext.size());
  }
  out.push_back(rest);
  return out;
}

Error Error::within(std::string_view context) && {
  message = fmt::format("{}{}{}", context, kBehindContext, message);
  contexts.push_back(static_cast<uint32_t>(context.size()));
  return std::move(*this);
}

std::string Error::text() const {
  return offset ? fmt::format("{} (at byte {:#x})", message, *offset) : message;
}

Error errno_error(int errno_value, std::string_view context, Errc code) {
  return Error{code, fmt::format("{}: {}", context, std::strerror(errno_value)), {}};
}

Error errno_error(std::string_view context, Errc code) {
  return errno_error(errno, context, code);
}

}  // namespace tracewell
